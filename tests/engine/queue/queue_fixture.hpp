#pragma once

#include "engine/queue/next_entries.hpp"

#include <catch2/catch.hpp>

namespace clade::test {

/// A queue with a clock that the test moves. Events are folded as a server does it.
struct queue_fixture {
  queue_state state{};
  queue_rules rules{};
  queue_slots slots{};
  std::int64_t now_ms = 1'000'000'000;
  /// All that happened, with its time.
  std::vector<std::pair<queue_event, std::int64_t>> events{};

  explicit queue_fixture(std::size_t cpus, std::size_t gpus = 0) {
    for (std::size_t i = 0; i < gpus; ++i)
      slots.all.push_back({.name = "cuda:" + std::to_string(i), .device = "cuda"});
    for (std::size_t i = 0; i < cpus; ++i)
      slots.all.push_back({.name = "cpu:" + std::to_string(i), .device = "cpu"});
  }

  void add_machine(const std::string& name, std::size_t cpus) {
    for (std::size_t i = 0; i < cpus; ++i)
      slots.all.push_back(
          {.name = "cpu:" + std::to_string(i) + "@" + name, .device = "cpu"});
  }

  void remove_machine(const std::string& name) {
    std::erase_if(slots.all, [&](const auto& s) { return machine_of(s.name) == name; });
  }

  expected<void> tell(const queue_event& e) {
    auto folded = apply(state, e, now_ms);
    if (folded)
      events.emplace_back(e, now_ms);
    return folded;
  }

  entry_id submit(queue_submission what) {
    if (what.user.empty())
      what.user = "ann";
    const auto id = state.last_id() + 1;
    REQUIRE(tell(entry_submitted{.id = id, .what = std::move(what)}));
    return id;
  }

  /// Does what is due; returns what began.
  std::vector<entry_id> step() {
    const auto next = find_next(state, rules, slots, now_ms);
    std::vector<entry_id> begun;
    for (const auto& s : next.starts) {
      REQUIRE(tell(entry_started{.id = s.id, .slots = s.slots}));
      begun.push_back(s.id);
    }
    for (const auto& s : next.stops)
      REQUIRE(tell(entry_stopping{.id = s.id,
                                  .cause = stop_cause::preempted,
                                  .who = "#" + std::to_string(s.for_the_sake_of)}));
    return begun;
  }

  /// Its process ends: when it was told to, as `clade run` does, else with success.
  void finish(entry_id id, int status = 0) {
    const auto& e = state.entries.at(id);
    REQUIRE(tell(end_of(id, e, e.stopping ? 130 << 8 : status << 8, "ended")));
  }

  void pass(std::chrono::milliseconds time) { now_ms += time.count(); }

  [[nodiscard]] entry_state state_of(entry_id id) const {
    return state.entries.at(id).state;
  }
};

/// A run, which can be preempted.
[[nodiscard]] inline queue_submission a_run(std::int64_t priority = 0,
                                            std::uint32_t slots = 1) {
  return {.kind = entry_kind::run,
          .words = {"digits.toml"},
          .directory = "/",
          .priority = priority,
          .slots = slots};
}

/// A command, which cannot.
[[nodiscard]] inline queue_submission a_command(std::uint32_t slots = 1,
                                                std::chrono::seconds time = {}) {
  return {.words = {"true"}, .directory = "/", .slots = slots, .time = time};
}

} // namespace clade::test
