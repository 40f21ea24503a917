#pragma once

#include "engine/run/state/run_state.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace clade {

/// An open candidate to be settled without training: its network equals that of
/// `original`, whose evaluation is recorded. `copy_for` makes the evaluation.
struct copying {
  candidate_id id = 0;
  candidate_id original = 0;

  friend bool operator==(const copying&, const copying&) = default;
};

/// The next steps of a run; several things may be due at once, in any order. All empty:
/// wait for evaluations of what is open (or nothing is left to do).
struct next_steps {
  std::vector<breeding> breed;            ///< To be made by generators, then `resolve`d.
  std::vector<copying> copy;              ///< To be recorded as candidate_evaluated.
  std::optional<generation_closed> close; ///< To be recorded.
  bool plan = false; ///< The search is over: plan its end, record final_planned.
  std::vector<candidate> finals; ///< Trainings of that plan, to be recorded as born.
  bool finish = false; ///< All is over: examine the champion, record run_finished.

  [[nodiscard]] bool waits() const {
    return breed.empty() && copy.empty() && !close && !plan && finals.empty() && !finish;
  }
};

/// Decides on nothing but the fold, so that a run goes on alike wherever it was stopped.
/// Orders up to the id `ordered` are left out: the caller has them under way. Other steps
/// that are under way (copies that it fetches, a close that is being recorded) come again
/// until the record is applied, and the caller has to pass over them.
[[nodiscard]] next_steps next_step(const run_state& state, candidate_id ordered = 0);

/// An order and what a generator made of it.
struct bred {
  breeding order;
  candidate made;
};

/// The same order is carried out at most so many times; the last result is taken, equal
/// or not.
inline constexpr std::uint64_t max_breeding_attempts = 8;

struct resolution {
  std::vector<candidate> accepted; ///< To be recorded as candidate_born, in this order.
  std::vector<breeding> again;     ///< To be carried out again, `attempt` raised.
  std::vector<bred> held; ///< To be given to `resolve` again with what comes next.
};

/// Sees to it that no network is trained twice: sorts what generators made of orders, in
/// whatever order it came and however much of it is there. A candidate is accepted once
/// all with smaller ids are, and if its network differs from all of theirs; one that
/// cannot differ any more is bred again, or, at the last attempt, accepted with
/// `equal_to` set. So which networks are born does not depend on which generator was
/// faster, nor on where a run was stopped.
[[nodiscard]] resolution resolve(const run_state& state, std::vector<bred> brood);

} // namespace clade
