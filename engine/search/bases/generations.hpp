#pragma once

#include "engine/search/core/strategy.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace clade {

/// The parts that the strategies that go by generations share: each asks for `population`
/// candidates at once, hears of all of them in any order, and closes. The candidate at
/// `index` of `generation` has the id generation * population + index + 1, counted, after
/// a change of the population, from where that was. Nothing is decided before the
/// generation is complete, so the order of evaluations leaves no trace.
class generations : public strategy {
public:
  generations(const evolution_params& params, std::uint64_t seed)
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
  void extend(std::size_t more) override { params_.generations += more; }
  [[nodiscard]] bool give(std::shared_ptr<const clade::genome> genome,
                          const std::string& origin) override;
  [[nodiscard]] bool begin_with(std::shared_ptr<const clade::genome> genome,
                                const std::string& origin) override;
  [[nodiscard]] std::vector<individual> population() const override { return survivors_; }
  [[nodiscard]] std::uint64_t generation() const override { return generation_; }

protected:
  [[nodiscard]] const evolution_params& params() const { return params_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  /// Returns the survivors of the generations that are closed, best first.
  [[nodiscard]] const std::vector<individual>& survivors() const { return survivors_; }
  /// Returns the candidates of the generation in progress that were told, as they came.
  [[nodiscard]] const std::vector<individual>& children() const { return children_; }
  /// How many candidates the generations before this one have: an id less this and 1 is
  /// an index.
  [[nodiscard]] std::uint64_t before() const;
  /// How many candidates before this one, of the generation in progress, were a person's
  /// genomes or points that were known.
  [[nodiscard]] std::uint64_t given_before(candidate_id id) const;
  /// The generation's children and those that stay on beside them, best first; the failed
  /// are among them only where all failed.
  [[nodiscard]] std::vector<individual> pool() const;
  /// Who survives a generation that is complete, best first: of its children and those
  /// staying the best, as many as are surviving.
  [[nodiscard]] virtual std::vector<individual> select() const;

private:
  /// Fills in how the candidate is made and of whom.
  virtual void choose_parents(breeding& order) const = 0;
  /// How many of the survivors before them stay on beside a generation's children, and
  /// how many survive in all.
  [[nodiscard]] virtual std::size_t staying() const = 0;
  [[nodiscard]] virtual std::size_t surviving() const = 0;

  [[nodiscard]] bool complete() const;

  evolution_params params_;
  std::uint64_t seed_;
  std::uint64_t generation_ = 0;
  std::uint64_t born_ = 0;
  /// The generation and the births at which parameters were changed last.
  std::uint64_t changed_generation_ = 0, changed_born_ = 0;
  /// A genome for a place in a generation that has not begun.
  struct gift {
    std::shared_ptr<const clade::genome> genome;
    std::string origin;
  };
  std::map<candidate_id, gift> given_;
  std::uint64_t given_and_closed_ = 0; ///< Gifts of generations that are closed.
  std::vector<individual> children_;
  std::vector<individual> survivors_;
};

} // namespace clade
