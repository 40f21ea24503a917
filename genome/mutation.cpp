#include "genome/mutation.hpp"
