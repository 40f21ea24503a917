#pragma once

#include "engine/search/bases/steady.hpp"

#include <deque>
#include <map>

namespace clade {

/// The parts that the steady strategies share that are guided by a model of fitness. An
/// order for candidate k is made of what was heard up to result k - in_flight, however
/// much more has come since, and of the networks born between: so it does not depend on
/// how fast anybody is. With several in flight, an order therefore waits until those
/// before it are born.
class model_guided : public steady {
public:
  using history = std::shared_ptr<const std::vector<individual>>;
  struct unheard {
    std::shared_ptr<const clade::genome> genome;
    std::uint32_t epochs = 0; ///< The epochs, as in `candidate`.
    zero_cost_scores zero_cost{};
  };

  model_guided(const evolution_params& params, std::uint64_t seed);

  /// So many candidates are sampled before a model says anything.
  static constexpr std::size_t initial = 8;

protected:
  /// Returns the history that the order may look at, in the order of hearing; to be
  /// called once for each, in the order of ids. Results that are older are forgotten.
  [[nodiscard]] history known_to(const breeding& order);
  /// Born, and not heard of in what the last call of `known_to` gave.
  [[nodiscard]] std::vector<unheard> in_training() const;
  /// All that was heard and is kept.
  [[nodiscard]] const std::vector<individual>& latest() const {
    return *moments_.back().known;
  }

private:
  /// Takes out what is too much once another one was added.
  virtual void thin(std::vector<individual>& known) const = 0;

  void hear(const individual& evaluated) override;
  void bear(const candidate& c) override;
  [[nodiscard]] bool may_order() const override;
  void forget_before(std::uint64_t heard);

  /// The results that were heard when so many were, thinned out; the newest last.
  struct moment {
    candidate_id latest = 0;
    history known;
  };
  /// Since the eldest that an order can still look at, which is after `told_` results.
  std::deque<moment> moments_;
  std::uint64_t told_ = 0;
  /// Born, and not heard of in the eldest of these moments.
  std::map<candidate_id, unheard> in_training_;
  std::uint64_t born_ = 0;
};

} // namespace clade
