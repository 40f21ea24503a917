#include "genome/variation/rewiring.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/files/points.hpp"
#include "tests/search_spaces/space_files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

const problem three_of_four{{{4}}, 3};

search_space dense_space() {
  return a_space(R"(
[operators.dense]
units = [16, 32, 64]
activation = ["relu", "gelu"]
[hyperparameters]
learning_rate = {low = 0.001, high = 0.1, log = true}
batch_size = [32, 64]
optimizer = ["sgd", "adam"]
)");
}

std::string refused(const std::string& text) {
  const auto points = parse_points(text, "points.toml", dense_space());
  return points ? "none" : points.error().message;
}

genome made_of(const known_point& point) {
  auto random = derive(1, purpose::sample, 0, 0);
  const auto g = genome_of(point, dense_space(), three_of_four, random);
  REQUIRE(g.has_value());
  CHECK(check(dense_space().rules, *g).has_value());
  return *g;
}

const std::string all_forms = R"([points.z]
hyperparameters = {learning_rate = 0.01, batch_size = 64, optimiser = "adam"}
[points.chain]
layers = [{op = "dense", units = 64}, {op = "dense", units = 16, activation = "gelu"}]
[points.a]
genome = """
  input
  n3f2a1  dense(activation=relu, units=32) <- input
  output <- n3f2a1
  batch_size=32 learning_rate=0.003
"""
hyperparameters = {learning_rate = 0.004}
)";

} // namespace

TEST_CASE("points: each says all or a part, in the order of the file") {
  const auto points = parse_points(all_forms, "points.toml", dense_space());
  REQUIRE(points.has_value());
  REQUIRE(points->size() == 3);
  CHECK((*points)[0].name == "z");
  CHECK((*points)[1].name == "chain");
  CHECK((*points)[2].name == "a");
  const auto z = made_of((*points)[0]);
  CHECK(to_text(z.hyperparameters)
        == "batch_size=64, learning_rate=0.01, optimizer=adam");
  const auto chain = made_of((*points)[1]);
  CHECK(chain.nodes.size() == 4);
  CHECK(chain.hyperparameters.size() == 3);
  const auto a = made_of((*points)[2]);
  CHECK_THAT(to_text(a), Catch::Contains("dense(activation=relu, units=32) <- input"));
  CHECK_THAT(to_text(a), Catch::Contains("batch_size=32 learning_rate=0.004"));
}

TEST_CASE("points: each is written as a text of its own and read again") {
  const auto points = parse_points(all_forms, "points.toml", dense_space());
  REQUIRE(points.has_value());
  for (const auto& point : *points) {
    const auto again = parse_points(to_toml(point), "again", dense_space());
    REQUIRE(again.has_value());
    REQUIRE(again->size() == 1);
    CHECK(to_toml(again->front()) == to_toml(point));
    CHECK(made_of(again->front()) == made_of(point));
  }
}

TEST_CASE("points: what the space does not have is refused with its line") {
  CHECK(refused("")
        == "points.toml: has no points; each is a table, such as "
           "[points.mine] with hyperparameters = {learning_rate = 0.01}");
  CHECK(refused("[point.a]")
        == "points.toml:1: unknown key \"point\"; did you mean \"points\"?");
  CHECK(refused("[points.a]\nlayer = []")
        == "points.toml:2: unknown key \"layer\" in points.a; did you mean \"layers\"?");
  CHECK(refused("[points.a]")
        == "points.toml:1: points.a: a point is a table with hyperparameters, layers or "
           "genome");
  CHECK(refused("[points.a]\nhyperparameters = {learning_rate = 1.0}")
        == "points.toml:2: points.a: learning_rate = 1.0 is not in this space");
  CHECK(refused("[points.a]\n[points.b]\nhyperparameters = {rate = 1.0}")
        == "points.toml:1: points.a: a point is a table with hyperparameters, layers or "
           "genome");
  CHECK(refused("[points.a]\nlayers = [\n{op = \"conv\"}]")
        == "points.toml:3: points.a: conv: there is no operators.conv");
  CHECK(refused("[points.a]\nlayers = [\n{op = \"dense\", units = 63}]")
        == "points.toml:3: points.a: dense: units = 63 is not in this space");
  CHECK(refused("[points.a]\nlayers = [\n{op = \"dense\", width = 64}]")
        == "points.toml:3: points.a: dense: there is no width to set in this space; "
           "[operators.dense] lists what there is");
  CHECK(refused("[points.a]\ngenome = \"output <- a\"")
        == "points.toml:2: points.a: genome, line 1: a stands on no line above");
  CHECK(refused("[points.a]\ngenome = \"output <- input\"\nlayers = []")
        == "points.toml:2: points.a: it has layers already; write one of the two");
}

TEST_CASE("points: of a genome of another space what this one has is kept") {
  auto g = chain_genome({{.op = "dense", .settings = {{"units", std::int64_t{48}}}}});
  g.hyperparameters = {{"batch_size", std::int64_t{64}}, {"momentum", 0.9}};
  const auto adapted = fitted_point("old", g, dense_space(), three_of_four);
  REQUIRE(adapted.has_value());
  CHECK(to_text(adapted->hyperparameters) == "batch_size=64");
  REQUIRE(adapted->network);
  CHECK_THAT(to_text(*adapted->network), Catch::Contains("dense <- input"));
  CHECK(made_of(*adapted).nodes.size() == 3);

  auto other = chain_genome({{.op = "conv", .settings = {}}});
  other.hyperparameters = g.hyperparameters;
  const auto numbers = fitted_point("old", other, dense_space(), three_of_four);
  REQUIRE(numbers.has_value());
  CHECK_FALSE(numbers->network);
  CHECK(to_text(numbers->hyperparameters) == "batch_size=64");

  other.hyperparameters.clear();
  const auto nothing = fitted_point("old", other, dense_space(), three_of_four);
  REQUIRE_FALSE(nothing.has_value());
  CHECK(nothing.error().message == "there is no operators.conv");
}

TEST_CASE("points: a file that is not there is named") {
  const auto points = load_points("/nowhere/points.toml", dense_space());
  REQUIRE_FALSE(points.has_value());
  CHECK_THAT(points.error().message, Catch::StartsWith("/nowhere/points.toml"));
}
