#include "search_spaces/toml/parameter_reader.hpp"
#include "search_spaces/toml/spelling.hpp"

#include <catch2/catch.hpp>

using namespace clade;

TEST_CASE("spelling: British names become American and others stay") {
  CHECK(american("regularised") == "regularized");
  CHECK(american("optimizer") == "optimizer");
  CHECK(american("momentum") == "momentum");
}

TEST_CASE("spelling: hashes have what earlier versions wrote") {
  CHECK(spelling_of_hashes("optimizer") == "optimiser");
  CHECK(spelling_of_hashes("regularized") == "regularised");
  // These were American before.
  CHECK(spelling_of_hashes("maximize") == "maximize");
  CHECK(spelling_of_hashes("minimize") == "minimize");
}

TEST_CASE("spelling: a key keeps its value and its place") {
  auto table = toml::parse("a = 1\nmaximise = \"x\"\n");
  use_american_keys(table);
  CHECK_FALSE(table.contains("maximise"));
  CHECK(table["maximize"].value_or(std::string()) == "x");
  CHECK(table["maximize"].node()->source().begin.line == 2);
}

TEST_CASE("spelling: a key that is there in both spellings is left alone") {
  auto table = toml::parse("maximise = 1\nmaximize = 2\n");
  use_american_keys(table);
  CHECK(table["maximise"].value_or(0) == 1);
  CHECK(table["maximize"].value_or(0) == 2);
}
