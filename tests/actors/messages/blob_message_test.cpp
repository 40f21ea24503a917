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
  training_result what;
  std::size_t bytes_sent = 0;
};

carried carry(training_result trained) {
  result r{.id = 7, .lease = 1, .what = std::move(trained)};
  caf::actor_system_config config;
  caf::actor_system system(config);
  std::vector<char> sent;
  caf::binary_serializer sink(system, sent);
  REQUIRE_FALSE(sink(r));
  caf::binary_deserializer source(system, sent);
  result there;
  REQUIRE_FALSE(source(there));
  CHECK(there.id == 7);
  return {.what = std::get<training_result>(there.what), .bytes_sent = sent.size()};
}

} // namespace

TEST_CASE("messages: a small blob travels whole, of a large one size and checksum") {
  const blob small(bytes(piece_bytes, 's')), large(bytes(piece_bytes + 1, 'l'));
  const auto there = carry({.weights = small, .checkpoint = large});
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
  const auto there = carry({.weights = {}, .checkpoint = *content});
  CHECK(there.what.weights.empty());
  CHECK_FALSE(there.what.weights.is_absent());
  CHECK(there.what.checkpoint.is_absent());
  CHECK(there.what.checkpoint == blob(bytes("12345")));
}

TEST_CASE("messages: a task and its result come as what they are, of whichever kind") {
  caf::actor_system_config config;
  caf::actor_system system(config);
  const auto there_and_back = [&](auto message) {
    std::vector<char> sent;
    caf::binary_serializer sink(system, sent);
    REQUIRE_FALSE(sink(message));
    caf::binary_deserializer source(system, sent);
    decltype(message) there;
    REQUIRE_FALSE(source(there));
    CHECK(there.what.index() == message.what.index());
    return there;
  };
  const network_training network{.genome = "g", .epochs = 3, .start = 2};
  const auto training = there_and_back(
      assignment{.what = training_task{.network = network, .fold = 1, .folds = 2}});
  CHECK(std::get<training_task>(training.what).network.epochs == 3);
  CHECK(std::get<training_task>(training.what).folds == 2);
  const auto trial = there_and_back(assignment{.what = test_task{.network = network}});
  CHECK(std::get<test_task>(trial.what).network.genome == "g");
  there_and_back(assignment{.what = linear_model_task{}});
  const auto composition = there_and_back(
      assignment{.what = composition_task{.members = bytes("m"), .time_ms = 9}});
  CHECK(test::content_of(std::get<composition_task>(composition.what).members) == "m");
  const auto failure = there_and_back(result{.what = task_failure{"no disk"}});
  CHECK(std::get<task_failure>(failure.what).why == "no disk");
  const auto tested = there_and_back(result{.what = test_result{"e"}});
  CHECK(std::get<test_result>(tested.what).examined == "e");
  there_and_back(result{.what = composition_result{"c"}});
}

TEST_CASE("messages: a task of a kind that nobody knows is refused") {
  caf::actor_system_config config;
  caf::actor_system system(config);
  std::vector<char> sent;
  caf::binary_serializer sink(system, sent);
  task_id id = 7;
  std::uint64_t lease = 1;
  std::uint8_t kind = 4;
  REQUIRE_FALSE(sink(id, lease, kind));
  caf::binary_deserializer source(system, sent);
  assignment there;
  CHECK(source(there));
}
