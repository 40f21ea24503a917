#include "genome/codec.hpp"
