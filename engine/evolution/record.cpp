#include "engine/evolution/record.hpp"
