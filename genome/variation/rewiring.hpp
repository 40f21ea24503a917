#pragma once

#include "genome/genes/grammar.hpp"
#include "genome/variation/change.hpp"

#include <optional>

namespace clade {

// Changes of the graph. Each returns what it did, or nothing where the genome has no room
// for such a change; then the genome is left as it was. All nodes are live by edges of the
// present, and recurrent edges are such as the grammar has (`prune`); so it is afterwards. A
// genome that obeys its grammar still
// does, but for the settings of merges, which `repair_nodes` mends.

/// Puts a node of a random operator on a random edge, which is disabled.
[[nodiscard]] std::optional<change> add_node(const grammar& rules, genome& g,
                                             random_stream& random);

/// Joins two random nodes that are not joined yet, forward in topological order.
[[nodiscard]] std::optional<change> add_edge(const grammar& rules, genome& g,
                                             random_stream& random);

/// Takes a random node and its edges out. The nodes that it joined are joined directly,
/// all with all; where that makes too many skips, the first of those behind it with all
/// those before it, and the first of those before it with all those behind.
[[nodiscard]] std::optional<change> remove_node(const grammar& rules, genome& g,
                                                random_stream& random);

/// Takes out a random edge without which every node still has an edge that enters and one
/// that leaves.
[[nodiscard]] std::optional<change> remove_edge(const grammar& rules, genome& g,
                                                random_stream& random);

/// Adds a recurrent edge between two random nodes, or from one to itself, of a delay for
/// which there is none yet.
[[nodiscard]] std::optional<change> add_recurrent_edge(const grammar& rules, genome& g,
                                                       random_stream& random);

/// Takes out a random one.
[[nodiscard]] std::optional<change> remove_recurrent_edge(const grammar& rules, genome& g,
                                                          random_stream& random);

/// Splits an enabled edge by a node, whose edges it inserts; returns the node's
/// innovation.
innovation split(genome& g, innovation edge, node_gene node);

/// Returns a genome whose nodes are these in a chain from input to output, each as if it
/// had been put on the edge between the one before and the output.
[[nodiscard]] genome chain_genome(std::vector<node_gene> nodes);

/// Enables the edge between two nodes, or inserts it.
void join(genome& g, innovation from, innovation to);

/// Takes out recurrent edges that the grammar does not have, nodes that are not live by edges
/// of the present with all their edges, and recurrent and disabled edges beyond the grammar's
/// limits.
void prune(const grammar& rules, genome& g);

/// A node of an operator drawn by weight, without an innovation yet; none if there are no
/// operators.
[[nodiscard]] std::optional<node_gene> sample_node(const grammar& rules,
                                                   random_stream& random);

} // namespace clade
