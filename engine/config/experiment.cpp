#include "engine/config/experiment.hpp"
