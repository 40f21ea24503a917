#pragma once

#include "genome/base/random.hpp"
#include "genome/genes/derivation.hpp"
#include "genome/genes/genome.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace clade {

/// A number in [low, high]; `log`: its logarithm is uniform (0 < low). Drawn with four
/// decimal digits, or as many as tell 500 values of the domain apart: enough, and
/// readable.
struct real_domain {
  double low = 0;
  double high = 1;
  bool log = false;
};

/// A whole number in [low, high], a multiple of `step` above `low`; `log`: its logarithm
/// is uniform (0 < low), and one step wider is twice.
struct integer_domain {
  std::int64_t low = 0;
  std::int64_t high = 1;
  std::int64_t step = 1;
  bool log = false;
};

/// One of a list, which is not empty and has nothing twice. `ordered`: neighbours in the
/// list are alike (8, 16, 32), so that a mutation moves one step; the words "widen" and
/// "narrow" have a meaning for such a parameter.
struct choice_domain {
  std::vector<value> options;
  bool ordered = false;
};

/// The parameter applies only where another one, earlier in the same list, applies and
/// has one of these values.
struct condition {
  std::string parameter;
  std::vector<value> values;
};

struct parameter {
  std::string name;
  /// The values of a derivation_domain are texts. No hyperparameter has one.
  std::variant<real_domain, integer_domain, choice_domain, derivation_domain> domain;
  std::optional<condition> when;
  bool width = false; ///< Widen and narrow act on it (filters, units).
};

/// An operator that a node may have.
struct operator_rule {
  std::string name;
  std::vector<parameter> settings;
  double weight = 1.0; ///< How often it is drawn, relative to the others.
};

/// The rules by which genomes are made: the part of a search space that variation needs.
/// It knows nothing of shapes; search_spaces/ checks those. Edges are those of layers: not
/// weighted, and recurrent where `max_recurrent` is not 0. A genome keeps as many disabled
/// edges, which are memories of where nodes were added, as `max_nodes`: beyond that the
/// greatest innovations go, which is arbitrary but the same everywhere.
struct grammar {
  std::vector<operator_rule> operators;
  std::vector<parameter> merge; ///< Settings of every node that several enabled edges
                                ///< enter, the output included: "merge".
  std::vector<parameter> hyperparameters; ///< In an order in which conditions look back.
  std::size_t max_nodes = 16;             ///< Without input and output.
  std::size_t max_skips = 8;     ///< Live edges beyond a chain's: edges - nodes - 1.
  std::size_t initial_nodes = 3; ///< The most that a sampled genome starts with.
  /// Recurrent edges, which lead from and to any node but the output, and to the input;
  /// 0: networks have no steps of time.
  std::size_t max_recurrent = 0;
  std::uint32_t longest_delay = 10; ///< The longest that one of them has, in steps.
};

[[nodiscard]] value sample(const parameter& p, random_stream& random);

/// A value near `current` and different from it where the domain has another one (of a
/// derivation: as `perturbed`).
[[nodiscard]] value perturb(const parameter& p, const value& current,
                            random_stream& random);

/// One step up (`steps` 1) or down (-1) in an ordered domain, if there is a value to step
/// to: the neighbour in an ordered list, the next whole number, twice or half of a
/// logarithmic one. Real and unordered domains have no steps.
[[nodiscard]] std::optional<value> step(const parameter& p, const value& current,
                                        int steps);

[[nodiscard]] bool contains(const parameter& p, const value& v);

/// How a change from one value of the domain to another reads: the values, and of
/// derivations the parts in which they differ.
[[nodiscard]] std::pair<std::string, std::string>
change_text(const parameter& p, const value& before, const value& after);

/// The value `mine` with a part of `theirs` where the parameter has derivations (see
/// `crossed`); else `mine`. Both values are the domain's.
[[nodiscard]] value crossed(const parameter& p, const value& mine, const value& theirs,
                            random_stream& random);

/// Whether the domain has more than one value.
[[nodiscard]] bool varies(const parameter& p);

/// Whether neighbouring values are alike: numbers, ordered lists, and of lists what does
/// not vary.
[[nodiscard]] bool is_ordered(const parameter& p);

/// Whether genomes differ in more than hyperparameters.
[[nodiscard]] bool has_layers(const grammar& rules);

/// Whether it applies beside these settings.
[[nodiscard]] bool applies(const parameter& p, const std::vector<setting>& settings);

/// Values for all parameters that apply, sorted by name.
[[nodiscard]] std::vector<setting> sample(const std::vector<parameter>& parameters,
                                          random_stream& random);

/// Drops what no longer applies, draws what has come to apply and what is out of its
/// domain.
void repair(const std::vector<parameter>& parameters, std::vector<setting>& settings,
            random_stream& random);

/// The same for a node that `inputs` enabled edges enter: settings of its operator, and
/// of a merge where several enter.
void repair(const grammar& rules, node_gene& node, std::size_t inputs,
            random_stream& random);

/// The same for all nodes of a genome.
void repair_nodes(const grammar& rules, genome& g, random_stream& random);

[[nodiscard]] const operator_rule* find_operator(const grammar& rules,
                                                 std::string_view name);

/// Says why the grammar has no such edge, if it has none: weighted ones, and recurrent ones
/// that are disabled, joined to the output or too long.
[[nodiscard]] expected<void> check(const grammar& rules, const edge_gene& edge);

/// Says what in the genome the grammar does not allow, if anything: operators, settings
/// and their domains, hyperparameters, limits on size. `check_structure` is part of it.
/// Nodes that are not live count as well, up to the same limits.
[[nodiscard]] expected<void> check(const grammar& rules, const genome& g);

} // namespace clade
