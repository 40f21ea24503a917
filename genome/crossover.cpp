#include "genome/crossover.hpp"
