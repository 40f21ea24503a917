#pragma once

#include "engine/config/experiment/experiment.hpp"
#include "engine/data/reading/data_set.hpp"
#include "engine/evaluation/table/table.hpp"

#include <memory>
#include <optional>

namespace clade {

/// What candidates are evaluated by, where that lies in files.
struct fitness_source {
  std::optional<data_set> data{};                 ///< Of an experiment that trains.
  std::shared_ptr<const benchmark_table> table{}; ///< Of one on a table.
  genome_hash checksum{};                         ///< Of the one or the other.

  [[nodiscard]] const data_set* examples() const { return data ? &*data : nullptr; }
};

/// Reads it; may take the time that reading the data takes.
[[nodiscard]] expected<fitness_source> load_fitness_source(const experiment& e);

/// The file that it is read from, for messages; empty if there is none.
[[nodiscard]] std::filesystem::path fitness_file(const experiment& e);

/// Makes the evaluator of an experiment that does not train.
[[nodiscard]] expected<std::unique_ptr<fitness_function>>
make_fitness(const experiment& e, program_host host = {});

} // namespace clade
