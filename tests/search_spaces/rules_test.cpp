#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/operators/own_operator.hpp"
#include "search_spaces/operators/variation.hpp"
#include "tests/search_spaces/space_files.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace clade;

namespace {

const std::string modules = R"(image = true
[rules.module]
sequence = {weight = 2, layers = [{op = "module", name = "a"}, {op = "module", name = "b"}]}
branch = {layers = [
  {op = "module", name = "left", from = "in"},
  {op = "leaf", name = "right", from = "in"},
  {op = "add", from = ["left", "right"]},
]}
conv = {layers = [{op = "conv", filters = "=channels * 2", kernel = 3}]}
[rules.leaf]
pool = {layers = [{op = "max_pool", kernel = 3, stride = 1}]}
small = {weight = 0.5, layers = [{op = "small"}]}
[composites.small]
layers = [{op = "conv", filters = "=channels", kernel = 1, zero = true}]
[composites.net]
layers = [{op = "conv", name = "stem", filters = "=filters"}, {op = "=body"}]
[composites.net.parameters]
filters = {low = 1, high = 16, default = 4, width = true}
body = {rule = "module", depth = 4, size = 10}
[operators.net]
filters = [2, 4]
)";

genome a_net(const std::string& body) {
  return a_chain({{"net", {{"body", body}, {"filters", std::int64_t{2}}}}});
}

std::vector<std::string> layers_of(const search_space& space, const std::string& body) {
  const auto n = decode(space, a_net(body), digits());
  INFO((n ? "" : n.error().message));
  REQUIRE(n);
  return layers_told(*n);
}

/// Returns what is said of `modules` where a part of it is replaced.
std::string complaint_of(std::string_view what, std::string_view by) {
  auto text = modules;
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return complaint(text.replace(at, what.size(), by));
}

} // namespace

TEST_CASE("rules: a derivation is decoded to its layers, named by the way to them") {
  const auto space = a_space(modules);
  CHECK(layers_of(space, "sequence[conv branch[conv small]]")
        == std::vector<std::string>{
            "input input [1, 8, 8]", "stem conv [2, 8, 8]", "body.a.conv conv [4, 8, 8]",
            "body.b.left.conv conv [8, 8, 8]", "body.b.right.small.conv conv [4, 8, 8]",
            "body.b.add.project0 project [4, 8, 8]", "body.b.add.add add [4, 8, 8]",
            "flatten flatten [256]", "output output [10]"});
  const auto n = decode(space, a_net("branch[conv pool]"), digits());
  REQUIRE(n);
  // Both see what enters.
  CHECK(n->layers[2].inputs == std::vector<std::size_t>{1});
  CHECK(n->layers[3].inputs == std::vector<std::size_t>{1});
}

TEST_CASE("rules: a setting that is not named is searched over all derivations") {
  const auto space = a_space(modules);
  const auto& settings = space.rules.operators.at(0).settings;
  REQUIRE(settings.size() == 2);
  CHECK(settings[0].name == "body");
  const auto& domain = std::get<derivation_domain>(settings[0].domain);
  CHECK(domain.depth == 4);
  CHECK(domain.size == 10);
  std::set<std::string> bodies;
  for (std::uint64_t i = 0; i < 200; ++i) {
    auto random = derive(1, purpose::sample, 0, i);
    const auto g = sample(space, digits(), random);
    REQUIRE(g);
    REQUIRE(check(space.rules, g->child).has_value());
    bodies.insert(to_text(*find(g->child.nodes[2].settings, "body")));
    auto changing = derive(1, purpose::mutation, 0, i);
    const auto child = mutate(space, digits(), g->child, {}, changing);
    REQUIRE(check(space.rules, child.child).has_value());
    REQUIRE(decode(space, child.child, digits()));
  }
  CHECK(bodies.size() > 30);
  // A setting that is named is that, or one of these.
  const auto fixed = a_space(modules + "body = [\"conv\", \"sequence[conv conv]\"]\n");
  CHECK(std::get<choice_domain>(fixed.rules.operators.at(0).settings[0].domain)
            .options.size()
        == 2);
}

TEST_CASE("rules: a space with rules is written and read again") {
  const auto space = a_space(modules);
  const auto text = to_toml(space);
  const auto again = parse_search_space(text, "again");
  INFO((again ? "" : again.error().message) << "\n" << text);
  REQUIRE(again);
  CHECK(to_toml(*again) == text);
  const std::string body = "sequence[branch[conv pool] branch[conv small]]";
  CHECK(layers_of(*again, body) == layers_of(space, body));
  for (std::uint64_t i = 0; i < 50; ++i) {
    auto one = derive(1, purpose::sample, 0, i), other = derive(1, purpose::sample, 0, i);
    CHECK(sample(space, digits(), one)->child == sample(*again, digits(), other)->child);
  }
}

TEST_CASE("rules: what inherits a composite has its derivation, and repeats it") {
  const auto space = a_space(modules + R"([composites.twice]
inherits = "net"
repeat = 2
layers = [{op = "net"}]
[operators.twice]
)");
  const auto n = decode(space,
                        a_chain({{"twice",
                                  {{"body", std::string("branch[conv pool]")},
                                   {"filters", std::int64_t{2}}}}}),
                        digits());
  REQUIRE(n);
  CHECK(std::ranges::count(n->layers, "max_pool", &layer::op) == 2);
}

TEST_CASE("rules: mistakes are told with their line when the space is read") {
  CHECK(complaint(modules) == "no complaint");
  CHECK(complaint("image = true\n[rules.a]\nx = {layers = [{op = \"b\"}]}\n[rules.b]\ny "
                  "= {layers = [{op = \"a\"}]}\n[operators.conv]\n")
        == "a.toml:2: rules.a has no end: none of its productions comes to operators "
           "alone, at most 16 rules deep");
  CHECK(complaint_of("{op = \"leaf\", name", "{op = \"leav\", name")
            .starts_with("a.toml:6: rules.module.branch.layers: {op = \"leav\"")
        == false);
  CHECK(complaint_of("{op = \"leaf\", name", "{op = \"leav\", name")
            .starts_with("a.toml:6: rules.module.branch.layers: a table is no layer"));
  CHECK(complaint_of("weight = 0.5", "weight = -1")
        == "a.toml:12: rules.leaf.small.weight is -1, but must be a number from 0 to "
           "1000000");
  CHECK(complaint_of("weight = 2, layers", "weights = 2, layers")
        == "a.toml:3: unknown key \"weights\" in rules.module.sequence; did you mean "
           "\"weight\"?");
  CHECK(complaint_of("rule = \"module\"", "rule = \"modules\"")
        == "a.toml:19: composites.net.parameters.body.rule is \"modules\", but must be "
           "the name of one of the [rules] of this file");
  CHECK(complaint_of("depth = 4", "depth = 17")
        == "a.toml:19: composites.net.parameters.body.depth is 17, but must be a whole "
           "number from 1 to 16");
  CHECK(complaint_of("pool = {layers",
                     "pool = {layers = [{op = \"leaf\"}]}\nsmol = {layers")
        == "no complaint");
  CHECK(complaint_of("{op = \"module\", name = \"a\"}",
                     "{op = \"module\", name = \"a\", filters = 3}")
            .starts_with("a.toml:3: unknown key \"filters\" in "
                         "rules.module.sequence.layers.a"));
  CHECK(complaint_of("\"left\", from = \"in\"", "\"left\", from = \"right\"")
            .find("neither \"in\" nor the name of a layer above")
        != std::string::npos);
  CHECK(complaint_of("rule = \"module\", depth = 4, size = 10", "ruled = \"module\"")
            .starts_with("a.toml:19: unknown key \"ruled\""));
  CHECK(complaint_of("{op = \"=body\"}", "{op = \"module\"}")
            .starts_with("a.toml:16: composites.net.layers: a table is no layer"));
  CHECK(complaint_of("conv = {layers = [{op = \"conv\"",
                     "conv = {layers = [{op = \"net\"}, {op = \"conv\"")
            .find("a composite that stands in a rule cannot be made by rules itself")
        != std::string::npos);
  CHECK(complaint_of("[rules.leaf]",
                     "[rules.small]\nx = {layers = [{op = \"identity\"}]}\n"
                     "[rules.leaf]")
        == "a.toml:10: rules.small: there is a composite of that name");
  CHECK(complaint(modules + "body = \"conv[conv]\"\n")
        == "a.toml:22: operators.net.body is 'conv[conv]': \"[conv]\" is left over");
  CHECK(complaint("[rules]\n[operators.dense]\n") == "no complaint");
  CHECK(complaint("[rules]\na = 1\n[operators.dense]\n")
            .starts_with("a.toml:2: rules.a is no rule"));
}

TEST_CASE("rules: a derivation that never fits its bounds is told") {
  const std::string deep =
      "[rules.a]\nx = {layers = [{op = \"b\"}, {op = \"b\", name = "
      "\"c\"}]}\n[rules.b]\ny "
      "= {layers = [{op = \"dense\"}]}\n[composites.net]\ntakes = \"vector\"\nlayers = "
      "[{op = \"=body\"}]\nparameters = {body = {rule = \"a\", ";
  const std::string end = "}}\n[operators.net]\n";
  CHECK(complaint(deep + "depth = 2, size = 3" + end) == "no complaint");
  CHECK(complaint(deep + "depth = 1" + end)
            .starts_with("a.toml:8: composites.net.parameters.body: the rule a makes "
                         "nothing that is at most 1 deep"));
  CHECK(complaint(deep + "size = 2" + end).find("of at most 2 parts")
        != std::string::npos);
}

TEST_CASE("rules: a composite of rules alone must say what it takes") {
  const std::string text = "[rules.a]\nx = {layers = [{op = \"dense\"}]}\n"
                           "[composites.net]\nlayers = [{op = \"=body\"}]\nparameters = "
                           "{body = {rule = \"a\"}}\n[operators.net]\n";
  CHECK(complaint(text)
        == "a.toml:3: composites.net needs takes = \"image\", \"sequence\" or "
           "\"vector\", since rules alone make its layers");
}

TEST_CASE("rules: two files of a space cannot both have rules") {
  const scratch_folder folder;
  folder.write("first.toml", modules);
  const auto second =
      folder.write("second.toml", "include = [\"first.toml\"]\n[rules.a]\n"
                                  "x = {layers = [{op = \"identity\"}]}\n");
  const auto space = load_search_space(second);
  REQUIRE_FALSE(space);
  CHECK(space.error().message
        == second.string()
               + ":2: rules stand in an included file already: write the rules of both "
                 "there, or here alone");
}
