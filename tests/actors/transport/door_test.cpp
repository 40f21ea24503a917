#include "actors/transport/link/door.hpp"
#include "tests/actors/test_system.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

struct knocked {
  std::string refusal;
  bool let_in = false;
};

knocked access_request(std::uint32_t protocol, const std::string& build) {
  test::test_system system;
  caf::scoped_actor self(*system);
  const auto door = system->spawn(door_behavior, caf::actor_cast<dispatcher_actor>(self),
                                  std::string("1.0"));
  auto asked = self->request(door, caf::infinite, protocol, build);
  system.settle();
  knocked answer;
  asked.receive(
      [&](const std::string& refusal, const caf::strong_actor_ptr& dispatcher) {
        answer = {refusal, dispatcher != nullptr};
      },
      [](caf::error&) { FAIL("no answer"); });
  return answer;
}

} // namespace

TEST_CASE("door: a worker of the run's version is let in") {
  const auto answer = access_request(protocol_version, "1.0");
  CHECK(answer.refusal.empty());
  CHECK(answer.let_in);
}

TEST_CASE("door: one of another version is refused in a sentence that names both") {
  const auto answer = access_request(protocol_version + 1, "2.0");
  CHECK(answer.refusal
        == "this worker is clade 2.0, protocol " + std::to_string(protocol_version + 1)
               + "; the run is clade 1.0, protocol " + std::to_string(protocol_version)
               + ": start a worker of the run's version");
  CHECK_FALSE(answer.let_in);
  CHECK_FALSE(access_request(protocol_version, "1.1").refusal.empty());
}
