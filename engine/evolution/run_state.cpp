#include "engine/evolution/run_state.hpp"
