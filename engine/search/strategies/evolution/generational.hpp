#pragma once

#include "engine/search/bases/adaptive_rates.hpp"
#include "engine/search/bases/generations.hpp"
#include "engine/search/core/lexicase.hpp"

namespace clade {

/// A generational genetic algorithm. Generation 0 is sampled. The parents of the next are
/// the children of this one and the `elites` best of their parents; the failed are among
/// them only where all failed. Each child has a parent that won a tournament, or is one
/// of the best share (truncation), or is left when all are filtered by one metric after
/// another (lexicase); by the chance `crossover` it has a second one, drawn likewise, and
/// is a cross of the two; it is always mutated.
class generational final : public generations {
public:
  generational(const evolution_params& params, std::uint64_t seed)
      : generations(params, seed),
        learning_(params.mutation) {}

  [[nodiscard]] static expected<void> validate(const evolution_params& params);

  void born(const candidate& c) override;
  void tell(const individual& evaluated) override;
  void close() override;
  [[nodiscard]] bool change(const evolution_params& params, std::uint64_t seed) override;

private:
  void choose_parents(breeding& order) const override;
  [[nodiscard]] std::size_t staying() const override { return params().elites; }
  [[nodiscard]] std::size_t surviving() const override {
    return params().population + params().elites;
  }
  [[nodiscard]] std::size_t draw(random_stream& random) const;
  void prepare();

  lexicase lexicase_; ///< The lexicase of the survivors, if selection is by it.
  mutation_learning learning_;
};

} // namespace clade
