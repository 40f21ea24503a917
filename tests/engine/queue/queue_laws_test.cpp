// The laws that hold for every queue, whatever is submitted and whenever it ends.

#include "tests/engine/queue/queue_fixture.hpp"

#include <rapidcheck.h>

#include <algorithm>

using namespace clade;
using namespace clade::test;
using namespace std::chrono_literals;

namespace {

/// An arbitrary submission that the machine of the fixture is large enough for.
queue_submission arbitrary(queue_fixture& q, std::uint32_t draw) {
  const auto pick = [&](std::uint32_t n) {
    const auto picked = draw % n;
    draw /= n;
    return picked;
  };
  constexpr const char* users[] = {"ann", "bob", "eve"};
  queue_submission s{.user = users[pick(3)],
                     .kind = static_cast<entry_kind>(pick(3)),
                     .words = {"x"},
                     .directory = "/",
                     .priority = static_cast<std::int64_t>(pick(3)),
                     .slots = 1 + pick(2)};
  if (pick(4) == 0)
    s.device = "cuda";
  if (pick(2) == 0)
    s.time = std::chrono::seconds(1 + pick(30));
  s.requeue = pick(2) == 0;
  if (pick(3) == 0 && q.state.last_id() > 0)
    s.after = {1 + draw % q.state.last_id()};
  return s;
}

void check_laws(const queue_fixture& q) {
  std::set<std::string> taken;
  std::map<std::string, std::uint32_t> held;
  for (const auto id : q.state.running) {
    const auto& e = q.state.entries.at(id);
    RC_ASSERT(e.state == entry_state::running);
    RC_ASSERT(e.slots.size() == e.what.slots);
    for (const auto& s : e.slots)
      RC_ASSERT(machine_of(s) == machine_of(e.slots.front()));
    for (const auto& s : e.slots) {
      RC_ASSERT(taken.insert(s).second); // No slot has two.
      const auto slot = std::ranges::find(q.slots.all, s, &queue_slot::name);
      RC_ASSERT(slot != q.slots.all.end() && serves(*slot, e.what));
    }
    held[e.what.user] += e.what.slots;
    for (const auto before : e.what.after)
      RC_ASSERT(q.state_of(before) == entry_state::succeeded);
  }
  for (const auto& [user, slots] : held)
    RC_ASSERT(slots <= q.rules.quota_of(user));
  for (const auto& [id, e] : q.state.entries) {
    RC_ASSERT(is_waiting(e.state) == q.state.waiting.contains(id));
    RC_ASSERT((e.state == entry_state::running) == q.state.running.contains(id));
  }
}

/// One running entry ends, chosen and how by the draw.
void end_one(queue_fixture& q, std::uint32_t draw) {
  if (q.state.running.empty())
    return;
  const auto id = *std::next(q.state.running.begin(),
                             static_cast<std::ptrdiff_t>(draw % q.state.running.size()));
  if (draw % 11 == 0)
    RC_ASSERT(q.tell(entry_lost{id}));
  else
    q.finish(id, draw % 7 == 0 ? 1 : 0);
}

/// A machine comes, or goes with what runs there.
void change_machines(queue_fixture& q) {
  if (most_together(q.slots, {.device = "cpu"}) < 4)
    return q.add_machine("rome", 4);
  q.remove_machine("rome");
  const auto running = q.state.running;
  for (const auto id : running)
    if (machine_of(q.state.entries.at(id).slots.front()) == "rome")
      RC_ASSERT(q.tell(entry_lost{id}));
}

/// Ends the entries that have used their time, as a server does it.
void end_those_out_of_time(queue_fixture& q) {
  const auto running = q.state.running;
  for (const auto id : running) {
    const auto& e = q.state.entries.at(id);
    if (e.what.time.count() == 0
        || q.now_ms < e.started_ms + std::chrono::milliseconds(e.what.time).count())
      continue;
    RC_ASSERT(q.tell(entry_stopping{.id = id, .cause = stop_cause::out_of_time}));
    q.finish(id);
  }
}

queue_state folded(const queue_fixture& q) {
  queue_state again;
  for (const auto& [e, at] : q.events) {
    const auto read = decode_queue_event(encode(e));
    RC_ASSERT(read.has_value());
    RC_ASSERT(apply(again, *read, at).has_value());
  }
  return again;
}

} // namespace

TEST_CASE("queue laws: whatever is submitted and ends, each entry ends once, quotas and "
          "dependencies are kept, and the fold is the live state") {
  CHECK(rc::check([](const std::vector<std::uint32_t>& draws) {
    queue_fixture q(3, 2);
    q.rules.quota = 4;
    q.rules.quotas["eve"] = 2;
    for (const auto draw : draws) {
      q.pass(std::chrono::milliseconds(draw % 5000));
      if (draw % 3 != 0)
        q.submit(arbitrary(q, draw / 3));
      else
        end_one(q, draw / 3);
      if (draw % 13 == 0)
        change_machines(q);
      end_those_out_of_time(q);
      q.step();
      check_laws(q);
    }
    std::map<entry_id, std::size_t> ends;
    for (std::size_t turn = 0; !q.state.running.empty(); ++turn) {
      RC_ASSERT(turn < 20 * draws.size()); // They do not stop each other for ever.
      q.pass(1s);
      q.finish(*q.state.running.begin());
      q.step();
      check_laws(q);
    }
    RC_ASSERT(q.state.waiting.empty());
    for (const auto& [e, _] : q.events)
      if (const auto* end = std::get_if<entry_ended>(&e);
          end != nullptr && end->state != entry_state::preempted)
        ++ends[end->id];
    for (const auto& [id, e] : q.state.entries)
      RC_ASSERT(e.state == entry_state::held || e.own_losses == most_losses
                || ends[id] == 1);
    RC_ASSERT(folded(q) == q.state);
  }));
}

TEST_CASE("queue laws: a gang begins as soon as what ran before it has used its time") {
  CHECK(rc::check([](const std::vector<std::uint8_t>& draws) {
    queue_fixture q(4);
    std::int64_t latest = q.now_ms;
    for (int i = 0; i < 4; ++i) {
      const auto time =
          std::chrono::seconds(1 + (draws.empty() ? 0 : draws[0] % (i + 3)));
      q.submit(a_command(1, time));
      latest = std::max(latest, q.now_ms + std::chrono::milliseconds(time).count());
    }
    q.step();
    const auto gang = q.submit(a_command(3));
    for (std::size_t turn = 0; q.state_of(gang) == entry_state::waiting; ++turn) {
      RC_ASSERT(q.now_ms <= latest);
      const auto draw = draws.empty() ? 0 : draws[turn % draws.size()];
      // Others keep coming.
      q.submit(a_command(1, std::chrono::seconds(draw % 4)));
      q.step();
      q.pass(100ms);
      end_those_out_of_time(q);
      q.step();
    }
  }));
}

TEST_CASE("queue laws: nothing starves behind higher priorities that keep coming") {
  queue_fixture q(1);
  q.rules.ageing = 60s;
  auto low = a_command();
  low.user = "bob";
  q.submit(a_run(5));
  q.step();
  const auto id = q.submit(low);
  const auto begun = q.now_ms;
  while (q.state_of(id) == entry_state::waiting) {
    REQUIRE(q.now_ms - begun < 7 * 60'000);
    q.submit(a_run(5));
    q.pass(1s);
    q.finish(*q.state.running.begin());
    q.step();
  }
}

TEST_CASE("queue laws: nothing starves behind a user who submits without end") {
  queue_fixture q(2);
  auto other = a_command(2);
  other.user = "bob";
  for (int i = 0; i < 100; ++i)
    q.submit(a_command());
  q.step();
  const auto id = q.submit(other);
  for (int turn = 0; q.state_of(id) == entry_state::waiting; ++turn) {
    REQUIRE(turn < 4);
    q.submit(a_command());
    q.pass(1s);
    q.finish(*q.state.running.begin());
    q.step();
  }
}
