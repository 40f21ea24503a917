#pragma once

#include "engine/search/core/strategy.hpp"
#include "genome/variation/mutation.hpp"

#include <array>
#include <deque>
#include <map>
#include <vector>

namespace clade {

/// Mutation rates by what paid: adaptive operator selection by probability matching
/// (Thierens, "An Adaptive Pursuit Strategy for Allocating Operator Probabilities", GECCO
/// 2005, section 2), with credit over a sliding window of the last 200 children. A kind
/// of change that was in n of them, p of which were fitter than their fitter parent, has
/// the credit
///
///     q_k = (p_k + m q) / (n_k + m)        q: the same share over all kinds, m = 10
///
/// and the weight
///
///     w_k = base_k (1/4 + 3/4 q_k / q)
///
/// so that what is hardly tried counts as average, nothing falls below a quarter of what
/// the experiment says, and what is 0 there stays 0. A child of several changes counts
/// for each of them. Whether a child was better is asked, rather than by how much: gains
/// shrink as a search goes on, and one lucky child must not outweigh a hundred.
///
/// On the synthetic fitness of the small test space (30 seeds), regularised evolution of
/// 20 ends .0097 +- .0044 higher after 1000 candidates and alike after 300; generational
/// evolution and MAP-Elites end alike. Hence it is off by default.
class adaptive_rates {
public:
  explicit adaptive_rates(const mutation_params& base) : base_(base) {}

  /// A child of these changes; `paid`: it is fitter than its fitter parent.
  void add(const std::vector<change_kind>& kinds, bool paid);

  /// Other weights to start from; what was learnt stays.
  void change(const mutation_params& base) { base_ = base; }

  [[nodiscard]] mutation_params rates() const;

  struct credit {
    change_kind kind = change_kind::add_node;
    std::uint64_t children = 0, paid = 0; ///< The children of the window.
    double base = 0, rate = 0;
  };
  /// Returns the credits of all kinds, in their order.
  [[nodiscard]] std::vector<credit> credits() const;

  static constexpr std::size_t window = 200;

private:
  struct child {
    std::vector<change_kind> kinds;
    bool paid = false;
  };
  void count(const child& c, int by);

  mutation_params base_;
  std::deque<child> children_; ///< The oldest first.
  std::array<std::int64_t, mutation_kind_count> children_of_{}, paid_of_{};
};

/// The learning of a strategy with `evolution.mutation.adapt`: it tells of each child
/// that it ordered, that was born and that was evaluated, and orders with the rates of
/// all that was settled. Without `adapt` it does nothing.
class mutation_learning {
public:
  explicit mutation_learning(const mutation_params& base)
      : adapt_(base.adapt),
        rates_(base) {}

  /// Sets the order's mutation, where it has parents.
  void apply(breeding& order) const;

  /// A child of a parent of that fitness will be born, ..
  void ordered(candidate_id id, const fitness& parent);
  /// .. is born, ..
  void born(const candidate& c);
  /// .. and evaluated.
  void told(const individual& i);
  /// Takes in what was told since, in the order of ids.
  void settle();

  void change(const mutation_params& base);

private:
  struct pending {
    fitness parent;
    std::vector<change_kind> kinds{};
    std::optional<fitness> child{};
  };

  bool adapt_;
  adaptive_rates rates_;
  std::map<candidate_id, pending> pending_;
};

} // namespace clade
