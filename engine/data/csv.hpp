#pragma once

#include "engine/data/examples.hpp"

#include <string_view>

namespace clade {

/// Reads comma-separated text (RFC 4180: quotes, doubled quotes, either line ending) into
/// features and targets. `origin` names the file in messages. All but the target column
/// and the categories are finite numbers; a blank, where they are to be filled, is NaN.
[[nodiscard]] expected<examples> parse_csv(std::string_view text, std::string_view origin,
                                           const data_params& params);

} // namespace clade
