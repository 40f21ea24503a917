#include "search_spaces/operators.hpp"
