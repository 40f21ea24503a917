#include "genome/random.hpp"
