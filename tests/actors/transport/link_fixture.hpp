#pragma once

#include "actors/transport/link/link.hpp"
#include "tests/actors/stub_node.hpp"
#include "tests/actors/test_system.hpp"

#include <catch2/catch.hpp>

#include <deque>
#include <map>
#include <optional>

namespace clade::test {

using namespace std::chrono_literals;

/// A head as a link knows it, and what it was told. It has one blob to lend, and takes
/// pieces.
struct head_side {
  bool answers = true;  ///< Heartbeats.
  bool knows_it = true; ///< The node.
  bool welcomes = true;
  bool takes = true;   ///< Results.
  bool waits = false;  ///< It answers requests for pieces one by one, at each `tick`.
  bytes lends;         ///< The blob.
  std::string failure; ///< The failure that it answers in place of a piece.
  /// The bytes that it has of a blob that is sent, before the first piece.
  std::uint64_t has = 0;
  std::string refusal; ///< Why it takes no piece.

  std::optional<node_hello> hello;
  std::size_t heartbeats = 0, epochs = 0;
  std::vector<result> results;
  std::vector<task_id> handed_back;
  std::deque<std::pair<caf::typed_response_promise<chunk>, chunk>> waiting;
  std::vector<std::uint64_t> asked; ///< The offsets of pieces.
  std::map<blob_part, bytes> got;

  caf::result<taken> take(const clade::results& message) {
    if (!takes)
      return caf::make_error(caf::sec::invalid_argument);
    taken answer;
    for (const auto& r : message.batch) {
      results.push_back(r);
      answer.ids.push_back(r.id);
    }
    return answer;
  }

  caf::typed_response_promise<chunk> lend(caf::typed_response_promise<chunk> promise,
                                          std::uint64_t offset) {
    asked.push_back(offset);
    const auto answer = failure.empty() ? chunk{{}, lends.substr(offset, piece_bytes)}
                                        : chunk{failure, {}};
    if (waits)
      waiting.emplace_back(promise, answer);
    else
      promise.deliver(answer);
    return promise;
  }

  piece_taken take(const piece& p) {
    auto& content = got[p.part];
    if (content.empty())
      content = bytes(has, '?');
    if (p.offset == content.size())
      content += p.data;
    return {refusal, content.size()};
  }
};

inline dispatcher_actor::behavior_type stub_dispatcher(dispatcher_actor::pointer self,
                                                       std::shared_ptr<head_side> h) {
  return {
      [h](const node_hello& hello, const link_actor&) -> caf::result<node_welcome> {
        h->hello = hello;
        if (!h->welcomes)
          return caf::make_error(caf::sec::invalid_argument);
        return node_welcome{.node = 9, .run = 1, .heartbeat_ms = 500};
      },
      [](const node_ready&) {},
      [h](const results& r) { return h->take(r); },
      [h](const epoch_passed&) { ++h->epochs; },
      [](const team_passed&) {},
      [self, h](const heartbeat&) -> caf::result<heartbeat_answer> {
        ++h->heartbeats;
        if (!h->answers)
          return self->make_response_promise<heartbeat_answer>();
        return heartbeat_answer{h->knows_it};
      },
      [h](const leaving& m) {
        h->handed_back.insert(h->handed_back.end(), m.not_done.begin(), m.not_done.end());
        return may_leave{};
      },
      [](const fetch_chunk&) {
        return chunk{"none", {}};
      },
      [self, h](const fetch_piece& f) {
        return h->lend(self->make_response_promise<chunk>(), f.offset);
      },
      [h](const piece& p) { return h->take(p); },
      [h](tick) {
        auto [promise, answer] = h->waiting.front();
        h->waiting.pop_front();
        promise.deliver(answer);
      },
      [](serve_nodes) {},
      [](const selector_actor&) {},
      [](const submission&) {},
      [](const withdraw&) { return withdrawn{}; },
      [](const hold_back&) {},
      [](const drop_candidate&) {},
      [](const test_request&) { return test_answer{}; },
      [](const slots_query&) { return slots_view{}; },
      [](const leave&) {},
  };
}

/// A node as a link knows it, and what it was told.
struct node_side final : stub_node_events {
  void welcomed(const node_welcome& message, const link_actor&) override {
    welcome = message;
  }
  void assigned(const assignments& work) override {
    given.insert(given.end(), work.batch.begin(), work.batch.end());
  }
  void dismissed(const leave& message) override { dismissal = message.reason; }
  void forget(const taken& what) override {
    forgotten.insert(forgotten.end(), what.ids.begin(), what.ids.end());
  }
  void allowed_to_leave() override { may_leave = true; }

  std::optional<node_welcome> welcome;
  std::vector<assignment> given;
  std::vector<task_id> forgotten;
  std::string dismissal;
  bool may_leave = false;
};

/// A link between stubs of a node and a head.
struct link_fixture {
  test_system system;
  std::shared_ptr<head_side> head = std::make_shared<head_side>();
  std::shared_ptr<node_side> node = std::make_shared<node_side>();
  std::vector<std::string> ends; ///< Why connections ended.
  dispatcher_actor dispatcher = system->spawn(stub_dispatcher, head);
  node_actor home = system->spawn(stub_node, node);
  caf::actor watcher = system->spawn([this]() -> caf::behavior {
    return {[this](const std::string& reason) { ends.push_back(reason); }};
  });
  link_actor link;

  void connect() {
    link = system->spawn(link_behavior, link_params{.dispatcher = dispatcher,
                                                    .node = home,
                                                    .watcher = watcher,
                                                    .silence = 2s});
    system.settle();
  }

  ~link_fixture() {
    for (const caf::actor& a :
         {caf::actor_cast<caf::actor>(link), caf::actor_cast<caf::actor>(dispatcher),
          caf::actor_cast<caf::actor>(home), watcher})
      if (a)
        caf::anon_send_exit(a, caf::exit_reason::user_shutdown);
    system.settle();
  }

  template<class Message>
  void send(const Message& m) {
    caf::anon_send(link, m);
    system.settle();
  }
};

} // namespace clade::test
