#pragma once

#include "engine/search/bases/turns.hpp"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace clade {

/// The parts that the strategies in a steady state share. No generation is waited for:
/// `in_flight` candidates are open at any time, and the order for candidate k is given as
/// the (k - in_flight)-th result is heard (turns.hpp). If results are told as "asked",
/// the search depends on nothing but the seed and the fitness. After a change of
/// parameters, what is open or ordered stays so.
class steady : public turns {
public:
  steady(const evolution_params& params, std::uint64_t seed)
      : turns(params),
        seed_(seed) {}

  /// Gives the first orders.
  void start() override { order_due(); }
  [[nodiscard]] std::vector<breeding> ask(candidate_id beyond,
                                          std::size_t limit) const override;
  void born(const candidate& c) override;
  [[nodiscard]] bool change(const evolution_params& params, std::uint64_t seed) override;
  void extend(std::size_t more) override;
  [[nodiscard]] bool give(std::shared_ptr<const clade::genome> genome,
                          const std::string& origin) override;

protected:
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  /// How many orders were given.
  [[nodiscard]] std::uint64_t ordered() const { return ordered_; }

private:
  /// Takes in one result, in the order in which they are heard.
  virtual void hear(const individual& evaluated) = 0;
  /// Fills in how the candidate is made and of whom; its place is set. Called once for
  /// each, in the order of ids, but not for a person's genomes.
  virtual void choose(breeding& order) = 0;
  /// Whether the next order can be given already; asked again at each birth and result.
  [[nodiscard]] virtual bool may_order() const { return true; }
  /// Hears of a birth, in the order of ids.
  virtual void bear(const candidate&) {}
  /// Parameters and seed have changed.
  virtual void changed() {}

  void take(const individual& evaluated) final;
  void order_due();
  void order_next();

  std::uint64_t seed_;
  std::deque<breeding> orders_; ///< Given, not born.
  std::deque<breeding> gifts_;  ///< A person's genomes, for the next orders.
  std::uint64_t ordered_ = 0;
  std::size_t points_begun_ = 0; ///< How many of the known points have an order.
};

} // namespace clade
