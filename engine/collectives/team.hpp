#pragma once

#include "engine/collectives/links.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>

namespace clade {

/// Makes links that carry what members send in another way, of those by which the members
/// have met: all members do so at once. It keeps those, by which it hears who is lost. It
/// may throw `team_broken`.
using make_carrier = std::function<std::unique_ptr<links>(std::unique_ptr<links> met)>;

/// The members that do one task together, as one of them sees it. Who they are, the head
/// decides; it forms the team anew when one is lost or another comes.
class team {
public:
  virtual ~team() = default;

  /// So many parts the task has, whoever does them: results depend on this, not on how
  /// many members there are.
  [[nodiscard]] virtual std::size_t shares() const = 0;

  /// Blocks until all present members are linked, and returns the links, which are void
  /// when one of their calls has thrown `team_broken`. Member 0 reports for all. Throws
  /// `task_dropped` when nobody wants the task any more.
  [[nodiscard]] virtual links& form() = 0;

  /// From the next `form` on its links are what `carrier` makes of those by which the
  /// members meet.
  virtual void carry_by(make_carrier carrier) = 0;

  /// This member has what others need to go on with the task, after so many exchanges;
  /// for who watches.
  virtual void has_done(std::uint64_t exchanges) = 0;
};

/// Nobody wants the task of the team any more.
class task_dropped : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace clade
