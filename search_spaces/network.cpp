#include "search_spaces/network.hpp"
