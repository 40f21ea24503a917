#include "actors/head/data_source.hpp"
#include "tests/actors/head/dispatcher_fixture.hpp"
#include "tests/support/content_of.hpp"

#include <rapidcheck.h>

using namespace clade;
using namespace clade::test;

namespace {

constexpr std::size_t size = 2 * piece_bytes + 9;

piece piece_of(const fixture::node& n, const assignment& a, const bytes& content,
               std::uint64_t offset) {
  const blob whole(content);
  return {.node = n.id,
          .lease = a.lease,
          .part = blob_part::weights,
          .size = whole.size(),
          .checksum = whole.checksum(),
          .offset = offset,
          .data = content.substr(offset, piece_bytes)};
}

/// Sends all pieces; returns the last answer.
piece_taken send_all(fixture& f, const fixture::node& n, const assignment& a,
                     const bytes& content) {
  piece_taken last;
  while (last.next < content.size() && last.failure.empty())
    last = f.ask<piece_taken>(piece_of(n, a, content, last.next));
  return last;
}

/// Returns the result as the dispatcher finds it after it came over the network.
result with_weights(const assignment& a, const bytes& content) {
  evaluation e{.id = a.id.candidate};
  auto r = result_of({e, {}}, a.lease);
  const blob whole(content);
  std::get<training_result>(r.what).weights =
      blob::absent(whole.size(), whole.checksum());
  return r;
}

} // namespace

TEST_CASE("dispatcher: large weights come in pieces before their result") {
  fixture f;
  const auto n = f.join();
  f.submit(1);
  const auto a = n.was->assignments.at(0);
  const auto content = numbered(size);
  CHECK(send_all(f, n, a, content).next == size);
  CHECK(f.answer(n, with_weights(a, content)).ids == std::vector<task_id>{1});
  REQUIRE(f.told->weights.size() == 1);
  CHECK(f.told->weights[0].file());
  CHECK(**f.told->weights[0].load() == content);
  const blob_folder kept(f.folder.path() / "weights");
  REQUIRE(kept.write(1, f.told->weights[0]));
  CHECK(**kept.read(1).load() == content);
  CHECK(std::filesystem::is_empty(f.folder.path() / "incoming"));
}

TEST_CASE("dispatcher: an upload goes on by another connection, and two do no harm") {
  fixture f;
  auto n = f.join();
  f.submit(1);
  const auto a = n.was->assignments.at(0);
  n.hello.has = {{a.id, a.lease}};
  const auto content = numbered(size);
  REQUIRE(f.ask<piece_taken>(piece_of(n, a, content, 0)).next == piece_bytes);
  f.cut(n);
  f.connect(n);
  auto question = piece_of(n, a, content, 0);
  question.data.clear();
  CHECK(f.ask<piece_taken>(question).next == piece_bytes);
  // A piece that the first connection had sent comes only now.
  CHECK(f.ask<piece_taken>(piece_of(n, a, content, 0)).next == piece_bytes);
  CHECK(send_all(f, n, a, content).next == size);
  std::ignore = f.answer(n, with_weights(a, content));
  REQUIRE(f.told->weights.size() == 1);
  CHECK(**f.told->weights[0].load() == content);
}

TEST_CASE("dispatcher: an evaluation counts though its weights did not come whole") {
  fixture f;
  const auto n = f.join();
  f.submit(1);
  const auto a = n.was->assignments.at(0);
  const auto content = numbered(size);
  SECTION("a bit of them changed on the way") {
    auto damaged = piece_of(n, a, content, 0);
    damaged.data[5] ^= 1;
    REQUIRE(f.ask<piece_taken>(damaged).failure.empty());
    REQUIRE(f.ask<piece_taken>(piece_of(n, a, content, piece_bytes)).failure.empty());
    CHECK(f.ask<piece_taken>(piece_of(n, a, content, 2 * piece_bytes)).failure
          == "what came has another checksum than was announced");
  }
  SECTION("a piece is missing") {
    REQUIRE(f.ask<piece_taken>(piece_of(n, a, content, 0)).failure.empty());
    CHECK(f.ask<piece_taken>(piece_of(n, a, content, 2 * piece_bytes)).failure
          == "a piece is missing before byte 2097152");
  }
  SECTION("none came") {}
  CHECK(f.answer(n, with_weights(a, content)).ids == std::vector<task_id>{1});
  REQUIRE(f.told->weights.size() == 1);
  CHECK(f.told->weights[0].empty());
  CHECK(f.said.back() == n.hello.slot + " could not send the weights of #1");
}

TEST_CASE("dispatcher: pieces are taken under a lease that holds, and in its bounds") {
  fixture f;
  const auto n = f.join(), other = f.join();
  f.submit(1);
  const auto& owner = n.was->assignments.empty() ? other : n;
  const auto& stranger = n.was->assignments.empty() ? n : other;
  const auto a = owner.was->assignments.at(0);
  const auto content = numbered(size);
  CHECK(f.ask<piece_taken>(piece_of(stranger, a, content, 0)).failure
        == "its lease has ended");
  auto huge = piece_of(owner, a, content, 0);
  huge.size = std::uint64_t{1} << 40;
  CHECK(f.ask<piece_taken>(huge).failure == "it is too large");
  auto strange = piece_of(owner, a, content, 0);
  strange.part = static_cast<blob_part>(77);
  CHECK(f.ask<piece_taken>(strange).failure == "it is too large");
  auto beyond = piece_of(owner, a, content, 0);
  beyond.size = 5;
  CHECK_FALSE(f.ask<piece_taken>(beyond).failure.empty());
  caf::anon_send(f.dispatcher, drop_candidate{1, "ada"});
  f.system.settle();
  CHECK(f.ask<piece_taken>(piece_of(owner, a, content, 0)).failure
        == "its lease has ended");
}

TEST_CASE("dispatcher: a disk that takes no pieces ends the run") {
  fixture f;
  write_text(f.folder.path() / "incoming", "not a folder");
  const auto n = f.join();
  f.submit(1);
  const auto a = n.was->assignments.at(0);
  CHECK_FALSE(f.ask<piece_taken>(piece_of(n, a, numbered(size), 0)).failure.empty());
  REQUIRE(f.told->failures.size() == 1);
  CHECK_THAT(f.told->failures[0].message, Catch::Contains("incoming"));
}

TEST_CASE("dispatcher: a node fetches what its own tasks start from, and nothing else") {
  fixture f;
  const auto n = f.join(), other = f.join();
  const auto content = numbered(size);
  caf::scoped_actor self(*f.system);
  self->send(f.dispatcher, test_request{{.id = {3, task_type::test},
                                         .what = test_task{.weights = content}}});
  f.system.settle();
  const auto& owner = n.was->assignments.empty() ? other : n;
  const auto& stranger = n.was->assignments.empty() ? n : other;
  const auto a = owner.was->assignments.at(0);
  const auto fetch = [&](const fixture::node& by, blob_part part, std::uint64_t offset) {
    return f.ask<chunk>(
        fetch_piece{.node = by.id, .lease = a.lease, .part = part, .offset = offset});
  };
  CHECK(fetch(owner, blob_part::weights, piece_bytes).data
        == content.substr(piece_bytes, piece_bytes));
  CHECK(fetch(owner, blob_part::weights, size + 5).data.empty());
  CHECK(fetch(owner, blob_part::checkpoint, 0).failure
        == "the task starts from nothing of that kind");
  CHECK(fetch(stranger, blob_part::weights, 0).failure == "its lease has ended");
  CHECK(fetch({}, blob_part::weights, 0).failure == "its lease has ended");
  REQUIRE(f.answer(owner, result{.id = a.id, .lease = a.lease}).ids.size() == 1);
  CHECK(fetch(owner, blob_part::weights, 0).failure == "its lease has ended");
}

TEST_CASE("data source: whatever pieces come, the blob is whole or it is not given") {
  const scratch_folder scratch;
  rc::check([&] {
    const auto content = *rc::gen::nonEmpty<bytes>();
    const blob whole(content);
    const auto to = std::make_shared<upload>(upload{.file = scratch.path() / "x" / "1",
                                                    .id = 7,
                                                    .size = whole.size(),
                                                    .checksum = whole.checksum()});
    std::uint64_t has = 0;
    for (int i = 0; i < 100; ++i) {
      const auto last = i > 80; // Then the rest comes in order.
      const auto offset =
          last ? has : *rc::gen::inRange<std::uint64_t>(0, content.size() + 2);
      const auto length =
          last ? content.size() : *rc::gen::inRange<std::size_t>(0, content.size() + 1);
      const auto done =
          write({to,
                 {.offset = offset,
                  .data = offset < content.size() ? content.substr(offset, length)
                                                  : bytes(length, '?')}});
      RC_ASSERT(!done.failure);
      RC_ASSERT(done.answer.next >= has || !done.answer.failure.empty());
      if (!done.whole.empty())
        RC_ASSERT(**done.whole.load() == content);
      has = done.answer.failure.empty() ? done.answer.next : has;
    }
    RC_ASSERT(has == content.size());
  });
}
