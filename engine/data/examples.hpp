#pragma once

#include "engine/data/data_set.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace clade {

/// What one file, or a pair of files, says, before it is split and scaled.
struct examples {
  std::string origin; ///< The file that holds the targets, for messages.
  bool by_line = false;
  std::vector<std::uint64_t> places; ///< Line of each example, or byte of its target.

  tensor_shape shape; ///< Of one example, as the file has it.
  std::size_t count = 0;
  std::vector<float> features; ///< [count, shape...]

  /// Classification: by example an index into `classes`, which are in order of
  /// appearance.
  std::vector<std::uint32_t> labels;
  std::vector<std::string> classes;
  /// The file itself gives names to labels 0, 1, ... (scikit-learn's first line).
  std::vector<std::string> class_names;
  std::vector<double> targets; ///< Regression.

  genome_hash checksum; ///< Of the files' bytes.

  /// "digits.csv:12" or "labels.idx: byte 20".
  [[nodiscard]] std::string place(std::size_t example) const;
};

/// Reads `file`, of any of the formats, and `target_file` where targets are not a column.
[[nodiscard]] expected<examples> read_examples(const std::filesystem::path& file,
                                               const std::filesystem::path& target_file,
                                               const data_params& params);

} // namespace clade
