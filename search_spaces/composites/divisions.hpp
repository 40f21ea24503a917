#pragma once

#include "genome/genes/grammar.hpp"
#include "search_spaces/operators/own_operator.hpp"

namespace clade {

// Settings that must divide others (setting_entry::divides) do so whatever a genome of the
// space has, so that none fails for it.

/// Says which values of an operator's settings may meet and do not divide.
[[nodiscard]] expected<void> check_divisions(const operator_entry& entry,
                                             const operator_rule& rule);

/// Says it of the layers of a composite or production, by what the space says of its
/// settings; the message begins with the layer's operator. A formula of the channels that
/// enter is known when a genome is decoded.
[[nodiscard]] expected<void> check_divisions(const own_operator& own,
                                             const operator_rule& rule);

} // namespace clade
