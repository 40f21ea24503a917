#pragma once

#include "engine/config/experiment.hpp"

namespace clade {

/// A search that is ended by its wall time, and turned into a model ([final]), has its
/// first usable network early and tries more of them if it compares candidates after a
/// part of their training. One whose strategy Clade chose ("auto"), whose trainings are
/// long enough and that has no rungs is given some, and a strategy for them. Others stay
/// as they are.
void take_rungs_for_time(experiment& e);

} // namespace clade
