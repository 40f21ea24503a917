// Use decays exponentially: of a slot that was had for t seconds until now, what is left is
// the integral of 2^(-s/h) over s from 0 to t, h being the half-life: h/ln 2 (1 - 2^(-t/h)).
// An entry that ends adds this to its user's sum, after the sum has decayed to that moment.
// (SLURM's multifactor plugin does so at intervals, PriorityDecayHalfLife.)
#include "engine/queue/queue_state.hpp"

#include "genome/base/text.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <numbers>

namespace clade {

namespace {

double seconds_between(std::int64_t from_ms, std::int64_t to_ms) {
  return static_cast<double>(std::max<std::int64_t>(to_ms - from_ms, 0)) / 1000;
}

double left_after(double seconds, std::chrono::seconds half_life) {
  return std::exp2(-seconds / static_cast<double>(half_life.count()));
}

tl::unexpected<error> misplaced(const queue_event& e, const std::string& why) {
  return fail(error_kind::corrupt, fmt::format("\"{}\": {}", to_text(e), why));
}

/// Returns the machine of an entry that has had slots.
std::string machine_in_words(const queue_entry& e) {
  const auto name = e.slots.empty() ? std::string_view() : machine_of(e.slots.front());
  return name.empty() ? "the server" : std::string(name);
}

/// Folds one event; knows the state, the event and its time.
class folding {
public:
  folding(queue_state& state, const queue_event& e, std::int64_t unix_ms)
      : state_(state),
        event_(e),
        now_(unix_ms) {}

  expected<void> operator()(const entry_submitted& e) {
    if (e.id != state_.last_id() + 1)
      return misplaced(event_, "the next number is another");
    for (const auto before : e.what.after)
      if (!state_.entries.contains(before))
        return misplaced(event_, fmt::format("there is no #{}", before));
    if (!e.what.once.empty()
        && !state_.once.try_emplace({e.what.user, e.what.once}, e.id).second)
      return misplaced(event_,
                       fmt::format("{} has \"{}\" already", e.what.user, e.what.once));
    auto& added = state_.entries[e.id];
    added = {.what = e.what, .submitted_ms = now_};
    state_.waiting.insert(e.id);
    for (const auto before : e.what.after) {
      const auto state = state_.entries.at(before).state;
      if (!is_over(state))
        state_.dependents[before].push_back(e.id);
      else if (state != entry_state::succeeded)
        hold(e.id, before);
    }
    return {};
  }

  expected<void> operator()(const entry_started& e) {
    auto* found = in_state(e.id, [](entry_state s) { return is_waiting(s); });
    if (found == nullptr)
      return misplaced(event_, "it does not wait");
    if (!is_ready(state_, *found))
      return misplaced(event_, "what it comes after has not succeeded");
    if (e.slots.size() != found->what.slots)
      return misplaced(event_, fmt::format("it wants {} slots", found->what.slots));
    for (const auto& s : e.slots)
      if (machine_of(s) != machine_of(e.slots.front()))
        return misplaced(event_, "its slots are of several machines");
    for (const auto running : state_.running)
      for (const auto& s : state_.entries.at(running).slots)
        if (std::ranges::find(e.slots, s) != e.slots.end())
          return misplaced(event_, fmt::format("{} has {}", numbered(running), s));
    found->state = entry_state::running;
    found->started_ms = now_;
    found->slots = e.slots;
    found->worker = e.worker.value_or("");
    found->reason.clear();
    ++found->starts;
    state_.waiting.erase(e.id);
    state_.running.insert(e.id);
    return {};
  }

  expected<void> operator()(const entry_stopping& e) {
    auto* found = in_state(e.id, [](entry_state s) { return s == entry_state::running; });
    if (found == nullptr)
      return misplaced(event_, "it does not run");
    // Who cancels an entry does not want it back.
    if (found->stopping != stop_cause::cancelled)
      found->stopping = e.cause;
    found->reason = e.cause == stop_cause::preempted   ? "makes room for " + e.who
                    : e.cause == stop_cause::cancelled ? "cancelled by " + e.who
                                                       : std::string();
    return {};
  }

  expected<void> operator()(const entry_ended& e) {
    auto* found = in_state(e.id, [&](entry_state s) {
      return s == entry_state::running
             || (e.state == entry_state::cancelled && s < entry_state::succeeded);
    });
    if (found == nullptr)
      return misplaced(event_, "it does not run");
    if (e.state < entry_state::preempted)
      return misplaced(event_, "that is no end");
    leave(e.id, *found, e.state, e.reason);
    return {};
  }

  expected<void> operator()(const entry_lost& e) {
    auto* found = in_state(e.id, [](entry_state s) { return s == entry_state::running; });
    if (found == nullptr)
      return misplaced(event_, "it does not run");
    ++found->losses;
    found->own_losses += e.own_doing.value_or(true) ? 1 : 0;
    const auto times =
        fmt::format("{}{} with {}", found->losses,
                    found->losses == 1 ? " time" : " times", machine_in_words(*found));
    if (found->stopping == stop_cause::cancelled)
      leave(e.id, *found, entry_state::cancelled, found->reason);
    else if (found->own_losses >= most_losses)
      leave(e.id, *found, entry_state::failed,
            fmt::format("was lost {}, {} of them alone on a machine that went down "
                        "meanwhile; submit it again",
                        times, most_losses));
    else
      leave(e.id, *found, entry_state::preempted, "was lost " + times);
    return {};
  }

private:
  template<class In>
  queue_entry* in_state(entry_id id, In in) {
    const auto found = state_.entries.find(id);
    return found != state_.entries.end() && in(found->second.state) ? &found->second
                                                                    : nullptr;
  }

  void leave(entry_id id, queue_entry& e, entry_state next, const std::string& reason) {
    if (e.state == entry_state::running) {
      auto& use = state_.use[e.what.user];
      use = {.slot_seconds = use_at(use, state_.half_life, now_)
                             + use_of_running(e, state_.half_life, now_),
             .at_ms = now_};
    }
    e.state = next;
    e.ended_ms = now_;
    e.stopping.reset();
    e.reason = reason;
    state_.running.erase(id);
    state_.waiting.erase(id);
    if (is_waiting(next)) {
      state_.waiting.insert(id);
      return;
    }
    release_dependents(id, next);
  }

  void release_dependents(entry_id id, entry_state state) {
    const auto after = state_.dependents.extract(id);
    if (after && state != entry_state::succeeded)
      for (const auto one : after.mapped())
        hold(one, id);
  }

  /// Chains of entries may be long, so they are not held by recursion.
  void hold(entry_id id, entry_id cause) {
    std::vector<std::pair<entry_id, entry_id>> due{{id, cause}};
    while (!due.empty()) {
      const auto [one, why] = due.back();
      due.pop_back();
      auto& e = state_.entries.at(one);
      if (!is_waiting(e.state))
        continue; // It is held, or was cancelled.
      e.state = entry_state::held;
      e.reason = numbered(why) + " did not succeed";
      state_.waiting.erase(one);
      if (const auto after = state_.dependents.extract(one))
        for (const auto next : after.mapped())
          due.emplace_back(next, one);
    }
  }

  queue_state& state_;
  const queue_event& event_;
  std::int64_t now_;
};

} // namespace

std::uint32_t queue_rules::quota_of(const std::string& user) const {
  const auto own = quotas.find(user);
  return own == quotas.end() ? quota : own->second;
}

expected<void> apply(queue_state& state, const queue_event& e, std::int64_t unix_ms) {
  return std::visit(folding(state, e, unix_ms), e);
}

double use_at(const decayed_use& use, std::chrono::seconds half_life,
              std::int64_t unix_ms) {
  return use.slot_seconds * left_after(seconds_between(use.at_ms, unix_ms), half_life);
}

double use_of_running(const queue_entry& e, std::chrono::seconds half_life,
                      std::int64_t unix_ms) {
  const auto mean = static_cast<double>(half_life.count()) / std::numbers::ln2;
  const auto had = seconds_between(e.started_ms, unix_ms);
  return static_cast<double>(e.what.slots) * mean * (1 - left_after(had, half_life));
}

std::optional<std::string> home_of(const queue_entry& e) {
  if (!is_resumable(e.what.kind) || e.slots.empty())
    return std::nullopt;
  return std::string(machine_of(e.slots.front()));
}

bool is_ready(const queue_state& state, const queue_entry& e) {
  return std::ranges::all_of(e.what.after, [&](entry_id before) {
    return state.entries.at(before).state == entry_state::succeeded;
  });
}

entry_ended end_of(entry_id id, const queue_entry& e, int wait_status,
                   const std::string& text) {
  // `clade run` ends with 130 when it was told to end and can be resumed.
  constexpr int interrupted = 128 + SIGINT;
  const bool done = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
  const bool stopped =
      WIFSIGNALED(wait_status)
      || (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == interrupted);
  entry_ended end{.id = id};
  if (!e.stopping) {
    end.state = done ? entry_state::succeeded : entry_state::failed;
  } else if (*e.stopping == stop_cause::cancelled) {
    end.state = entry_state::cancelled;
    end.reason = e.reason;
    return end;
  } else if (*e.stopping == stop_cause::out_of_time) {
    end.state = entry_state::failed;
    end.reason = fmt::format("ran longer than its {} s; {}", e.what.time.count(), text);
    return end;
  } else if (is_resumable(e.what.kind)) {
    // It may have finished, or failed, by itself meanwhile.
    end.state = done      ? entry_state::succeeded
                : stopped ? entry_state::preempted
                          : entry_state::failed;
  } else {
    // The effect of the signal on a command is the command's own affair.
    end.state = entry_state::preempted;
  }
  if (end.state == entry_state::failed)
    end.reason = text;
  if (end.state == entry_state::preempted)
    end.reason = *e.stopping == stop_cause::preempted      ? "made room"
                 : *e.stopping == stop_cause::machine_left ? machine_in_words(e) + " left"
                                                           : "the server ended";
  return end;
}

std::string slots_in_words(std::size_t count, const std::string& device) {
  return fmt::format("{}{}{}", count, device.empty() ? "" : " " + device,
                     count == 1 ? " slot" : " slots");
}

std::string to_text(const queue_state& state) {
  std::string out;
  for (const auto& [id, e] : state.entries) {
    out += fmt::format("{} {} {} p{} {}", numbered(id), e.what.user, to_text(e.state),
                       e.what.priority, slots_in_words(e.what.slots));
    if (e.state == entry_state::running)
      for (const auto& s : e.slots)
        out += " " + s;
    out += "\n";
  }
  return out;
}

} // namespace clade
