#include "engine/evolution/strategy.hpp"
