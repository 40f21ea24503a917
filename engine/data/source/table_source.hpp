#pragma once

#include "engine/data/source/example_source.hpp"

namespace clade {

/// The numbers of each input, in the order of the description, and of the targets.
struct source_tables {
  std::vector<stored_numbers> inputs;
  stored_numbers targets;
};

/// Examples whose numbers lie in memory.
class table_source final : public example_source {
public:
  /// `tables` must have the types and as many numbers as the description says.
  table_source(source_description d, source_tables tables)
      : description_(std::move(d)),
        tables_(std::move(tables)) {}

  [[nodiscard]] const source_description& description() const override {
    return description_;
  }
  [[nodiscard]] expected<void> read(std::size_t input,
                                    std::span<const std::uint32_t> examples,
                                    std::span<std::byte> into) const override;
  [[nodiscard]] expected<void> read_targets(std::span<const std::uint32_t> examples,
                                            std::span<std::byte> into) const override;
  [[nodiscard]] std::span<const std::byte> in_place(std::size_t input) const override {
    return tables_.inputs[input].bytes();
  }

private:
  source_description description_;
  source_tables tables_;
};

} // namespace clade
