#include "genome/innovation.hpp"
