#include "engine/fitness/synthetic.hpp"
