#include "actors/head/generator.hpp"
#include "tests/actors/test_system.hpp"
#include "tests/support/small_space.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace clade::test;

namespace {

struct fixture {
  test_system system;
  generator_actor generator = system->spawn(
      generator_behavior,
      std::make_shared<const generator_setup>(generator_setup{.space = small_space(),
                                                              .problem = small_problem(),
                                                              .mutation = {},
                                                              .seed = 5}));

  brood make(const breeding_orders& orders) {
    caf::scoped_actor self(*system);
    auto asked = self->request(generator, caf::infinite, orders);
    system.settle();
    brood made;
    asked.receive([&](const brood& b) { made = b; },
                  [](caf::error&) { FAIL("no answer"); });
    return made;
  }

  ~fixture() {
    caf::anon_send_exit(generator, caf::exit_reason::user_shutdown);
    system.settle();
  }
};

breeding_orders orders_of(std::initializer_list<candidate_id> ids) {
  breeding_orders all;
  for (const auto id : ids)
    all.orders.push_back({.id = id, .index = id});
  return all;
}

} // namespace

TEST_CASE("generator: what it makes depends on the order alone") {
  fixture one, other;
  const auto together = one.make(orders_of({1, 2, 3}));
  REQUIRE(together.candidates.size() == 3);
  CHECK_FALSE(together.failure);
  const auto last = other.make(orders_of({3}));
  REQUIRE(last.candidates.size() == 1);
  CHECK(last.candidates[0].id == 3);
  CHECK(*last.candidates[0].genome == *together.candidates[2].genome);
  CHECK(last.candidates[0].changes == together.candidates[2].changes);
  CHECK(*together.candidates[0].genome != *together.candidates[1].genome);
}
