#pragma once

#include "engine/search/core/candidate.hpp"
#include "search_spaces/operators/search_space.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace clade {

/// How a genome's settings find a row of a table.
enum class table_lookup : std::uint8_t {
  exact,   ///< The row that has these settings; none where there is no such row.
  nearest, ///< The row that is least far away, every parameter scaled to [0, 1].
};

/// A metric's columns: for each fidelity one for each seed, or a single one where seeds
/// do not matter.
struct table_metric {
  std::string name; ///< "validation.accuracy"
  std::vector<std::vector<std::string>> columns;
  std::string place; ///< "x.toml:9", for messages.
  /// The column is of the greatest fidelity; lower ones have their share of it.
  bool in_proportion = false;
};

/// The description of how a table of evaluations is read
/// (engine/config/experiment/table_file.hpp).
struct table_description {
  std::string name; ///< The file's path as given.
  /// Absolute. Row i of each is about the same setting.
  std::vector<std::filesystem::path> files;
  std::string files_place;
  /// Advice for the case that a file is not there.
  std::string advice;
  /// Without layers; its hyperparameters are the table's parameters.
  search_space space;
  table_lookup lookup = table_lookup::exact;
  /// For each parameter, in the space's order: the column, and the place where it stands.
  std::vector<std::string> columns;
  std::vector<std::string> places;
  /// A column of digits (0 to 9, then a to z), each an index into the list of the
  /// parameter whose number stands in `digits`; empty: every parameter has its column.
  std::string digits_column;
  std::string digits_place;
  std::vector<std::size_t> digits;
  std::vector<std::uint32_t> fidelities; ///< Epochs, rising.
  /// Each is a training of its own, not the one below trained on: it costs all its
  /// epochs.
  bool separate = false;
  std::vector<table_metric> metrics; ///< Sorted by name.
  clade::objective objective;
  std::string truth;    ///< The metric by which a search is judged in the end.
  genome_hash checksum; ///< The checksum of the description's own bytes, includes too.
};

} // namespace clade
