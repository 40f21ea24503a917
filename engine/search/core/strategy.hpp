#pragma once

#include "engine/search/core/breeding.hpp"
#include "engine/search/core/candidate.hpp"
#include "engine/search/core/evolution_params.hpp"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// A search algorithm as a value: `ask` what to breed next, hear what was `born`, be
/// `tell`-ed its fitness, `close` a generation. State changes in born, tell and close
/// alone, which the fold of the run's records calls; so a stopped search is rebuilt by
/// its records. It knows nothing of actors, files or training.
class strategy {
public:
  virtual ~strategy() = default;

  /// Gets ready for the first `ask`. make_strategy calls it, once, when the object is
  /// whole: a base cannot do in its constructor what its strategy decides.
  virtual void start() {}

  /// Returns the orders that may be bred now and are not born yet, in the order of ids:
  /// those beyond an id (that the caller has asked for already), at most `limit`. Empty:
  /// results, or `close`, must come first, or the search is over. Asking changes nothing,
  /// and an order once given does not change.
  [[nodiscard]] virtual std::vector<breeding>
  ask(candidate_id beyond = 0,
      std::size_t limit = std::numeric_limits<std::size_t>::max()) const = 0;

  /// The candidate that `ask` named first.
  virtual void born(const candidate& c) = 0;

  /// One call for each candidate that was born, in any order.
  virtual void tell(const individual& evaluated) = 0;

  /// The generation that is complete and not closed yet, with its survivors, best first.
  [[nodiscard]] virtual std::optional<generation_closed> closing() const = 0;
  virtual void close() = 0;

  /// The search ends so many generations later; it must not be finished.
  virtual void extend(std::size_t generations) = 0;
  /// A genome of a person's takes the place of the first candidate that nobody can have
  /// asked for yet; false where there will be none any more.
  [[nodiscard]] virtual bool give(std::shared_ptr<const clade::genome> genome,
                                  const std::string& origin) = 0;
  /// It takes the place of the first candidate of all, of which nobody has asked yet;
  /// false where candidates were born, and of strategies that cannot.
  [[nodiscard]] virtual bool begin_with(std::shared_ptr<const clade::genome>,
                                        const std::string&) {
    return false;
  }

  /// One that was evaluated elsewhere, of an id that is none of its own, takes part as if
  /// it had been heard now, with no place in the budget; false, and nothing has changed,
  /// where the strategy takes none. Orders stay as they are. (islands.hpp)
  [[nodiscard]] virtual bool receive(const individual& migrant) {
    static_cast<void>(migrant);
    return false;
  }

  /// Goes on with other parameters and another seed, of the same strategy and tell_order;
  /// those that may breed stay. To be called when a generation has just been closed, or
  /// nothing was born yet; false, and nothing has changed, where that leaves no way to go
  /// on. (A fork of a run: run_forked.)
  [[nodiscard]] virtual bool change(const evolution_params& params,
                                    std::uint64_t seed) = 0;

  /// All that was asked for is told and closed, and there will be no more.
  [[nodiscard]] virtual bool finished() const = 0;

  /// Returns the candidates that may breed, best first.
  [[nodiscard]] virtual std::vector<individual> population() const = 0;

  /// The generation in progress; once all are closed, their number.
  [[nodiscard]] virtual std::uint64_t generation() const = 0;
};

} // namespace clade
