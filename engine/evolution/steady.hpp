#pragma once

#include "engine/evolution/strategy.hpp"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace clade {

/// What the strategies in a steady state share. No generation is waited for: `in_flight`
/// candidates are open at any time, and the order for candidate k is given as the
/// (k - in_flight)-th result is heard. If tell_order is "asked", results are heard in the
/// order of ids, those that come early being kept back; then the search depends on
/// nothing but the seed and the fitness. If it is "arrived", they are heard as they come.
/// A generation is closed after each `population` results heard; those beyond wait for
/// it. After a change of parameters, generations are counted on from the one that was
/// closed; what is open or ordered stays so.
class steady : public strategy {
public:
  steady(const evolution_params& params, std::uint64_t seed)
      : params_(params),
        seed_(seed) {}

  [[nodiscard]] std::vector<breeding> ask(candidate_id beyond,
                                          std::size_t limit) const override;
  void born(const candidate& c) override;
  void tell(const individual& evaluated) override;
  [[nodiscard]] std::optional<generation_closed> closing() const override;
  void close() override;
  [[nodiscard]] bool change(const evolution_params& params, std::uint64_t seed) override;
  [[nodiscard]] bool finished() const override;
  void extend(std::size_t more) override;
  [[nodiscard]] bool give(std::shared_ptr<const clade::genome> genome,
                          const std::string& origin) override;
  [[nodiscard]] std::uint64_t generation() const override { return closed_; }

protected:
  /// Gives the first orders; the last line of a constructor.
  void begin() { order_due(); }

  [[nodiscard]] const evolution_params& params() const { return params_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  /// How many results were heard, and how many orders given.
  [[nodiscard]] std::uint64_t heard() const { return heard_; }
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

  void hear_due();
  void order_due();
  void order_next();
  [[nodiscard]] std::uint64_t end_of_generation() const;
  [[nodiscard]] candidate_id last_candidate() const;

  evolution_params params_;
  std::uint64_t seed_;
  std::deque<breeding> orders_; ///< Given, not born.
  std::deque<breeding> gifts_;  ///< A person's genomes, for the next orders.
  std::map<std::uint64_t, individual>
      told_; ///< By the turn in which they are heard, from 1.
  std::uint64_t ordered_ = 0, arrived_ = 0, heard_ = 0, closed_ = 0;
  /// Where parameters were changed last: generations closed, and results in them.
  std::uint64_t changed_closed_ = 0, changed_heard_ = 0;
};

} // namespace clade
