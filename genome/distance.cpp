#include "genome/distance.hpp"
