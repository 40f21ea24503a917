#include "engine/evolution/candidate.hpp"
