#pragma once

#include "search_spaces/operators/own_operator.hpp"
#include "search_spaces/toml/parameter_reader.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The faults of one table of `[composites]`, which count as the file's. A composite with
/// one is left out.
class composite_complaints {
public:
  explicit composite_complaints(complaints& wrong) : wrong_(wrong) {}

  void note(const toml::node& at, const std::string& message) {
    wrong_.note(at.source(), message);
    none_ = false;
  }
  /// Leaves the composite out for a fault that is noted elsewhere.
  void leave_out() { none_ = false; }
  [[nodiscard]] bool none() const { return none_; }
  /// A fault that is noted there alone leaves the composite in.
  [[nodiscard]] complaints& of_the_file() { return wrong_; }

  /// Returns the text at a key, which has one line; empty where none is given, or it is
  /// noted. `path` names the table.
  std::string text_at(const toml::table& table, std::string_view key,
                      const std::string& path);
  /// Returns the truth value at a key; false where none is given, or it is noted.
  bool flag_at(const toml::table& table, std::string_view key, const std::string& path);

private:
  complaints& wrong_;
  bool none_ = true;
};

/// Returns whether a text may name a composite, its parameters and its layers: up to 32
/// small letters, digits and "_".
[[nodiscard]] bool is_composite_word(std::string_view text);

/// The rules of a file, `[rules.NAME]`, which are read before what stands in the places that
/// they make.
struct rule_table {
  std::vector<std::string> names;          ///< By number.
  std::shared_ptr<const layer_rules> read; ///< Null: they are being read, or have failed.
  bool failed = false;                     ///< The fault is noted.
};

/// Reads `[composites.NAME.parameters]`, which `path` names; what is wrong there is noted.
[[nodiscard]] std::vector<own_parameter> read_own_parameters(const toml::node& node,
                                                             const std::string& path,
                                                             const rule_table& rules,
                                                             composite_complaints& wrong);

/// Gives another composite of the file by its name; null: there is none. An error says why it
/// cannot be within the one that is read, and nothing where its own faults are noted.
using composite_source =
    std::function<expected<std::shared_ptr<const own_operator>>(const std::string& name)>;

/// The parts of composites and productions that are no operators.
struct composite_parts {
  composite_source others;
  const rule_table& rules;
};

/// Reads `[composites.NAME]`; none where something is wrong, which is noted.
[[nodiscard]] std::optional<own_description> read_composite(std::string name,
                                                            const toml::table& table,
                                                            complaints& wrong,
                                                            const composite_parts& parts);

/// Reads the layers of a production, NAME = {layers = [...]} of `[rules.RULE]`, some of which
/// rules may make.
[[nodiscard]] std::optional<own_description>
read_production(std::string name, const std::string& rule, const toml::table& table,
                complaints& wrong, const composite_parts& parts);

/// Reads the rules of a file, whose names `into` has; none where something is wrong.
[[nodiscard]] std::shared_ptr<const layer_rules>
read_rules(const toml::table& table, complaints& wrong, const composite_parts& parts);

} // namespace clade
