#pragma once

#include "genome/base/error.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace clade {

/// The types that a hyperparameter or an operator's parameter can have.
using value = std::variant<std::int64_t, double, std::string>;

/// A named value: `filters=32`, `learning_rate=0.003`, `optimiser=adam`.
struct setting {
  std::string name;
  clade::value value;

  friend bool operator==(const setting&, const setting&) = default;
};

/// The most bytes that a text among the values has.
inline constexpr std::size_t longest_setting_text = 4096;

/// The longest way back in time of a recurrent edge, in steps.
inline constexpr std::uint32_t longest_delay = 1000;

/// Identifies a gene by its origin: the same structural change at the same place gets the
/// same number in whichever genome, generation and process it happens, because the number
/// is a hash of that place (genome/genes/innovation.hpp). Genes of two parents line up by it
/// (NEAT, Stanley and Miikkulainen, 2002), with no registry that parallel generators
/// would have to share.
enum class innovation : std::uint64_t {};

/// Every genome has these two nodes.
inline constexpr innovation input_innovation{0};
inline constexpr innovation output_innovation{1};

/// A node: an operator and its settings. The reserved operators are "input" and "output".
/// A node that several enabled edges enter merges them first, as its setting "merge"
/// says.
struct node_gene {
  innovation id{};
  std::string op;
  std::vector<setting> settings; ///< Sorted by name.

  friend bool operator==(const node_gene&, const node_gene&) = default;
};

struct edge_gene {
  innovation id{};
  innovation from{};
  innovation to{};
  bool enabled = true;
  /// It carries the value of so many steps of time before; 0: the present one. The edges
  /// of the present are acyclic.
  std::uint32_t delay = 0;
  double weight = 1.0; ///< Used by neuron-level networks; layers leave it at 1.

  [[nodiscard]] bool recurrent() const { return delay > 0; }
  /// Whether it is enabled and of the present.
  [[nodiscard]] bool is_forward() const { return enabled && delay == 0; }

  friend bool operator==(const edge_gene&, const edge_gene&) = default;
};

/// A network and how it is trained, as data. Invariants (`check_structure`): nodes and
/// edges sorted by innovation, without duplicates, and no two edges of one delay, which is
/// at most `longest_delay`, between the same nodes; one input, which nothing enters, and
/// one output, which only recurrent edges leave; edges join nodes that exist; what is
/// enabled and not recurrent is acyclic and joins input to output; settings sorted by name; numbers finite; names are words
/// (letters, digits, "_", "-", "."), text is free of control characters, and neither is
/// longer than 64 bytes, or `longest_setting_text` for text.
struct genome {
  std::vector<node_gene> nodes;
  std::vector<edge_gene> edges;
  std::vector<setting> hyperparameters; ///< Sorted by name; only those that apply.

  friend bool operator==(const genome&, const genome&) = default;
};

/// 128 bits that two equal networks share (genome/genes/hash.hpp).
struct genome_hash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend auto operator<=>(const genome_hash&, const genome_hash&) = default;
};

/// The setting of that name, or nullptr.
[[nodiscard]] const value* find(const std::vector<setting>& settings,
                                std::string_view name);

/// Sets or replaces, keeping the order by name.
void assign(std::vector<setting>& settings, std::string_view name, value v);

/// Removes it if it is there.
void erase(std::vector<setting>& settings, std::string_view name);

[[nodiscard]] const node_gene* find_node(const genome& g, innovation id);
[[nodiscard]] const edge_gene* find_edge(const genome& g, innovation id);

/// Says which invariant does not hold, if any.
[[nodiscard]] expected<void> check_structure(const genome& g);

/// Nodes in an order in which every enabled, non-recurrent edge goes forward; only nodes
/// that lie on a path from the input to the output over enabled edges. Ties go to the
/// smaller innovation. The input comes first, and the output last where no recurrent edge
/// leads on from a node behind it.
[[nodiscard]] std::vector<innovation> topological_order(const genome& g);

/// A line for each node in topological order, with what enters it in that order, then the
/// hyperparameters:
///
///     input
///     n3f2a1  conv(filters=32, kernel=3) <- input
///     n91c07  dense(units=64) <- input, n3f2a1 [merge add]
///     output <- n91c07
///     learning_rate=0.003 optimiser=adam
///
/// A recurrent input reads "n91c07 before" or, of a longer delay, "n91c07 3 steps before";
/// one over an edge that weighs, "0.5 n91c07".
[[nodiscard]] std::string to_text(const genome& g);

/// The shortest digits that give the number back; reals that are whole have a ".0".
[[nodiscard]] std::string to_text(const value& v);

/// "filters=32, kernel=3"
[[nodiscard]] std::string to_text(const std::vector<setting>& settings);

/// "conv(filters=32, kernel=3)": the operator and its settings without "merge".
[[nodiscard]] std::string to_text(const node_gene& n);

/// 32 hexadecimal digits.
[[nodiscard]] std::string to_text(genome_hash h);

/// "input", "output" or "n" and the number in hexadecimal: unique.
[[nodiscard]] std::string to_text(innovation id);

/// The same cut to six digits, or as many as it takes to tell the genome's nodes apart:
/// for people, within one text.
[[nodiscard]] std::string short_name(const genome& g, innovation id);

} // namespace clade
