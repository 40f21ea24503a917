#pragma once

#include "engine/report/view/view.hpp"
#include "engine/telemetry/picture/picture.hpp"
#include "engine/telemetry/picture/slots.hpp"

#include <chrono>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace clade {

/// A record, as views get it.
struct record_event {
  std::uint64_t sequence = 0;
  std::int64_t unix_ms = 0;
  clade::record record;
};

/// An epoch of a candidate in training ended; may be lost.
struct epoch_event {
  std::string slot;
  candidate_id id = 0;
  std::uint32_t number = 0, of = 0;
  std::vector<metric> metrics;
};

/// The picture was taken anew: what views kept beside it is void.
struct restarted {};

using news = std::variant<record_event, epoch_event, slots_view, restarted>;

/// The state that views say they show: a head that is at work, or that is not heard of
/// for now, a replay, or what a store says of a run.
enum class feed_state : std::uint8_t {
  live,
  not_connected,
  replay,
  running,
  stopped,
  finished,
};

/// "live", "not connected", "replay", "running", "stopped", "finished"
[[nodiscard]] const char* to_text(feed_state s);
/// None: no state has this text.
[[nodiscard]] std::optional<feed_state> parse_feed_state(std::string_view text);
/// Returns what is shown of a run that is stored.
[[nodiscard]] feed_state feed_state_of(run_standing s);

/// A feed is where views get a run from: a head that is at work, a store, or a replay of
/// one. It is used by one thread.
class feed {
public:
  virtual ~feed() = default;

  [[nodiscard]] virtual feed_state showing() const = 0;
  /// The name of the experiment.
  [[nodiscard]] virtual std::string name() const = 0;

  [[nodiscard]] virtual const run_picture& picture() const = 0;
  /// Returns what slots do at present; none of a store.
  [[nodiscard]] virtual const slots_view& slots() const = 0;

  /// Blocks until something new is there or the time has passed; all that came, in its
  /// order, folded into `picture` already. When a head ends the feed becomes one of a
  /// store, and `showing` says so; when the next one starts it is live again.
  [[nodiscard]] virtual expected<std::vector<news>>
  wait(std::chrono::milliseconds most) = 0;
  /// Becomes readable when `wait` would not block; -1: never.
  [[nodiscard]] virtual int descriptor() const = 0;

  /// Lets a replay that stops after each generation go on to the next.
  virtual void step() {}

  /// A candidate with its genome, curve and line of ancestors; `not_found`.
  [[nodiscard]] virtual expected<genome_view> candidate(candidate_id id) = 0;
  /// The candidates after `after` by id, at most `count`.
  [[nodiscard]] virtual expected<std::vector<candidate_row>>
  candidates(candidate_id after, std::size_t count) = 0;

  /// Whether a head is there that may be told something; it may still refuse.
  [[nodiscard]] virtual bool takes_orders() const { return false; }
  /// Whether notes and tags can be written: by a head, or into the store.
  [[nodiscard]] virtual bool takes_annotations() const { return takes_orders(); }
  /// Tells the run something, and blocks until it answers; an error is why it refuses.
  [[nodiscard]] virtual expected<void> tell(const operator_command&) {
    return fail(error_kind::invalid_input, "no head is at work on this run");
  }
};

} // namespace clade
