#pragma once

#include "genome/genes/grammar.hpp"
#include "genome/genes/wiring.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace clade {

/// Columns that belong together: the sum of their absolute differences is how unlike two
/// genomes are in one respect, from 0 to 1.
struct feature_block {
  enum class kind : std::uint8_t {
    choice, ///< A feature of one parameter, without an order.
    number, ///< A feature of one parameter, or of how the graph is built.
    /// A feature of all parameters of one domain together, whichever has the value.
    sum,
  };

  std::size_t begin = 0;
  std::size_t size = 0;
  kind what = kind::number;
  bool summed = false; ///< A sum has it as well.

  friend bool operator==(const feature_block&, const feature_block&) = default;
};

/// Turns genomes of one grammar into rows of numbers that a model can learn from, all in
/// [0, 1]. Choices without an order are one column for each option; ordered choices and
/// numbers are one column, the place within the domain (within its logarithm where that
/// is what the domain says). A parameter that does not apply says so in a column of its
/// own. Derivations are their size and each production's share of it.
///
/// Parameters with equal domains (six edges with the same five operators, two layers with
/// the same widths) make up a further block: how often each option was chosen among them,
/// or their mean place. A value that is good in one place is often good in another, and a
/// model sees that in the sums long before it has seen every option in every place.
///
/// A graph gives: how many nodes, skips and steps from input to output; the share of each
/// operator; the share of each pair of operators that an edge joins; and for each
/// operator its settings, averaged over the nodes that have it, as are those of merges.
///
/// Numbers that are known otherwise (the logarithm of the parameters, zero-cost scores)
/// may be added; whoever adds them brings them to [0, 1].
class genome_features {
public:
  explicit genome_features(const grammar& rules, std::size_t added = 0);

  /// `width()` numbers. Only live nodes count. A value that its domain does not have
  /// counts as absent; `added` is as long as was said, and each is taken into [0, 1].
  [[nodiscard]] std::vector<double> encode(const genome& g,
                                           std::span<const double> added = {}) const;

  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] const std::vector<feature_block>& blocks() const { return blocks_; }

private:
  /// The place at which a parameter's columns begin.
  struct column {
    parameter what;
    std::size_t begin = 0;
    bool absent = false; ///< Has a column for that.
  };
  struct bag {
    std::vector<std::size_t> members; ///< The members among hyperparameters_.
    column sum;                       ///< The domain of the first of them.
  };

  std::size_t add_block(std::size_t size, feature_block::kind what);
  column add_parameter(const parameter& p, bool absent);
  static void put(const column& c, const std::vector<setting>& settings, double share,
                  std::vector<double>& row);
  void add_bags();
  static void put_average(const genome& g, const wiring& wires,
                          const std::vector<column>& settings,
                          const std::function<bool(std::size_t)>& of,
                          std::vector<double>& row);
  void encode_graph(const genome& g, std::vector<double>& row) const;

  std::vector<feature_block> blocks_;
  std::size_t width_ = 0;
  std::vector<column> hyperparameters_;
  std::vector<bag> bags_;
  std::vector<operator_rule> operators_;
  std::vector<std::vector<column>> of_operator_; ///< Settings of operators_.
  std::vector<column> merge_;
  std::size_t max_nodes_ = 1;
  std::size_t max_skips_ = 1;
  std::size_t size_begin_ = 0; ///< Nodes, skips, depth; then operators, then pairs.
  std::size_t added_ = 0;
  std::size_t added_begin_ = 0;
};

} // namespace clade
