#pragma once

#include "engine/search/core/strategy.hpp"

#include <map>

namespace clade {

/// The parts of generations that a search without them has. Results are taken in turns:
/// in the order of ids if tell_order is "asked", those that come early being kept back;
/// as they come if it is "arrived". A generation is closed after each `population`
/// results taken; those beyond wait for it. After a change of parameters, generations are
/// counted on from the one that was closed.
class turns : public strategy {
public:
  explicit turns(const evolution_params& params) : params_(params) {}

  void tell(const individual& evaluated) override;
  [[nodiscard]] std::optional<generation_closed> closing() const override;
  void close() override;
  [[nodiscard]] bool finished() const override { return closed_ == params_.generations; }
  void extend(std::size_t more) override { params_.generations += more; }
  [[nodiscard]] std::uint64_t generation() const override { return closed_; }

protected:
  [[nodiscard]] const evolution_params& params() const { return params_; }
  /// How many results were taken.
  [[nodiscard]] std::uint64_t heard() const { return heard_; }
  /// How many are taken before the generation in progress.
  [[nodiscard]] std::uint64_t heard_before() const;
  [[nodiscard]] candidate_id last_candidate() const;
  /// Sets generation and index of an order by its id.
  void place(breeding& order) const;
  /// From the generation in progress on, other parameters hold.
  void go_on_with(const evolution_params& params);
  /// Takes what is due.
  void take_due();

private:
  virtual void take(const individual& evaluated) = 0;

  evolution_params params_;
  std::map<std::uint64_t, individual> told_; ///< By the turn of each, from 1.
  std::uint64_t arrived_ = 0, heard_ = 0, closed_ = 0;
  /// The place at which parameters were changed last: generations closed, and results in
  /// them.
  std::uint64_t changed_closed_ = 0, changed_heard_ = 0;
};

} // namespace clade
