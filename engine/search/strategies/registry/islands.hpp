#pragma once

#include "engine/search/bases/turns.hpp"

#include <map>
#include <memory>
#include <vector>

namespace clade {

/// The parameters that islands alone reads.
struct islands_params {
  /// The strategies of the islands, or how many islands run "regularized". The population
  /// must be a multiple of their number.
  std::vector<std::string> strategies = {"4"};
  /// "ring" or "star": who sends its best to whom.
  std::string topology = "ring";
  /// After how many results of an island it does so; 0: never.
  std::size_t migration = 20;
};

void keys(own_keys& v, islands_params& p);

/// Several searches side by side that exchange their best now and then: the island model
/// (Tanese, "Distributed Genetic Algorithms", ICGA 1989; topologies as in pagmo: Biscani
/// and Izzo, JOSS 2020). `evolution.islands` names each island's strategy, or says how
/// many run "regularised". With n islands, candidate k is island ((k - 1) mod n)'s, so
/// that all have the same share of the budget; each has population / n and in_flight / n
/// of its own, no more elites and no larger a tournament than that, and a seed of its
/// own. An island that waits for results makes those behind it in this order wait too.
///
/// After every `migration` results of an island, its best goes to its neighbours, if they
/// do not know it:
///
///     ring   0 -> 1 -> .. -> n - 1 -> 0
///     star   the first island -> all others, and each of them -> the first
///
/// A strategy that takes migrants (`strategy::receive`) has it among its own at once, as
/// it was evaluated. To any other it is given as a genome, as a person's would be: it
/// takes the place of a candidate there, and its evaluation is copied, since its network
/// is known.
///
/// The survivors of a generation are those of all islands. Take it where it is not known
/// which strategy suits, so that each contributes what it finds, or where one population
/// converges too soon; for a small budget the best of them alone is better. Measured with
/// 200 evaluations and 60 seeds, the mean regret without and with migration after 10:
/// NAS-Bench-201's CIFAR-100 .61 / .49 and ImageNet16-120 1.08 / .89 for "regularised",
/// "tpe" and "local_search", and .95 / .83 and 1.52 / 1.18 for 4 of "regularised".
class islands final : public turns {
public:
  islands(const evolution_params& params, std::uint64_t seed,
          std::shared_ptr<const search_space> space);

  [[nodiscard]] static expected<void> validate(const evolution_params& params);
  /// The parameters of each island.
  [[nodiscard]] static std::vector<evolution_params>
  parts(const evolution_params& params);

  [[nodiscard]] std::vector<breeding> ask(candidate_id beyond,
                                          std::size_t limit) const override;
  void born(const candidate& c) override;
  void extend(std::size_t generations) override;
  [[nodiscard]] bool give(std::shared_ptr<const clade::genome> genome,
                          const std::string& origin) override;
  /// The islands must stay the same, and, as results "arrived", each must just have
  /// closed a generation of its own.
  [[nodiscard]] bool change(const evolution_params& params, std::uint64_t seed) override;
  /// Returns the populations of all islands, each member once.
  [[nodiscard]] std::vector<individual> population() const override;

private:
  struct island {
    std::unique_ptr<strategy> search;
    std::uint64_t heard = 0;
    std::map<std::size_t, candidate_id> sent; ///< To each neighbour last.
  };

  [[nodiscard]] const islands_params& own() const {
    return params().own.of<islands_params>();
  }

  void take(const individual& evaluated) override;
  void migrate(std::size_t from);
  void send(const individual& best, std::size_t from, std::size_t to);

  /// Within an island its own candidates are numbered from 1; others' have their number
  /// of the run and a mark.
  [[nodiscard]] candidate_id inside(std::size_t island, candidate_id id) const;
  [[nodiscard]] candidate_id outside(std::size_t island, candidate_id id) const;
  [[nodiscard]] individual inside(std::size_t island, individual of_run) const;
  [[nodiscard]] individual outside(std::size_t island, individual of_island) const;
  [[nodiscard]] std::size_t home(candidate_id id) const;

  std::vector<island> islands_;
  std::uint64_t born_ = 0, gifts_ = 0;
};

/// The strategies of `evolution.islands`, one for each island.
[[nodiscard]] std::vector<std::string> island_strategies(const evolution_params& params);

/// The parameters of one of them.
[[nodiscard]] evolution_params island_params(const evolution_params& params,
                                             const std::string& strategy);

} // namespace clade
