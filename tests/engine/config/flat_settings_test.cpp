#include "engine/config/file/flat_settings.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace clade;

TEST_CASE("flat settings: a document key by key, a list as one value") {
  const auto settings =
      flat_settings("seed = 1\n"
                    "[evolution]\npopulation = 48\n"
                    "[evolution.mutation]\nagain = 0.3\n"
                    "[data]\nrates = [0.1, {low = 1.0}, 'x']\nshape = [1, 8, 8]\n"
                    "split = {train = 0.6, test = 0.4}\n",
                    "run.db");
  REQUIRE(settings);
  std::string text;
  for (const auto& [key, value] : *settings)
    text += key + " " + value + "\n";
  CHECK(text
        == "data.rates [0.1, {low = 1.0}, 'x']\n"
           "data.shape [1, 8, 8]\n"
           "data.split.test 0.4\n"
           "data.split.train 0.6\n"
           "evolution.mutation.again 0.3\n"
           "evolution.population 48\n"
           "seed 1\n");
}

TEST_CASE("flat settings: broken TOML is refused with its place") {
  const auto settings = flat_settings("a = 1\nb = [\n", "run.db");
  REQUIRE_FALSE(settings);
  CHECK(settings.error().kind == error_kind::invalid_input);
  CHECK_THAT(settings.error().message, Catch::StartsWith("run.db:"));
}
