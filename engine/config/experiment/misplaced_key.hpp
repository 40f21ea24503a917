#pragma once

#include "engine/config/file/table_reader.hpp"

namespace clade {

/// Notes an error at a key that stands in no section, where a key of some section is named
/// like it or nearly so: "population", or "populaton", of evolution.population.
void refuse_misplaced_keys(table_reader& root);

} // namespace clade
