#include "genome/base/all_processors.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <vector>

using namespace clade;

TEST_CASE("all processors: each number is worked on once") {
  for (const std::size_t count : {0, 1, 5, 1000}) {
    std::vector<int> visits(count);
    on_all_processors(count, [&](std::size_t i) { ++visits[i]; });
    CHECK(std::ranges::count(visits, 1) == static_cast<std::ptrdiff_t>(count));
  }
}

TEST_CASE("all processors: an exception of one is thrown to who asked") {
  std::atomic<int> done = 0;
  CHECK_THROWS_AS(on_all_processors(50,
                                    [&](std::size_t i) {
                                      if (i == 3)
                                        throw std::runtime_error("of number 3");
                                      ++done;
                                    }),
                  std::runtime_error);
  CHECK(done < 50);
}
