#pragma once

#include "engine/search/core/candidate.hpp"
#include "genome/genes/grammar.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clade {

/// The word of a parameter that says that there is no such branch.
inline constexpr const char* no_branch = "zero";

/// Returns whether a parameter chooses among branches, of which "zero" is one.
[[nodiscard]] bool may_be_pruned(const parameter& p);

/// A branch that a genome has, or had before it was pruned: a parameter of one of its nodes.
struct branch {
  innovation node{};
  std::string parameter;
  std::string word; ///< "zero": it is pruned.
  /// The importance that the evaluation of the genome gave it; none: it is pruned, or
  /// nobody has measured it.
  std::optional<double> importance{};

  [[nodiscard]] bool pruned() const { return word == no_branch; }
};

/// Returns the branches of a genome in the order of its nodes and their settings.
[[nodiscard]] std::vector<branch>
branches_of(const grammar& rules, const genome& g,
            const std::vector<branch_importance>& measured = {});

// Changes of branches, as those of genome/variation: each returns what it did, which is
// nothing where the genome has no room for it; afterwards it obeys its grammar but for
// merges, which `repair_nodes` mends.

/// Prunes so many branches (at most all but one), the least important ones; a branch that
/// nobody has measured lies among the others by chance. The `spare` next ones may take the
/// places of some.
[[nodiscard]] std::vector<change> prune_branches(genome& g, std::vector<branch> all,
                                                 std::size_t count, std::size_t spare,
                                                 random_stream& random);

/// Gives a node one of its pruned branches back. A node is drawn by how important the
/// branches are that it still has, on average.
[[nodiscard]] std::optional<change> grow_branch(const grammar& rules, genome& g,
                                                const std::vector<branch>& all,
                                                random_stream& random);

/// Puts a copy of a node, which has all branches, behind it. The node is drawn likewise.
[[nodiscard]] std::optional<change> grow_node(const grammar& rules, genome& g,
                                              const std::vector<branch>& all,
                                              random_stream& random);

} // namespace clade
