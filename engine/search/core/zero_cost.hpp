#pragma once

#include "engine/search/core/candidate.hpp"

#include <array>
#include <map>
#include <span>
#include <vector>

namespace clade {

/// Measures networks before any training of theirs, as engine/training does where
/// LibTorch is. Its arithmetic need not be the same on two machines, so whatever a search
/// takes from it is recorded (`candidate::looked_at`) and read from there ever after.
/// Shared by threads.
class zero_cost_scorer {
public:
  virtual ~zero_cost_scorer() = default;
  /// Returns the scores of the network with the initial weights that candidate `id` would
  /// have. Never fails: a score that cannot be had is absent.
  [[nodiscard]] virtual zero_cost_scores score(const genome& g, candidate_id id) = 0;
};

/// Asks another, each network once, and keeps what it answered. It serves one order: `id`
/// is always the same.
class scoring_log final : public zero_cost_scorer {
public:
  explicit scoring_log(zero_cost_scorer& from) : from_(from) {}

  zero_cost_scores score(const genome& g, candidate_id id) override;

  /// In the order in which they were first asked for.
  [[nodiscard]] const std::vector<zero_cost_scores>& all() const { return all_; }

private:
  zero_cost_scorer& from_;
  std::map<genome_hash, std::size_t> known_;
  std::vector<zero_cost_scores> all_;
};

/// Gives what is recorded, whatever it is asked about; nothing but absent ones after
/// that.
class recorded_scores final : public zero_cost_scorer {
public:
  explicit recorded_scores(std::span<const zero_cost_scores> recorded)
      : recorded_(recorded) {}

  zero_cost_scores score(const genome&, candidate_id) override {
    return at_ < recorded_.size() ? recorded_[at_++] : zero_cost_scores{};
  }

private:
  std::span<const zero_cost_scores> recorded_;
  std::size_t at_ = 0;
};

/// Brings scores to [0, 1] for a model, by their rank among those of known networks: what
/// a score's unit and spread are does not matter then, and no arithmetic is left that two
/// machines could do differently.
class zero_cost_places {
public:
  static constexpr std::size_t count = 3;

  explicit zero_cost_places(std::span<const zero_cost_scores> known);

  /// The share of known scores below each, equal ones half; of an absent one the middle.
  [[nodiscard]] std::array<double, count> of(const zero_cost_scores& s) const;

private:
  std::array<std::vector<double>, count> sorted_;
};

} // namespace clade
