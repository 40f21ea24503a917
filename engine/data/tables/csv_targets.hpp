#pragma once

#include "engine/data/numbers/number_form.hpp"
#include "genome/base/error.hpp"
#include "genome/genes/genome.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace clade {

/// The targets that a file of one column holds.
struct csv_targets {
  std::vector<std::string> texts; ///< By row.
  number_form number;             ///< How they are written, where they are numbers.
  genome_hash checksum;           ///< The checksum of the file's bytes.
};

/// Reads a CSV of one column, with or without a name for it. Errors begin with the file.
[[nodiscard]] expected<csv_targets> read_csv_targets(const std::filesystem::path& file);

} // namespace clade
