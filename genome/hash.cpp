#include "genome/hash.hpp"
