#pragma once

#include "engine/config/experiment/table_file.hpp"
#include "engine/search/core/candidate.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// A row of the comparison.
struct named_strategy {
  std::string name;
  std::vector<std::string> settings; ///< The settings of [evolution].
  /// Is there for tables of several fidelities alone.
  bool climbs = false;
};

inline constexpr const char* automatic_row = "auto";
/// The row that the others are compared with by --quick.
inline constexpr const char* yardstick_row = "regularized 20/5";

/// "NAME: strategy=generational population=30" as a row, whose settings follow the
/// `usual` ones; nothing where there is no colon.
[[nodiscard]] std::optional<named_strategy> own_row(const std::string& text,
                                                    std::vector<std::string> usual);

/// One of these rows by its name, or a row of somebody's own.
[[nodiscard]] expected<named_strategy> choose_row(const std::string& text,
                                                  std::vector<named_strategy> known,
                                                  std::vector<std::string> usual);

/// A row of `clade bench search`.
[[nodiscard]] expected<named_strategy> parse_strategy(const std::string& text);

/// The reference rows, then every other strategy by its defaults: those that can search
/// all these tables, by these objectives beside their own.
[[nodiscard]] expected<std::vector<named_strategy>>
strategies_for(const std::vector<std::filesystem::path>& descriptions,
               const std::vector<aim>& others);

/// Returns the settings of a row, for a table: "auto" takes a strategy with rungs if it
/// is given some.
[[nodiscard]] std::vector<std::string>
settings_of(const named_strategy& s, const std::vector<std::uint32_t>& fidelities);

} // namespace clade
