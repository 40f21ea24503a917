#include "engine/evolution/known_networks.hpp"
