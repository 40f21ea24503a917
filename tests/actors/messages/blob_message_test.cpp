#include "actors/messages/protocol.hpp"
#include "engine/store/sqlite/blob_folder.hpp"
#include "tests/support/content_of.hpp"
#include "tests/support/scratch.hpp"

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <catch2/catch.hpp>

using namespace clade;

namespace {

struct carried {
  result what;
  std::size_t bytes_sent = 0;
};

carried carry(result r) {
  caf::actor_system_config config;
  caf::actor_system system(config);
  std::vector<char> sent;
  caf::binary_serializer sink(system, sent);
  REQUIRE_FALSE(sink(r));
  carried c{.what = {}, .bytes_sent = sent.size()};
  caf::binary_deserializer source(system, sent);
  REQUIRE_FALSE(source(c.what));
  return c;
}

} // namespace

TEST_CASE("messages: a small blob travels whole, of a large one size and checksum") {
  const blob small(bytes(piece_bytes, 's')), large(bytes(piece_bytes + 1, 'l'));
  const auto there = carry({.id = 7, .weights = small, .checkpoint = large});
  CHECK(there.what.weights == small);
  CHECK(test::content_of(there.what.weights) == test::content_of(small));
  CHECK(there.what.checkpoint == large);
  CHECK(there.what.checkpoint.is_absent());
  CHECK(there.bytes_sent < piece_bytes + 200);
}

TEST_CASE("messages: an empty blob stays empty, and one in a file is not read") {
  const scratch_folder scratch;
  auto file = blob_writer::create(scratch.path() / "x", 7, 5);
  REQUIRE(file);
  REQUIRE(file->append(bytes("12345")));
  const auto content = file->finish();
  REQUIRE(content);
  const auto there = carry({.id = 7, .weights = {}, .checkpoint = *content});
  CHECK(there.what.weights.empty());
  CHECK_FALSE(there.what.weights.is_absent());
  CHECK(there.what.checkpoint.is_absent());
  CHECK(there.what.checkpoint == blob(bytes("12345")));
}
