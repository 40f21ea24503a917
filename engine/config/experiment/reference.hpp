#pragma once

#include <string>
#include <vector>

namespace clade {

/// A key of an experiment file as the reference shows it.
struct reference_key {
  std::string name;
  std::string type;  ///< "whole number"
  std::string usual; ///< The default as TOML; empty if the key has none.
  std::string sentence;
};

struct reference_section {
  std::string name; ///< "evolution.mutation"
  std::string sentence;
  std::vector<reference_key> keys;
};

/// Every section that an experiment file may have, with every key that is read in it
/// (keys.hpp), in the order in which a resolved experiment has them.
[[nodiscard]] std::vector<reference_section> experiment_reference();

/// The same as Markdown that is readable in a terminal too, with an introduction:
/// experiments/README.md, and what `clade help experiment` prints.
[[nodiscard]] std::string experiment_reference_text();

/// An item of a Markdown list, "- `name` (remark): Sentence", in lines of at most 100
/// characters of which all but the first are indented by two. Without a sentence or
/// remark, what would go around it is left out.
[[nodiscard]] std::string reference_item(const std::string& name,
                                         const std::string& remark,
                                         const std::string& sentence = "");

} // namespace clade
