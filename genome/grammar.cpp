#include "genome/grammar.hpp"
