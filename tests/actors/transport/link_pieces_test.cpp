#include "actors/transport/link.hpp"
#include "engine/store/blob_folder.hpp"
#include "tests/actors/test_system.hpp"
#include "tests/support/content_of.hpp"

#include <catch2/catch.hpp>

#include <deque>

using namespace clade;
using namespace std::chrono_literals;

namespace {

bytes numbered(std::size_t size) {
  bytes b(size, '\0');
  for (std::size_t i = 0; i < size; ++i)
    b[i] = static_cast<char>(i / 1000 + i);
  return b;
}

/// A head that has one blob to lend, and takes pieces.
struct head_side {
  bytes lends;
  std::string failure;   ///< What it answers in place of a piece.
  std::uint64_t has = 0; ///< What it has of a blob that is sent, before the first piece.
  std::string refusal;   ///< Why it takes no piece.
  bool waits = false;    ///< It answers requests for pieces one by one, at each `tick`.
  std::deque<std::pair<caf::typed_response_promise<chunk>, chunk>> waiting;
  std::vector<std::uint64_t> asked;
  std::map<blob_part, bytes> got;
  std::vector<result> results;
  std::vector<task_id> handed_back;
};

dispatcher_actor::behavior_type stub_dispatcher(dispatcher_actor::pointer self,
                                                std::shared_ptr<head_side> h) {
  return {
      [](const node_hello&, const link_actor&) {
        return node_welcome{.node = 1, .run = 1};
      },
      [](const node_ready&) {},
      [h](const results& m) {
        taken answer;
        for (const auto& r : m.batch) {
          h->results.push_back(r);
          answer.ids.push_back(r.id);
        }
        return answer;
      },
      [](const epoch_passed&) {},
      [](const heartbeat&) { return heartbeat_answer{true}; },
      [h](const leaving& m) {
        h->handed_back.insert(h->handed_back.end(), m.not_done.begin(), m.not_done.end());
        return may_leave{};
      },
      [](const fetch_chunk&) {
        return chunk{"none", {}};
      },
      [h, self](const fetch_piece& f) {
        h->asked.push_back(f.offset);
        auto promise = self->make_response_promise<chunk>();
        const auto answer = h->failure.empty()
                                ? chunk{{}, h->lends.substr(f.offset, piece_bytes)}
                                : chunk{h->failure, {}};
        if (h->waits)
          h->waiting.emplace_back(promise, answer);
        else
          promise.deliver(answer);
        return promise;
      },
      [h](const piece& p) {
        auto& got = h->got[p.part];
        if (got.empty())
          got = bytes(h->has, '?');
        if (p.offset == got.size())
          got += p.data;
        return piece_taken{h->refusal, got.size()};
      },
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

/// What a node heard.
struct node_side {
  std::vector<assignment> assignments;
  std::vector<task_id> taken;
  bool may_leave = false;
};

node_actor::behavior_type stub_node(node_actor::pointer, std::shared_ptr<node_side> n) {
  return {
      [](link_up) { return node_hello{.slot = "cpu:0"}; },
      [](const node_welcome&, const link_actor&) {},
      [n](const assignments& m) {
        n->assignments.insert(n->assignments.end(), m.batch.begin(), m.batch.end());
      },
      [](const leave&) {},
      [n](const taken& t) {
        n->taken.insert(n->taken.end(), t.ids.begin(), t.ids.end());
      },
      [n](clade::may_leave) { n->may_leave = true; },
      [](const node_ready&) {},
      [](const results&) {},
      [](const epoch_passed&) {},
      [](const fetch_chunk&) {
        return chunk{"none", {}};
      },
      [](drain) {},
      [](drain_over) {},
      [](tick) {},
  };
}

struct fixture {
  test::test_system system;
  std::shared_ptr<head_side> head = std::make_shared<head_side>();
  std::shared_ptr<node_side> node = std::make_shared<node_side>();
  caf::scoped_actor watcher{*system};
  dispatcher_actor dispatcher = system->spawn(stub_dispatcher, head);
  node_actor home = system->spawn(stub_node, node);
  link_actor link = system->spawn(
      link_behavior, link_params{.dispatcher = dispatcher,
                                 .node = home,
                                 .watcher = caf::actor_cast<caf::actor>(watcher)});

  fixture() { system.settle(); }
  ~fixture() {
    for (const auto& one :
         {caf::actor_cast<caf::actor>(link), caf::actor_cast<caf::actor>(dispatcher),
          caf::actor_cast<caf::actor>(home)})
      caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
    system.settle();
  }

  template<class Message>
  void send(const Message& m) {
    caf::anon_send(link, m);
    system.settle();
  }

  /// The head answers the request for a piece that waits longest.
  void answer_one() {
    caf::anon_send(dispatcher, tick{});
    system.settle();
  }

  void assign(candidate_id id, std::uint64_t lease, blob checkpoint, blob weights = {}) {
    assignments m;
    m.batch.push_back({.id = id,
                       .lease = lease,
                       .checkpoint = std::move(checkpoint),
                       .weights = std::move(weights)});
    send(m);
  }

  [[nodiscard]] blob lent() const {
    const blob whole(head->lends);
    return blob::absent(whole.size(), whole.checksum());
  }
};

std::string why_absent(const blob& b) {
  const auto loaded = b.load();
  REQUIRE_FALSE(loaded);
  return loaded.error().message;
}

} // namespace

TEST_CASE("link: the node gets an assignment when all of its blobs have come") {
  fixture f;
  f.head->lends = numbered(6 * piece_bytes + 5);
  f.assign(7, 1, f.lent(), f.lent());
  REQUIRE(f.node->assignments.size() == 1);
  const auto& a = f.node->assignments[0];
  CHECK(test::content_of(a.checkpoint) == f.head->lends);
  CHECK(test::content_of(a.weights) == f.head->lends);
  CHECK(f.head->asked.size() == 14);
}

TEST_CASE("link: few pieces are under way at a time, and others overtake them") {
  fixture f;
  f.head->lends = numbered(9 * piece_bytes);
  f.head->waits = true;
  f.assign(7, 1, f.lent());
  CHECK(f.head->asked.size() == 4);
  f.assign(8, 2, bytes("small"));
  REQUIRE(f.node->assignments.size() == 1);
  CHECK(f.node->assignments[0].id == 8);
  f.answer_one();
  CHECK(f.head->asked
        == std::vector<std::uint64_t>{0, piece_bytes, 2 * piece_bytes, 3 * piece_bytes,
                                      4 * piece_bytes});
}

TEST_CASE("link: what the head cannot send comes absent, with the reason") {
  fixture f;
  f.head->lends = numbered(3 * piece_bytes);
  const auto whole = f.lent();
  SECTION("it says so") {
    f.head->failure = "it cannot be read";
    f.assign(7, 1, whole);
    REQUIRE(f.node->assignments.size() == 1);
    CHECK(why_absent(f.node->assignments[0].checkpoint)
          == "3 MiB are not here: the head could not send the checkpoint: it cannot be "
             "read");
  }
  SECTION("a bit of it changed") {
    f.head->lends[piece_bytes + 1] ^= 1;
    f.assign(7, 1, whole);
    REQUIRE(f.node->assignments.size() == 1);
    CHECK_THAT(why_absent(f.node->assignments[0].checkpoint),
               Catch::Contains("another checksum"));
  }
  SECTION("it is shorter, or longer, than announced") {
    f.assign(7, 1, blob::absent(whole.size() + 1, 1));
    f.assign(8, 2, blob::absent(whole.size() - 1, 1));
    REQUIRE(f.node->assignments.size() == 2);
    for (const auto& a : f.node->assignments)
      CHECK_THAT(why_absent(a.checkpoint), Catch::Contains("it became shorter"));
  }
  SECTION("it is announced to be absurdly large") {
    f.assign(7, 1, blob::absent(most_blob_bytes + 1, 1));
    CHECK(f.head->asked.empty());
    REQUIRE(f.node->assignments.size() == 1);
    CHECK_THAT(why_absent(f.node->assignments[0].checkpoint),
               Catch::Contains("there is no memory for it"));
  }
}

TEST_CASE("link: what nobody wants any more does not reach the node") {
  fixture f;
  f.head->lends = numbered(5 * piece_bytes);
  f.head->waits = true;
  f.assign(7, 1, f.lent());
  SECTION("its candidate was dropped") {
    f.send(taken{{7}});
    CHECK(f.node->taken == std::vector<task_id>{7});
  }
  SECTION("the node drains, and what comes later is handed back too") {
    f.send(leaving{.node = 1, .not_done = {6}});
    CHECK(f.head->handed_back == std::vector<task_id>{6, 7});
    CHECK(f.node->may_leave);
    f.assign(8, 2, f.lent());
    CHECK(f.head->handed_back == std::vector<task_id>{6, 7, 8});
  }
  while (!f.head->waiting.empty())
    f.answer_one();
  CHECK(f.node->assignments.empty());
}

TEST_CASE("link: the head gets a result after its blobs, from where it has them") {
  fixture f;
  const auto weights = numbered(6 * piece_bytes + 5);
  f.head->has = GENERATE(0U, 10U, 2U * piece_bytes, 6U * piece_bytes + 5U);
  results m{.node = 1, .batch = {}};
  m.batch.push_back({.id = 7, .lease = 1, .weights = weights, .checkpoint = weights});
  m.batch.push_back({.id = 8, .lease = 2, .weights = bytes("small")});
  f.send(m);
  REQUIRE(f.head->results.size() == 2);
  CHECK(f.head->results[0].id == 8);
  CHECK(f.head->results[1].id == 7);
  for (const auto part : blob_parts)
    CHECK(f.head->got[part] == bytes(f.head->has, '?') + weights.substr(f.head->has));
  CHECK(f.node->taken == std::vector<task_id>{8, 7});
}

TEST_CASE("link: a result is sent though its weights are not taken") {
  fixture f;
  f.head->refusal = "its lease has ended";
  results m{.node = 1, .batch = {}};
  m.batch.push_back({.id = 7, .lease = 1, .weights = numbered(9 * piece_bytes)});
  f.send(m);
  REQUIRE(f.head->results.size() == 1);
  CHECK(f.head->got[blob_part::weights].empty());
}

TEST_CASE("link: pieces that are answered are signs of life, but heartbeats go on") {
  fixture f;
  f.head->lends = numbered(piece_bytes + 1);
  f.head->waits = true;
  f.assign(7, 1, f.lent());
  f.system.pass(20s);
  while (!f.head->waiting.empty())
    f.answer_one();
  CHECK(f.node->assignments.size() == 1);
}
