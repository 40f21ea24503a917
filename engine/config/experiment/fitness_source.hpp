#pragma once

#include "engine/config/experiment/experiment.hpp"
#include "engine/data/reading/data_set.hpp"
#include "engine/evaluation/table/table.hpp"

#include <memory>
#include <optional>

namespace clade {

/// The source by which candidates are evaluated, if it lies in files.
struct fitness_source {
  /// The data of an experiment that trains.
  std::optional<data_set> data{};
  std::shared_ptr<const benchmark_table> table{}; ///< The table of an experiment on one.
  /// The checksum of the one or the other.
  genome_hash checksum{};

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
