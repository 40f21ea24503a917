#pragma once

#include "engine/search/bases/generations.hpp"

namespace clade {

/// The parameters that differential_evolution alone reads.
struct difference_params {
  /// By how much of a difference a child moves, F, from 0 to 2; `crossover` is then the
  /// chance of each parameter to move, CR. 0: every target adapts both, which is seldom
  /// worse.
  double weight = 0;
  /// The candidate that the difference is added to: "random", another one of the
  /// population, or "current_to_best", which climbs faster and gets stuck sooner.
  std::string base = "random";
};

void keys(own_keys& v, difference_params& p);

/// Differential evolution (Storn and Price, Journal of Global Optimization 11, 1997) of
/// hyperparameters, in the unit cube of their domains (genome/genes/unit_cube.hpp). Each
/// of the `population` places has a target x; its child takes the place if it is not
/// worse:
///
///   v = a + F (b - c)                   difference_base = "random": DE/rand/1/bin
///   v = x + F (best - x) + F (b - c)    difference_base = "current_to_best"
///
///   child(i) = v(i)                     by the chance CR, and for one i always
///   child(i) = x(i)                     else
///
/// a, b, c: others of the population that did not fail, drawn evenly, all different. A
/// coordinate that leaves the cube is put between x and the wall. Whole numbers and lists
/// are bins of the cube, unordered lists too (DEHB: Awad, Mallik and Hutter, IJCAI 2021);
/// what does not apply to x is drawn.
///
/// F and CR adapt (jDE: Brest et al., IEEE Transactions on Evolutionary Computation 10,
/// 2006): each place has its own, begins with 0.5 and 0.9, tries others one time in ten
/// each (F from 0.1 to 1, CR from 0 to 1), and keeps those of a child that takes it. With
/// `difference_weight` they are fixed at that and `crossover`.
///
/// Take it for tables of hyperparameters, 2 to 50 of any kind, with 10 and more
/// generations of a population of 10 to 50: it needs no model, scales its steps by the
/// spread of the population, and is robust where CMA-ES is misled by choices. It has no
/// way to change layers.
class differential_evolution final : public generations {
public:
  using generations::generations;

  /// The space needs hyperparameters that vary, and no layers.
  [[nodiscard]] static expected<void> serves(const search_space& space);
  [[nodiscard]] static expected<void> validate(const evolution_params& params);

  void close() override;
  [[nodiscard]] bool change(const evolution_params& params, std::uint64_t seed) override;

private:
  /// F and CR.
  struct control {
    double weight = 0.5;
    double rate = 0.9;
  };
  /// Who has a place, and with what.
  struct target {
    individual who;
    control with;
  };

  [[nodiscard]] const difference_params& own() const {
    return params().own.of<difference_params>();
  }

  void choose_parents(breeding& order) const override;
  [[nodiscard]] std::vector<individual> select() const override;
  [[nodiscard]] std::size_t staying() const override { return params().population; }
  [[nodiscard]] std::size_t surviving() const override { return params().population; }

  /// Returns the control with which the child at a place is bred; takes the same draws
  /// always.
  [[nodiscard]] control try_control(std::size_t place, random_stream& random) const;
  [[nodiscard]] random_stream choices(std::uint64_t generation, std::size_t place) const;
  /// The targets once the complete generation is closed.
  [[nodiscard]] std::vector<target> replaced() const;

  std::vector<target> targets_; ///< By place; before generation 0 is closed none.
};

} // namespace clade
