#include "tools/command.hpp"
