#include "engine/store/queue/queue_lease.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <unistd.h>

#include <vector>

using namespace clade;
using namespace clade::test;
using namespace std::chrono_literals;

namespace {

using answer = queue_lease::answer;

/// Servers of one queue, on machines of these names.
class lab {
public:
  explicit lab(bool shared) : shared_(shared) {}

  queue_lease server(const std::string& machine) const {
    auto lease = queue_lease::open(
        {.at = {.file = folder_.path() / queue_file_name, .shared = shared_},
         .machine = machine});
    REQUIRE(lease);
    return std::move(*lease);
  }

private:
  scratch_folder folder_;
  bool shared_;
};

const auto start = queue_lease::clock::now();

} // namespace

TEST_CASE("queue lease: the first has it, and the next once that has gone") {
  const lab one(false);
  auto second = one.server("a");
  {
    auto first = one.server("a");
    REQUIRE(first.try_take() == answer::taken);
    CHECK(first.number() == 1);
    CHECK(first.renew() == true);
    CHECK(second.try_take() == answer::held);
    CHECK(second.holder() == "process " + std::to_string(::getpid()));
    CHECK(second.number() == 0);
  }
  CHECK(second.try_take() == answer::taken);
  CHECK(second.number() == 2);
}

TEST_CASE("queue lease: of several that wait for the same one, one gets it") {
  const lab one(false);
  std::vector<queue_lease> waiting;
  {
    auto first = one.server("a");
    REQUIRE(first.try_take() == answer::taken);
    for (int i = 0; i < 4; ++i)
      waiting.push_back(one.server("a"));
    for (auto& w : waiting)
      CHECK(w.try_take() == answer::held);
  }
  int taken = 0;
  for (auto& w : waiting)
    taken += w.try_take() == answer::taken ? 1 : 0;
  CHECK(taken == 1);
  for (auto& w : waiting)
    if (w.number() == 0)
      CHECK(w.try_take() == answer::held);
}

TEST_CASE("queue lease: a holder of another machine has it as long as it renews it") {
  const lab one(true);
  auto first = one.server("a"), second = one.server("b");
  REQUIRE(first.try_take() == answer::taken);
  const auto patience = second.params().patience;
  // Nothing is known of it yet; what counts is how long the second has seen nothing.
  CHECK(second.try_take(start) == answer::unknown);
  CHECK(second.try_take(start + patience - 1ms) == answer::unknown);
  CHECK(first.renew() == true);
  CHECK(second.try_take(start + patience) == answer::held);
  CHECK(second.try_take(start + patience + patience - 1ms) == answer::held);
  CHECK(second.holder().starts_with("process " + std::to_string(::getpid()) + " on "));
  CHECK(second.try_take(start + patience + patience) == answer::taken);
  CHECK(second.number() == 2);
  CHECK(first.renew() == false);
  // It may have it again, as any other.
  CHECK(first.try_take(start) != answer::taken);
}

TEST_CASE("queue lease: a holder that is stopped loses it on its own machine too") {
  const lab one(false);
  auto first = one.server("a"), second = one.server("a");
  REQUIRE(first.try_take() == answer::taken);
  CHECK(second.try_take(start) == answer::held);
  CHECK(second.try_take(start + second.params().patience) == answer::taken);
  CHECK(first.renew() == false);
}

TEST_CASE("queue lease: who had a local file system before it was started is gone") {
  const lab one(false);
  auto first = one.server("a, some time ago"), second = one.server("a");
  REQUIRE(first.try_take() == answer::taken);
  CHECK(second.try_take() == answer::taken);
}

TEST_CASE("queue lease: this machine has a name that stays") {
  CHECK_FALSE(this_machine().empty());
  CHECK(this_machine() == this_machine());
}
