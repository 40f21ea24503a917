#include "search_spaces/variation.hpp"
