#pragma once

#include "genome/base/error.hpp"
#include "genome/base/random.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clade {

/// One way in which a rule is written out.
struct production {
  std::string name;  ///< A word, unique within its rule.
  double weight = 1; ///< How often it is drawn, relative to the rule's others.
  std::vector<std::size_t> parts{}; ///< The rules of its parts, by number, in order.

  friend bool operator==(const production&, const production&) = default;
};

/// All that may stand in a certain place of a derivation.
struct production_rule {
  std::string name;
  std::vector<production> productions; ///< At least one.

  friend bool operator==(const production_rule&, const production_rule&) = default;
};

/// A tree that the rules make of one of them, as those of einspace (Ericsson et al., NeurIPS
/// 2024): which production stands there, and a derivation for each of its parts. Its text
/// is the production's name and, in brackets, the texts of the parts:
/// "branch[conv sequence[pool conv]]".
struct derivation {
  std::size_t rule = 0;
  std::size_t production = 0; ///< One of that rule.
  std::vector<derivation> parts{};

  friend bool operator==(const derivation&, const derivation&) = default;
};

/// The rules of a grammar without contexts.
class production_rules {
public:
  /// Rules that `parts` names exist, and there are at most `most`.
  explicit production_rules(std::vector<production_rule> all);

  static constexpr std::size_t most = 64; ///< Rules, and productions of one of them.
  static constexpr std::size_t deepest = 16;
  static constexpr std::size_t endless = static_cast<std::size_t>(-1);

  [[nodiscard]] const std::vector<production_rule>& all() const { return all_; }
  [[nodiscard]] const production& at(const derivation& d) const {
    return all_[d.rule].productions[d.production];
  }
  /// The fewest productions of which a derivation of that rule consists that is at most so
  /// deep, one alone being 1 deep; `endless`: there is none.
  [[nodiscard]] std::size_t least(std::size_t rule, std::size_t depth) const;
  /// Returns the fewest of a derivation that begins with this production.
  [[nodiscard]] std::size_t least(const production& p, std::size_t depth) const;
  /// Whether more than one derivation of the rule, at most so deep, is ever drawn.
  [[nodiscard]] bool varies(std::size_t rule, std::size_t depth) const;

private:
  std::vector<production_rule> all_;
  std::vector<std::vector<std::size_t>> least_;  ///< By depth, from 0, and rule.
  std::vector<std::vector<std::size_t>> number_; ///< Drawn ones; 2: two or more.
};

/// The derivations of one rule, up to a depth and a number of productions; there is one.
struct derivation_domain {
  std::shared_ptr<const production_rules> rules;
  std::size_t start = 0;
  std::size_t depth = 8; ///< From 1 to production_rules::deepest.
  std::size_t size = 64;

  static constexpr std::size_t largest = 100;
};

/// Whether both have the same derivations, drawn alike.
[[nodiscard]] bool operator==(const derivation_domain& a, const derivation_domain& b);

[[nodiscard]] std::size_t size_of(const derivation& d);
[[nodiscard]] std::size_t depth_of(const derivation& d);

[[nodiscard]] std::string to_text(const production_rules& rules, const derivation& d);

/// Reads such a text; an error says why it is none of the domain.
[[nodiscard]] expected<derivation> parse_derivation(const derivation_domain& domain,
                                                    std::string_view text);

/// A derivation with the fewest productions, the earlier ones of a rule first.
[[nodiscard]] derivation least_derivation(const derivation_domain& domain);

/// Productions are drawn by weight among those that can end within the bounds; what is left
/// of the size is dealt evenly to the parts.
[[nodiscard]] derivation draw(const derivation_domain& domain, random_stream& random);

/// Replaces the derivation at a random place by another of the same rule; it is a different
/// one if one of 64 attempts finds one.
[[nodiscard]] derivation perturbed(const derivation_domain& domain, const derivation& d,
                                   random_stream& random);

/// `mine`, in which the derivation at a random place is replaced by one that `theirs` has
/// of the same rule and that fits; `mine` itself if 64 attempts find nothing that changes
/// it.
[[nodiscard]] derivation crossed(const derivation_domain& domain, const derivation& mine,
                                 const derivation& theirs, random_stream& random);

/// The texts of the smallest parts that two different derivations differ in.
[[nodiscard]] std::pair<std::string, std::string>
differing_parts(const production_rules& rules, const derivation& a, const derivation& b);

} // namespace clade
