#include "search_spaces/shape.hpp"
