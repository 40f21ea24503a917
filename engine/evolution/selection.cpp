#include "engine/evolution/selection.hpp"
