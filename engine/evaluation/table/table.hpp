#pragma once

#include "engine/evaluation/table/table_description.hpp"
#include "engine/evaluation/table/table_index.hpp"

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace clade {

/// One file's content, unzipped.
struct table_source {
  std::string name; ///< For messages.
  std::string bytes;
};

/// A benchmark table in memory: what became of each setting at each fidelity with each
/// seed. Reading it back costs well under a microsecond and takes no lock, so that
/// threads share one. Fidelities, metrics and rows are named by their number.
class benchmark_table {
public:
  /// Reads the rows by the description. "x.csv:17: ..." for what is wrong with a row,
  /// "x.toml:9: ..." for what the files do not have: a column, rows, a value of a choice.
  [[nodiscard]] static expected<benchmark_table>
  read(table_description description, std::span<const table_source> files);

  [[nodiscard]] const table_description& description() const { return description_; }
  /// Returns the checksum of the description and of what it read.
  [[nodiscard]] genome_hash checksum() const { return checksum_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t fidelities() const { return description_.fidelities.size(); }

  /// The row of these settings.
  [[nodiscard]] std::optional<std::uint32_t> find(const genome& g) const {
    return index_.find(g.hyperparameters);
  }

  [[nodiscard]] std::optional<std::size_t> metric(std::string_view name) const;

  /// The greatest fidelity of at most so many epochs.
  [[nodiscard]] std::optional<std::size_t> fidelity(std::uint32_t epochs) const;

  struct cell {
    std::uint32_t row = 0;
    std::size_t metric = 0;
    std::size_t fidelity = 0;
  };

  /// Returns the value that the seed on which `draw` falls gave, among those that were
  /// run: infinite if it diverged; nothing if none was run.
  [[nodiscard]] std::optional<double> value(const cell& c, std::uint64_t draw) const;

  /// Over the seeds that were run; infinite where one diverged.
  [[nodiscard]] std::optional<double> mean(const cell& c) const;

  /// The mean of `description().truth` at the greatest fidelity.
  [[nodiscard]] std::optional<double> truth(std::uint32_t row) const;

private:
  friend class table_reading;

  /// A cell that is blank; what diverged is infinite.
  static constexpr double blank = std::numeric_limits<double>::quiet_NaN();

  [[nodiscard]] double share(const cell& c) const;

  table_description description_;
  genome_hash checksum_;
  table_index index_;
  std::size_t rows_ = 0, width_ = 0;
  std::vector<double> values_; ///< Rows of `width_` columns.
  /// The columns of each metric and fidelity.
  std::vector<std::vector<std::vector<std::uint32_t>>> columns_;
  std::size_t truth_ = 0;
};

/// Reads the description's files.
[[nodiscard]] expected<std::shared_ptr<const benchmark_table>>
load_table(table_description description);

} // namespace clade
