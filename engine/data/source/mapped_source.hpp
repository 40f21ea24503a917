#pragma once

#include "engine/data/source/table_source.hpp"

#include <atomic>

namespace clade {

/// Examples whose inputs are mapped from files, of which no more than `window_bytes`
/// stay mapped in at a time. The system may keep pages that are given back in its own
/// cache, for all processes that map the file.
class mapped_source final : public example_source {
public:
  /// `tables` are as those of a `table_source`, and may begin anywhere in a mapping. An
  /// input of no more than `most_bytes` stays mapped in as a whole.
  mapped_source(source_description d, source_tables tables,
                std::size_t most_bytes = most_whole_bytes)
      : tables_(std::move(d), tables),
        mapped_(std::move(tables.inputs)),
        most_bytes_(most_bytes) {}

  [[nodiscard]] const source_description& description() const override {
    return tables_.description();
  }
  [[nodiscard]] expected<void> read(std::size_t input,
                                    std::span<const std::uint32_t> examples,
                                    std::span<std::byte> into) const override;
  [[nodiscard]] expected<void> read_targets(std::span<const std::uint32_t> examples,
                                            std::span<std::byte> into) const override {
    return tables_.read_targets(examples, into);
  }
  [[nodiscard]] std::span<const std::byte> in_place(std::size_t input) const override;

private:
  [[nodiscard]] bool whole(std::size_t input) const {
    return mapped_[input].bytes().size() <= most_bytes_;
  }
  void give_back() const;

  table_source tables_;
  std::vector<stored_numbers> mapped_;
  std::size_t most_bytes_;
  /// The bytes that reading has mapped in at most since pages were given back.
  mutable std::atomic<std::size_t> mapped_in_{0};
};

} // namespace clade
