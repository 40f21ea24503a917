#pragma once

#include "engine/data/columns/column_names.hpp"
#include "engine/data/profile/data_profile.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace clade {

/// The sentences in which a profile is said to people: by `clade new`, and in the
/// comments of the experiments that it writes. Texts of the data are on one line and cut
/// off.

/// A number of the data in at most six digits: "1.4847e+06".
[[nodiscard]] std::string short_number(double v);

/// "18 to 69"; with all digits where fewer would say the same of both.
[[nodiscard]] std::string range_text(double least, double most);

/// Why a column is left out: "it numbers the rows".
[[nodiscard]] std::string reason_text(const column_profile& column, ignore_reason why);

/// The values of a column in short: "18 to 69", "basic 310, gold 150, ... (7 values)".
[[nodiscard]] std::string values_text(const column_profile& column);

/// "no 430 (71.7 %), yes 170 (28.3 %)", at most `most` classes.
[[nodiscard]] std::string classes_text(const data_profile& data, std::size_t most);

/// How the target was found: "guessed from its name"; empty where somebody said it.
[[nodiscard]] std::string target_text(target_reason reason);

/// "each part has its share of each class".
[[nodiscard]] std::string split_text(const data_profile& data);

/// Returns a text on what is suspicious, and on the remedy.
[[nodiscard]] std::string suspicion_text(const suspicion& s, const data_profile& data);

/// Returns a text for a name that several columns have.
[[nodiscard]] std::string repeated_name_text(const repeated_name& repeated);

/// All that is suspicious, a line each; of each kind at most 5 lines, and one with the
/// number of the others.
[[nodiscard]] std::vector<std::string> suspicion_lines(const data_profile& data);

/// Other ways to take a target of whole numbers than the one that was guessed: "(whole
/// numbers; --task regression predicts them as such)"; else empty.
[[nodiscard]] std::string other_task_text(const data_profile& data);

} // namespace clade
