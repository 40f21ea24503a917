#include "engine/data/data_set.hpp"
