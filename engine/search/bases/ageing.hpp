#pragma once

#include "engine/search/bases/steady.hpp"

namespace clade {

/// The parts that strategies share whose population ages: the first `population` candidates
/// are sampled, and from then on each that is heard takes the place of the oldest, however
/// fit that one is (regularised.hpp).
class ageing : public steady {
public:
  using steady::steady;

  /// Judges the size of a tournament.
  [[nodiscard]] static expected<void> validate(const evolution_params& params);

  [[nodiscard]] std::vector<individual> population() const override;
  [[nodiscard]] bool receive(const individual& migrant) override;

protected:
  void hear(const individual& evaluated) override;
  void changed() override;

  /// The oldest first.
  [[nodiscard]] const std::deque<individual>& living() const { return living_; }
  /// Returns the stream of an order for the choice of its parents.
  [[nodiscard]] random_stream choices(const breeding& order) const;
  /// Returns the place among the living of the winner of a tournament.
  [[nodiscard]] std::size_t win(random_stream& random) const;
  /// Makes the order one for a mutant of that winner or, with the chance `crossover`, for a
  /// cross with another. Returns the fitter parent's place.
  std::size_t breed_from_winner(breeding& order, std::size_t winner,
                                random_stream& random) const;

private:
  std::deque<individual> living_;
};

} // namespace clade
