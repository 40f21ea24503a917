#include "engine/store/sqlite/blob_folder.hpp"
#include "tests/actors/transport/link_fixture.hpp"
#include "tests/support/content_of.hpp"

using namespace clade;
using namespace clade::test;

namespace {

struct connected : link_fixture {
  connected() { connect(); }

  /// The head answers the request for a piece that waits longest.
  void answer_one() {
    caf::anon_send(dispatcher, tick{});
    system.settle();
  }

  void assign(candidate_id id, std::uint64_t lease, blob checkpoint, blob weights = {}) {
    assignments m;
    m.batch.push_back(
        {.id = id,
         .lease = lease,
         .what = test_task{.weights = std::move(weights),
                           .network = {.checkpoint = std::move(checkpoint)}}});
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
  connected f;
  f.head->lends = numbered(6 * piece_bytes + 5);
  f.assign(7, 1, f.lent(), f.lent());
  REQUIRE(f.node->given.size() == 1);
  const auto& a = f.node->given[0];
  CHECK(content_of(*blob_of(a, blob_part::checkpoint)) == f.head->lends);
  CHECK(content_of(*blob_of(a, blob_part::weights)) == f.head->lends);
  CHECK(f.head->asked.size() == 14);
}

TEST_CASE("link: few pieces are under way at a time, and others overtake them") {
  connected f;
  f.head->lends = numbered(9 * piece_bytes);
  f.head->waits = true;
  f.assign(7, 1, f.lent());
  CHECK(f.head->asked.size() == 4);
  f.assign(8, 2, bytes("small"));
  REQUIRE(f.node->given.size() == 1);
  CHECK(f.node->given[0].id == 8);
  f.answer_one();
  CHECK(f.head->asked
        == std::vector<std::uint64_t>{0, piece_bytes, 2 * piece_bytes, 3 * piece_bytes,
                                      4 * piece_bytes});
}

TEST_CASE("link: what the head cannot send comes absent, with the reason") {
  connected f;
  f.head->lends = numbered(3 * piece_bytes);
  const auto whole = f.lent();
  SECTION("it says so") {
    f.head->failure = "it cannot be read";
    f.assign(7, 1, whole);
    REQUIRE(f.node->given.size() == 1);
    CHECK(why_absent(*blob_of(f.node->given[0], blob_part::checkpoint))
          == "3 MiB are not here: the head could not send the checkpoint: it cannot be "
             "read");
  }
  SECTION("a bit of it changed") {
    f.head->lends[piece_bytes + 1] ^= 1;
    f.assign(7, 1, whole);
    REQUIRE(f.node->given.size() == 1);
    CHECK_THAT(why_absent(*blob_of(f.node->given[0], blob_part::checkpoint)),
               Catch::Contains("another checksum"));
  }
  SECTION("it is shorter, or longer, than announced") {
    f.assign(7, 1, blob::absent(whole.size() + 1, 1));
    f.assign(8, 2, blob::absent(whole.size() - 1, 1));
    REQUIRE(f.node->given.size() == 2);
    for (const auto& a : f.node->given)
      CHECK_THAT(why_absent(*blob_of(a, blob_part::checkpoint)),
                 Catch::Contains("it became shorter"));
  }
  SECTION("it is announced to be absurdly large") {
    f.assign(7, 1, blob::absent(most_blob_bytes + 1, 1));
    CHECK(f.head->asked.empty());
    REQUIRE(f.node->given.size() == 1);
    CHECK_THAT(why_absent(*blob_of(f.node->given[0], blob_part::checkpoint)),
               Catch::Contains("there is no memory for it"));
  }
}

TEST_CASE("link: what nobody wants any more does not reach the node") {
  connected f;
  f.head->lends = numbered(5 * piece_bytes);
  f.head->waits = true;
  f.assign(7, 1, f.lent());
  SECTION("its candidate was dropped") {
    f.send(taken{{7}});
    CHECK(f.node->forgotten == std::vector<task_id>{7});
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
  CHECK(f.node->given.empty());
}

TEST_CASE("link: the head gets a result after its blobs, from where it has them") {
  connected f;
  const auto weights = numbered(6 * piece_bytes + 5);
  f.head->has = GENERATE(0U, 10U, 2U * piece_bytes, 6U * piece_bytes + 5U);
  results m{.node = 1, .batch = {}};
  m.batch.push_back({.id = 7,
                     .lease = 1,
                     .what = training_result{.weights = weights, .checkpoint = weights}});
  m.batch.push_back(
      {.id = 8, .lease = 2, .what = training_result{.weights = bytes("small")}});
  f.send(m);
  REQUIRE(f.head->results.size() == 2);
  CHECK(f.head->results[0].id == 8);
  CHECK(f.head->results[1].id == 7);
  for (const auto part : {blob_part::weights, blob_part::checkpoint})
    CHECK(f.head->got[part] == bytes(f.head->has, '?') + weights.substr(f.head->has));
  CHECK(f.node->forgotten == std::vector<task_id>{8, 7});
}

TEST_CASE("link: a result is sent though its weights are not taken") {
  connected f;
  f.head->refusal = "its lease has ended";
  results m{.node = 1, .batch = {}};
  m.batch.push_back({.id = 7,
                     .lease = 1,
                     .what = training_result{.weights = numbered(9 * piece_bytes)}});
  f.send(m);
  REQUIRE(f.head->results.size() == 1);
  CHECK(f.head->got[blob_part::weights].empty());
}

TEST_CASE("link: pieces that are answered are signs of life, but heartbeats go on") {
  connected f;
  f.head->lends = numbered(piece_bytes + 1);
  f.head->waits = true;
  f.assign(7, 1, f.lent());
  f.system.pass(20s);
  while (!f.head->waiting.empty())
    f.answer_one();
  CHECK(f.node->given.size() == 1);
}
