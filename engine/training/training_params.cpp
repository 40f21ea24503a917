#include "engine/training/training_params.hpp"
