#pragma once

#include <string>
#include <vector>

namespace clade {

/// A name that several columns had, and what the second of them is called now.
struct repeated_name {
  std::string name, second;
};

/// Gives columns of equal names names of their own, those that pandas gives them: "a",
/// "a.1", "a.2". Blank names stay. Returns the names that several columns had.
std::vector<repeated_name> number_equal_names(std::vector<std::string>& names);

} // namespace clade
