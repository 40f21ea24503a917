#include "search_spaces/search_space.hpp"
