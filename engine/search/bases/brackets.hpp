#pragma once

#include "engine/search/bases/generations.hpp"
#include "engine/search/bases/rungs.hpp"

namespace clade {

/// The parts that successive halving, Hyperband and DEHB share: brackets that climb the
/// rungs, one rung a generation. A bracket begins on some rung; of its n candidates there
/// the best max(1, floor(n / reduction)) are promoted to the next rung, of those again,
/// up to the top, by front where there are several objectives (rung_ladder). Who failed is
/// never promoted. Each generation trains one rung of every
/// bracket that is on its way, and fills its other places with the beginnings of new
/// brackets; so every generation has `population` candidates that may train at once, and,
/// as nothing is decided before it is complete, the order of evaluations leaves no trace.
class brackets : public generations {
public:
  brackets(const evolution_params& params, std::uint64_t seed);

  /// Lays out generation 0.
  void start() override { lay_out({}); }
  [[nodiscard]] std::optional<generation_closed> closing() const override;
  void close() override;
  [[nodiscard]] bool change(const evolution_params& params, std::uint64_t seed) override;
  /// Returns the candidates on the highest rung that enough have reached
  /// (rung_ladder::breeders).
  [[nodiscard]] std::vector<individual> population() const override;

protected:
  [[nodiscard]] const rung_ladder& ladder() const { return ladder_; }
  /// Fills in how a new candidate on that rung is made.
  virtual void choose_new(breeding& order, std::size_t rung) const;

private:
  /// For each rung the share of a generation's new candidates that begin there.
  [[nodiscard]] virtual std::vector<double> beginnings() const = 0;
  /// The generation that was just closed had this one on that rung; the best comes first.
  virtual void heard(const individual& evaluated, std::size_t rung, bool promoted);

  void choose_parents(breeding& order) const override;
  [[nodiscard]] std::size_t staying() const override { return 0; }
  [[nodiscard]] std::size_t surviving() const override { return params().population; }

  /// A candidate's place in the generation in progress.
  struct place {
    std::size_t beginning = 0; ///< The rung on which its bracket began.
    std::size_t rung = 0;
    individual promoted{}; ///< Without an id: a new candidate.
  };
  [[nodiscard]] std::vector<place> promotions(std::uint64_t first) const;
  void lay_out(std::vector<place> promoted);

  rung_ladder ladder_;
  std::vector<place> promoted_; ///< Into the generation in progress.
  std::vector<place> places_;
};

} // namespace clade
