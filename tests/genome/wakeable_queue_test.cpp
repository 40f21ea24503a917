#include "genome/base/wakeable_queue.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <set>
#include <thread>

using namespace clade;
using namespace std::chrono_literals;

namespace {

template<class T>
bool readable(const wakeable_queue<T>& queue) {
  pollfd one{.fd = queue.descriptor(), .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) == 1;
}

} // namespace

TEST_CASE("wakeable queue: values wake and are taken in order", "[base]") {
  wakeable_queue<std::unique_ptr<int>> queue;
  REQUIRE(queue.usable());
  CHECK_FALSE(readable(queue));
  CHECK(queue.put(std::make_unique<int>(1)));
  CHECK(queue.put(std::make_unique<int>(2)));
  CHECK(readable(queue));
  const auto taken = queue.take();
  REQUIRE(taken.size() == 2);
  CHECK(*taken[0] == 1);
  CHECK(*taken[1] == 2);
  CHECK_FALSE(readable(queue));
  CHECK(queue.take().empty());
}

TEST_CASE("wakeable queue: it wakes without a value and takes none once closed",
          "[base]") {
  wakeable_queue<int> queue;
  queue.wake();
  CHECK(readable(queue));
  CHECK(queue.take().empty());
  CHECK(queue.put(1));
  queue.close();
  CHECK_FALSE(queue.put(2));
  CHECK(queue.take() == std::vector{1});
}

TEST_CASE("wakeable queue: what was not popped stays readable", "[base]") {
  wakeable_queue<int> queue;
  CHECK(queue.pop(0ms) == std::nullopt);
  queue.put(1);
  queue.put(2);
  CHECK(queue.pop(0ms) == 1);
  CHECK(readable(queue));
  CHECK(queue.pop(0ms) == 2);
  CHECK(queue.pop(1ms) == std::nullopt);
  CHECK_FALSE(readable(queue));
}

TEST_CASE("wakeable queue: nothing is lost between threads", "[base]") {
  constexpr int threads = 4, of_each = 2'000;
  wakeable_queue<int> queue;
  std::vector<std::thread> givers;
  for (int t = 0; t < threads; ++t)
    givers.emplace_back([&queue, t] {
      for (int i = 0; i < of_each; ++i)
        queue.put(t * of_each + i);
    });
  std::set<int> taken;
  while (taken.size() < threads * of_each) {
    const auto one = queue.pop(10s);
    REQUIRE(one);
    CHECK(taken.insert(*one).second);
    for (const int more : queue.take())
      CHECK(taken.insert(more).second);
  }
  for (auto& g : givers)
    g.join();
}
