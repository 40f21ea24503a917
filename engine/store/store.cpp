#include "engine/store/store.hpp"
