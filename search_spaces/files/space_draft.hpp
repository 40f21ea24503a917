#pragma once

#include "search_spaces/composites/read_composites.hpp"
#include "search_spaces/operators/search_space.hpp"
#include "search_spaces/toml/parameter_reader.hpp"

#include <functional>
#include <map>
#include <optional>
#include <span>

namespace clade {

/// The content of the files of a search space so far; an entry of one replaces those of
/// earlier ones, operator by operator and key by key.
struct space_draft {
  layout input = layout::vector;
  std::optional<parameter> merge;
  std::map<std::string, located<std::int64_t>, std::less<>> limits;
  /// The keys of [recurrence]; none: the file has no such table.
  std::optional<located<std::map<std::string, std::int64_t, std::less<>>>> recurrence;
  std::map<std::string, located<operator_rule>, std::less<>> operators;
  std::map<std::string, located<parameter>, std::less<>> hyperparameters;
  std::map<std::string, located<seed_network>, std::less<>> seeds;
  own_composites composites;

  /// An operator for layers, of the table or of the files; null: there is none.
  [[nodiscard]] const operator_entry* find(std::string_view name) const;
};

/// A key of [limits], or of [recurrence].
struct limit_entry {
  std::string_view name;
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t fallback = 0;
  std::string_view sentence; ///< The sentence about it in the reference.
};

[[nodiscard]] std::span<const limit_entry> limit_entries();
[[nodiscard]] std::span<const limit_entry> recurrence_entries();

/// Reads all tables of one document but its includes.
void read_document(const toml::table& document, space_draft& into, complaints& wrong);

/// Reads `[hyperparameters]`, or a table of its kind.
void read_hyperparameters(const toml::table& table, space_draft& into, complaints& wrong);

/// The finished space, or what contradicts what. `origin` becomes its name.
[[nodiscard]] expected<search_space> assemble(const space_draft& draft,
                                              const std::string& origin);

} // namespace clade
