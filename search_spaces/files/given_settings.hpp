#pragma once

#include "search_spaces/files/parameter_reader.hpp"

#include <string>
#include <vector>

namespace clade {

// Settings that somebody gives to layers and hyperparameters of a space: seeds, and points
// that are known.

/// Reads every key of the table but "op" into settings; each must be a number or a word.
/// `path` names the table in messages.
void read_settings(const toml::table& table, const std::string& path,
                   std::vector<setting>& into, complaints& wrong);

/// Says what is not in the space; empty: all is. A whole number is taken for a real where
/// the space has reals.
[[nodiscard]] std::string misfit(std::vector<setting>& given,
                                 const std::vector<parameter>& known);

/// The same of a layer, with its operator.
[[nodiscard]] std::string misfit(node_gene& layer, const grammar& rules);

} // namespace clade
