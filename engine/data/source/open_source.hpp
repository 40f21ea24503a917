#pragma once

#include "engine/data/reading/data_set.hpp"
#include "engine/data/source/example_source.hpp"

namespace clade {

/// Returns the examples of a data set; features that were mapped from the cache stay so.
[[nodiscard]] std::shared_ptr<const example_source> source_of(data_set data);

/// Opens the examples that the parameters describe, as `load_data` reads them.
[[nodiscard]] expected<std::shared_ptr<const example_source>>
open_source(const data_params& params, std::uint64_t seed,
            const data_cache& cache = users_cache());

} // namespace clade
