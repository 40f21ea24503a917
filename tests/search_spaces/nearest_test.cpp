#include "search_spaces/operators/nearest.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <string>
#include <vector>

using clade::nearest;

namespace {

constexpr std::array<std::string_view, 5> known{"filters", "kernel", "stride", "norm",
                                                "k"};

} // namespace

TEST_CASE("nearest: one slip of the keyboard is forgiven") {
  CHECK(nearest("filtres", known) == "filters"); // swapped
  CHECK(nearest("filter", known) == "filters");  // left out
  CHECK(nearest("kernell", known) == "kernel");  // doubled
  CHECK(nearest("strade", known) == "stride");   // replaced
  CHECK(nearest("Norm", known) == "norm");       // shouted
  CHECK(nearest("stride", known) == "stride");
}

TEST_CASE("nearest: what is far from everything has no neighbour") {
  CHECK(nearest("learning_rate", known).empty());
  CHECK(nearest("", known).empty());
  CHECK(nearest("x", known).empty());
  CHECK(nearest("nowhere", known).empty());
  CHECK(nearest(std::string(100'000, 'k'), known).empty());
}

TEST_CASE("nearest: the first letters of several words are understood") {
  constexpr std::array<std::string_view, 4> keys{"epochs", "learning_rate", "batch_size",
                                                 "weight_decay"};
  CHECK(nearest("lr", keys) == "learning_rate");
  CHECK(nearest("BS", keys) == "batch_size");
  CHECK(nearest("wd", keys) == "weight_decay");
  CHECK(nearest("e", keys).empty());
  CHECK(nearest("lx", keys).empty());
}

TEST_CASE("nearest: the first of two equally near names is told") {
  CHECK(nearest("cat", std::vector<std::string>{"car", "bat"}) == "car");
  CHECK(nearest("cat", std::vector<std::string>{"bat", "car"}) == "bat");
  CHECK(nearest("cat", std::vector<std::string>{"cast", "cat"}) == "cat");
}
