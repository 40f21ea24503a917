#include "genome/genome.hpp"
