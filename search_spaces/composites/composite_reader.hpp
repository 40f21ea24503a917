#pragma once

#include "search_spaces/composites/composite_table.hpp"

#include <array>
#include <memory>
#include <string_view>
#include <vector>

namespace clade {

inline constexpr std::array<std::string_view, 4> composite_layer_keys{"op", "name",
                                                                      "from", "zero"};

/// Reads one table of `[composites]`, or a production. The first complaint about it leaves
/// it out.
class composite_reader {
public:
  composite_reader(std::string name, const std::string& within, const toml::table& table,
                   complaints& wrong, const composite_parts& parts)
      : table_(table),
        wrong_(wrong),
        parts_(parts),
        path_(fmt::format("{}.{}", within, name)),
        made_{.name = std::move(name)} {}

  std::optional<own_description> read_composite();
  std::optional<own_description> read_production();

private:
  void read_layers();
  void read_rule_layer(const toml::node& node, const toml::table& table,
                       const std::string& op, const std::string& rule);
  std::string rule_at(const std::string& op) const;
  void read_parameters();
  void inherit(own_layer& l) const;
  void read_repeat(const toml::node& node);
  void read_share();
  void read_layer(const toml::node& node);
  void read_from(own_layer& l, const toml::node& node, const std::string& path);
  void read_settings(own_layer& l, const toml::table& table, const std::string& path);
  std::optional<own_layer::setting_source> read_setting(const setting_entry& entry,
                                                        const toml::node& node,
                                                        const std::string& path);
  void read_takes();
  void read_heritage(const toml::node& name);
  void check_formula(const own_formula& f, const setting_entry& entry,
                     const toml::node& at, const std::string& path);
  const own_parameter* parameter(std::string_view name) const;
  const own_parameter* words_at(const std::string& text) const;
  std::vector<std::string> operators_at(const std::string& op) const;
  const operator_entry* row_of(const std::string& op);
  void read_name(own_layer& l, const toml::table& table, const std::string& path);
  std::string free_name(const std::string& op) const;

  const toml::table& table_;
  composite_complaints wrong_;
  const composite_parts& parts_;
  std::string path_;
  bool is_production_ = false;
  std::optional<error> why_not_; ///< The reason why a composite is no layer here.
  /// The composites whose parameters it has.
  std::vector<std::shared_ptr<const own_operator>> heritages_;
  own_description made_;
};

} // namespace clade
