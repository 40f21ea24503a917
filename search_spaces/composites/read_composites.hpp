#pragma once

#include "search_spaces/operators/own_operator.hpp"
#include "search_spaces/toml/parameter_reader.hpp"

#include <map>
#include <memory>
#include <string>

namespace clade {

/// The composites of the files of a search space, by name.
using own_composites =
    std::map<std::string, located<std::shared_ptr<const own_operator>>, std::less<>>;

/// Reads `[composites]`: operators that the file makes of known ones, or by its `[rules]`.
/// Either table may be null. The forms stand at the top of read_composite.cpp and
/// read_rules.cpp.
void read_composites(const toml::table* composites, const toml::table* rules,
                     own_composites& into, complaints& wrong);

} // namespace clade
