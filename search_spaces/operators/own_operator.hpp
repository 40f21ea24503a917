#pragma once

#include "search_spaces/operators/operators.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace clade {

/// A number of a file's own composite: a parameter's value, or how many channels (of a
/// vector features) enter the repetition, multiplied and divided by whole numbers one after
/// the other. Whole numbers are rounded down and are 1 at least.
struct own_formula {
  struct factor {
    bool divides = false;
    std::int64_t by = 1;
  };
  std::string of; ///< A parameter's name, or `channels`.
  std::vector<factor> factors{};

  static constexpr std::string_view channels = "channels";
};

/// Returns whether a text is of small letters, digits and "_", as the names in a composite
/// are.
[[nodiscard]] bool is_own_name(std::string_view text);

/// Reads "=filters / 4"; none for a text that is no formula.
[[nodiscard]] std::optional<own_formula> parse_formula(std::string_view text);
/// Returns the text that `parse_formula` reads.
[[nodiscard]] std::string to_text(const own_formula& f);

/// A parameter of a file's own composite: what `setting_entry` says of a setting, with texts
/// of its own.
struct own_parameter {
  std::string name;
  setting_entry::kind type = setting_entry::kind::integer;
  double low = 0, high = 0, fallback = 0;
  std::vector<std::string> words{}; ///< The words of a text; the first is the fallback.
  /// A text is one of these derivations, and the only word is the least of them.
  std::optional<derivation_domain> derivations{};
  bool odd = false;
  bool width = false;
  /// The value holds in the first repetition; in later ones it is `low`, as of a stride.
  bool first = false;
  std::string sentence{};
};

/// A layer of a file's own composite. Its operator and what it takes are names, or "=" and
/// the parameter that has one.
struct own_layer {
  using setting_source = std::variant<value, own_formula>;

  std::string name; ///< Unique within the composite.
  std::string op; ///< An operator for layers, another composite, add, concat or multiply.
  std::vector<std::string> from; ///< Names of earlier layers; `entrance`: what enters.
  /// An operator of several that has not all of these settings is given those that it has.
  std::vector<std::pair<std::string, setting_source>> settings{};
  bool starts_at_zero = false; ///< It means what it means in `layer`.
  /// Layers that this rule makes stand there, and no operator: those of the derivation that
  /// a parameter has, or, within a production, of its next part. Empty: an operator.
  std::string rule{};

  static constexpr std::string_view entrance = "in";
};

/// Returns the parameter that such a name stands for; none for a plain name.
[[nodiscard]] std::optional<std::string_view> parameter_named(std::string_view text);

class own_operator;

/// The rules of a search-space file, `[rules.NAME]`, by which composites have layers.
struct layer_rules {
  std::shared_ptr<const production_rules> rules;
  /// The layers of each production, by rule and production. A layer that a rule makes is
  /// one of its parts, in order. They have no parameters.
  std::vector<std::vector<std::shared_ptr<const own_operator>>> layers;
};

/// An operator that a search-space file makes of known ones: `[composites.NAME]`.
struct own_description {
  std::string name;
  std::string summary;
  layout takes = layout::vector;
  std::vector<own_parameter> parameters; ///< By name.
  /// How often the layers are repeated, one repetition behind the other: a number, or a
  /// parameter's name.
  std::variant<std::int64_t, std::string> repeat = std::int64_t{1};
  /// Repetitions have the weights of the first in which a layer has such tensors; statistics,
  /// as those of batch normalisation, are each repetition's own.
  bool share = false;
  std::vector<own_layer> layers; ///< At least one; the last gives what comes out.
  /// The composites that its layers are.
  std::vector<std::shared_ptr<const own_operator>> uses{};
  /// The rules of its parameters that are derivations; null: none is.
  std::shared_ptr<const layer_rules> rules{};

  static constexpr std::size_t most_layers = 64;
  static constexpr std::int64_t most_repeats = 32;
  static constexpr std::ptrdiff_t deepest =
      16; ///< Composites of composites, one within the other.
};

/// Holds a description and the row that is made of it, which refers to the description's
/// texts; neither is copied or moved.
class own_operator {
public:
  explicit own_operator(own_description d);
  own_operator(const own_operator&) = delete;
  own_operator& operator=(const own_operator&) = delete;

  [[nodiscard]] const own_description& description() const { return description_; }
  [[nodiscard]] const operator_entry& row() const { return row_; }
  [[nodiscard]] std::int64_t repeats(const std::vector<setting>& complete) const;

  /// Whether it, or a composite that its layers are, shares weights between repetitions.
  [[nodiscard]] bool shares_weights() const;

  /// The composite of that name that a layer is; null: there is none.
  [[nodiscard]] const own_operator* used(std::string_view name) const;
  /// The row of an operator that a layer may be; null for one that merges.
  [[nodiscard]] const operator_entry* row_of(std::string_view op) const;
  /// The operators that a layer may be: one, or the words of a parameter; none where a rule
  /// makes it.
  [[nodiscard]] std::vector<std::string> operators_of(const own_layer& l) const;

  /// A name, or what the parameter says that it stands for, by the composite's own complete
  /// settings.
  [[nodiscard]] std::string resolved(const std::string& name,
                                     const std::vector<setting>& complete) const;

  /// The parameter whose value a layer's setting of that name has as it is; none: it has
  /// another value.
  [[nodiscard]] std::optional<std::string> passed_on(const own_layer& l,
                                                     std::string_view setting) const;

  /// The settings of a layer that is this operator, in a repetition, counted from 1, that
  /// so many channels or features enter.
  [[nodiscard]] std::vector<setting> settings_of(const own_layer& l,
                                                 const operator_entry& op,
                                                 const std::vector<setting>& complete,
                                                 std::int64_t repetition,
                                                 std::int64_t channels) const;

private:
  [[nodiscard]] value parameter_value(const std::string& name,
                                      const std::vector<setting>& complete,
                                      std::int64_t repetition) const;

  own_description description_;
  std::vector<std::vector<std::string_view>> words_;
  std::vector<setting_entry> settings_;
  operator_entry row_;
};

} // namespace clade
