#pragma once

#include "engine/data/columns/csv_form.hpp"
#include "engine/data/columns/learning_task.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The targets beside the texts of the training data.
struct text_targets {
  std::optional<std::size_t> column; ///< None: they are elsewhere.
  learning_task task;
  const std::vector<std::string>& classes;
  char decimal = '.';
};

/// Returns the form of a file whose rows are texts, with their targets or without: by the
/// first blank of each line, where half of the rows so begin with a target; a CSV, where
/// its rows are one text each, or half of them have a target; else each line is a text.
[[nodiscard]] csv_form text_form(std::string_view text, const text_targets& how);

} // namespace clade
