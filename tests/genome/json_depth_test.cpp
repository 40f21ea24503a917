#include "genome/base/json_depth.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace clade;

TEST_CASE("json depth: lists and objects in each other are counted, not those beside") {
  CHECK(nests_within("", 0));
  CHECK(nests_within("[[],[],[]]", 2));
  CHECK(!nests_within("[[],[{}]]", 2));
  CHECK(nests_within(R"([{"a":{}},[{}]])", 3));
  CHECK(!nests_within(R"([{"a":{}},[{}]])", 2));
  CHECK(nests_within(std::string(64, '[')));
  CHECK(!nests_within(std::string(65, '[')));
}

TEST_CASE("json depth: brackets in texts are no nesting, behind any escape") {
  CHECK(nests_within(R"(["[[[["])", 1));
  CHECK(nests_within(R"(["\"[[[["])", 1));
  CHECK(!nests_within(R"(["\\",[]])", 1));
  CHECK(nests_within("]]]]", 0));
  CHECK(nests_within("\"\\", 0));
}

TEST_CASE("json depth: values are counted, wherever they are") {
  CHECK(nests_within("7", 0, 1));
  CHECK(nests_within(R"({"a":[1,2]})", 2, 4));
  CHECK(!nests_within(R"({"a":[1,2]})", 2, 3));
  CHECK(!nests_within("[[],[],[]]", 2, 5));
  CHECK(nests_within(R"(["a,b,c,[{"])", 1, 2));
}
