// An event of a queue from bytes is written with bytes that give the same event; folded
// into a small queue it fits, or changes nothing.
#include "engine/queue/queue_state.hpp"
#include "tests/fuzz/law.hpp"

using namespace clade;
using namespace clade::fuzz;

namespace {

/// One that waits, one that runs, one that comes after both.
queue_state small_queue() {
  queue_state state;
  const std::vector<queue_event> events{
      entry_submitted{.id = 1, .what = {.user = "ann"}},
      entry_submitted{.id = 2, .what = {.user = "bob"}},
      entry_submitted{.id = 3, .what = {.user = "ann", .after = {1, 2}}},
      entry_started{.id = 2, .slots = {"cpu:0"}}};
  for (const auto& e : events)
    hold(apply(state, e, 1000), "a queue is made of its events");
  return state;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto e = decode_queue_event(text_of(data, size));
  if (!e)
    return refused(e);
  const bytes written = encode(*e);
  const auto again = decode_queue_event(written);
  hold(again, "what is written can be read");
  hold(encode(*again) == written, "what is read again is written with the same bytes");
  hold(!to_text(*e).empty(), "an event has a text");
  const auto before = small_queue();
  auto state = before;
  if (!apply(state, *e, 2000))
    hold(state == before, "what does not fit changes nothing");
  for (const auto& [id, one] : state.entries)
    hold(is_waiting(one.state) == state.waiting.contains(id),
         "what waits is known to wait");
  return 0;
}
