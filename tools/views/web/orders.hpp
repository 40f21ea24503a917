#pragma once

#include "engine/run/records/record.hpp"
#include "engine/store/sqlite/run_folder.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace clade {

/// An order that a person may give a run, as commands and the page call it.
struct order_entry {
  const char* name;
  instruction_kind kind;
  const char* help;
};

[[nodiscard]] std::span<const order_entry> known_orders();

/// Reads {"order": NAME, "number": N, "text": TEXT}, where an order may leave out what it
/// does not need. Also "note", "tag" and "untag", of the run where there is no number;
/// whether their text can be recorded, the feed says that is told. Not "add", whose
/// genome comes from a store. `invalid_input` says what is wrong.
[[nodiscard]] expected<instruction> parse_order(std::string_view json);

/// The order to evaluate candidate `id` of the run that `run` names, as `find_store`
/// takes it.
[[nodiscard]] expected<instruction>
order_to_add(const std::string& run, candidate_id id,
             const std::filesystem::path& folder = runs_folder());

/// The name of this process's user, for the record.
[[nodiscard]] std::string user_name();

} // namespace clade
