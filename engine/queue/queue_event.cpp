// An event is a msgpack array of its kind and its fields:
//
//   event      = [1, id, submission] | [2, id, slots, worker if there is one] | [3, id, cause, who]
//              | [4, id, state, reason]
//              | [5, id, own doing if it is known]
//   submission = [user, kind, words, directory, name, priority, slots, device, seconds,
//                 after, requeue, once, ranks if there are any]
#include "engine/queue/queue_event.hpp"

#include "genome/base/text.hpp"
#include "genome/codec/fields.hpp"

#include <fmt/format.h>

#include <array>

namespace clade {

namespace {

constexpr std::array<std::string_view, entry_kinds> kind_names{"run", "train", "command"};
constexpr std::array<std::string_view, entry_states> state_names{
    "waiting", "held", "running", "preempted", "succeeded", "failed", "cancelled"};

} // namespace

std::string_view to_text(entry_kind k) {
  return kind_names.at(static_cast<std::size_t>(k));
}

std::string_view to_text(entry_state s) {
  return state_names.at(static_cast<std::size_t>(s));
}

static bool is_known(entry_state s) {
  return static_cast<std::size_t>(s) < entry_states;
}

static bool is_known(stop_cause c) {
  return static_cast<std::size_t>(c) < stop_causes;
}

void fields(auto& v, like<entry_submitted> auto& e) {
  v("id", e.id);
  v("what", e.what);
}

void fields(auto& v, like<entry_started> auto& e) {
  v("id", e.id);
  v("slots", e.slots);
  v.last("worker", e.worker);
}

void fields(auto& v, like<entry_stopping> auto& e) {
  v("id", e.id);
  v("cause", e.cause);
  v("who", e.who);
}

void fields(auto& v, like<entry_ended> auto& e) {
  v("id", e.id);
  v("state", e.state);
  v("reason", e.reason);
}

void fields(auto& v, like<entry_lost> auto& e) {
  v("id", e.id);
  v.last("own doing", e.own_doing);
}

namespace {

template<std::size_t Kind = 0>
queue_event read_event(decoder& in, std::uint64_t kind, std::size_t size) {
  if constexpr (Kind < std::variant_size_v<queue_event>) {
    if (kind != Kind + 1)
      return read_event<Kind + 1>(in, kind, size);
    std::variant_alternative_t<Kind, queue_event> e;
    read_fields(in, size, e);
    return e;
  }
  in.fail(fmt::format("unknown kind of event {}", kind));
  return {};
}

struct event_text {
  std::string operator()(const entry_submitted& e) const {
    return fmt::format("{} is submitted by {}", numbered(e.id), e.what.user);
  }
  std::string operator()(const entry_started& e) const {
    const std::string on = joined(e.slots);
    return fmt::format("{} starts on {}", numbered(e.id), on);
  }
  std::string operator()(const entry_stopping& e) const {
    constexpr std::array<const char*, stop_causes> told{
        "is cancelled by ", "makes room for ", "has used its time",
        "waits for the next server", "waits, since its machine leaves"};
    return fmt::format("{} {}{}", numbered(e.id),
                       told.at(static_cast<std::size_t>(e.cause)), e.who);
  }
  std::string operator()(const entry_ended& e) const {
    return fmt::format("{} {}{}", numbered(e.id), to_text(e.state),
                       e.reason.empty() ? "" : ": " + e.reason);
  }
  std::string operator()(const entry_lost& e) const {
    return numbered(e.id) + " is lost with its machine";
  }
};

} // namespace

bytes encode(const queue_event& e) {
  encoder out;
  std::visit(
      [&](const auto& one) {
        out.array(1 + count_fields(one).count).natural(kind_of(e));
        field_writer writer{out};
        fields(writer, one);
      },
      e);
  return out.take();
}

expected<queue_event> decode_queue_event(std::span<const char> data) {
  decoder in(data);
  const auto size = in.array();
  const auto kind = in.natural();
  auto e = read_event(in, kind, size == 0 ? 0 : size - 1);
  return in.finish().map([&] { return std::move(e); });
}

std::string to_text(const queue_event& e) {
  return std::visit(event_text{}, e);
}

} // namespace clade
