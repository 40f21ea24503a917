#include "genome/codec/codec.hpp"
#include "genome/genes/hash.hpp"
#include "genome/variation/crossover.hpp"
#include "genome/variation/parse_genome.hpp"
#include "search_spaces/files/built_in.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/operators/operators.hpp"
#include "search_spaces/operators/variation.hpp"
#include "tests/search_spaces/space_files.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <map>
#include <set>

using namespace clade;

namespace {

/// Returns the fault of a network in what must hold for every one, or "".
std::string fault_of(const search_space& space, const problem& p, const network& n) {
  layer_cost sum;
  std::set<std::string_view> names;
  if (n.layers.front().op != "input" || n.layers.back().op != "output"
      || n.layers.back().out != tensor_shape{{p.outputs}})
    return "does not lead from input to output";
  for (std::size_t i = 0; i < n.layers.size(); ++i) {
    const layer& l = n.layers[i];
    const auto* entry = find_operator(l.op);
    if (entry == nullptr)
      return l.name + ": unknown " + l.op;
    if (!names.insert(l.name).second)
      return l.name + " is there twice";
    if (l.inputs.empty() != (i == 0) || l.in.size() != l.inputs.size())
      return l.name + " has strange inputs";
    for (std::size_t k = 0; k < l.inputs.size(); ++k)
      if (l.inputs[k] >= i || n.layers[l.inputs[k]].out != l.in[k])
        return l.name + " does not get what its input gives";
    for (const auto size : l.out.sizes)
      if (size < 1)
        return l.name + " is empty";
    if (complete(*entry, l.settings) != l.settings)
      return l.name + " has incomplete settings";
    if (i > 0 && (entry->shape(l.in, l.settings) != l.out || entry->cost_of(l) != l.cost))
      return l.name + " has another shape or cost than its operator says";
    if (i > 0 && !entry->works_on(l.in[0].layout()))
      return l.name + " gets a layout that it does not take";
    sum.parameters += l.cost.parameters;
    sum.multiply_adds += l.cost.multiply_adds;
    sum.activation_bytes += l.cost.activation_bytes;
  }
  if (sum != n.cost())
    return "the costs are not the sum of the layers'";
  if (sum.parameters > space.limits.max_parameters
      || sum.multiply_adds > space.limits.max_multiply_adds)
    return "exceeds the limits";
  return {};
}

void judge(const search_space& space, const problem& p, const genome& g) {
  const auto lawful = check(space.rules, g);
  if (!lawful)
    FAIL(lawful.error().message << "\n" << to_text(g));
  const auto n = decode(space, g, p);
  if (!n)
    FAIL(n.error().message << "\n" << to_text(g));
  if (const auto fault = fault_of(space, p, *n); !fault.empty())
    FAIL(fault << "\n" << to_text(*n));
}

struct seen {
  std::size_t merges = 0;    ///< In the last child of each chain.
  std::size_t different = 0; ///< Last children that their mutation changed.
};

/// Each chain samples two genomes, changes both, crosses them and changes the child. All
/// four are judged, by `law` as well.
seen walk(const search_space& space, const problem& p, std::uint64_t seed,
          std::uint64_t chains, const std::function<void(const genome&)>& law) {
  seen all;
  for (std::uint64_t i = 0; i < chains; ++i) {
    auto random = derive(seed, purpose::mutation, 0, i);
    const auto first = sample(space, p, random), second = sample(space, p, random);
    REQUIRE(first);
    REQUIRE(second);
    const auto mother = mutate(space, p, first->child, {.again = 0.8}, random);
    const auto father = mutate(space, p, second->child, {.again = 0.8}, random);
    const auto crossed = cross(space, p, mother.child, father.child, random);
    const auto child = mutate(space, p, crossed.child, {}, random);
    for (const auto* made :
         {&first->child, &mother.child, &crossed.child, &child.child}) {
      judge(space, p, *made);
      law(*made);
    }
    all.different += child.child != crossed.child;
    for (const node_gene& node : child.child.nodes)
      all.merges += find(node.settings, "merge") != nullptr;
  }
  return all;
}

void walk(const std::string& file, const problem& p, std::uint64_t seed,
          std::uint64_t chains) {
  const auto all = walk(real_space(file), p, seed, chains, [](const genome&) {});
  CHECK(all.different == chains);
  CHECK(all.merges > chains / 10); // The walk has seen what it is about.
}

/// The stored and the printed form of a genome give it back.
void judge_forms(const genome& g) {
  const auto stored = decode_genome(encode(g));
  REQUIRE(stored);
  REQUIRE(*stored == g);
  const auto read = parse_genome(to_text(g));
  if (!read)
    FAIL(read.error().message << "\n" << to_text(g));
  REQUIRE(canonical_hash(*read) == canonical_hash(g));
}

} // namespace

TEST_CASE("variation: 40000 chains over image.toml decode within limits on digits") {
  walk("image.toml", digits(), 1, 40'000);
}

TEST_CASE("variation: 20000 chains over image.toml decode within limits on photographs") {
  walk("image.toml", {.input = {{3, 32, 32}}, .outputs = 100}, 2, 20'000);
}

TEST_CASE("variation: 30000 chains over mlp.toml decode within limits on a table") {
  walk("mlp.toml", {.input = {{13}}, .outputs = 1}, 3, 30'000);
}

TEST_CASE(
    "variation: 10000 chains over mlp.toml decode within limits on flattened images") {
  walk("mlp.toml", {.input = {{1, 28, 28}}, .outputs = 10}, 4, 10'000);
}

TEST_CASE("variation: 10,000 networks of each ready space keep all laws") {
  const std::map<layout, problem> problems{
      {layout::image, {{{3, 16, 16}}, 10}},
      {layout::sequence, {{{24, 3}}, 4}},
      {layout::vector, {{{13}}, 3}},
  };
  for (const auto& name : built_in_spaces()) {
    INFO(name);
    const auto space = load_built_in_space(name);
    REQUIRE(space);
    const auto all = walk(*space, problems.at(space->input), 11, 2'500, judge_forms);
    CHECK(all.different == 2'500);
  }
}

TEST_CASE("variation: long chains stay within limits and find their way back") {
  const auto space = real_space("image.toml");
  const auto p = digits();
  auto random = derive(5, purpose::mutation, 0, 0);
  auto g = sample(space, p, random)->child;
  std::size_t largest = 0, smallest = 100;
  for (int i = 0; i < 10'000; ++i) {
    g = mutate(space, p, g, {}, random).child;
    judge(space, p, g);
    largest = std::max(largest, g.nodes.size() - 2);
    smallest = std::min(smallest, g.nodes.size() - 2);
  }
  CHECK(largest == space.rules.max_nodes);
  CHECK(smallest < 5);
}

TEST_CASE("variation: the same key gives the same genomes and networks") {
  const auto space = real_space("image.toml");
  const auto p = digits();
  for (std::uint64_t i = 0; i < 100; ++i) {
    auto one = derive(7, purpose::mutation, 0, i),
         two = derive(7, purpose::mutation, 0, i);
    const auto first = sample(space, p, one), second = sample(space, p, two);
    REQUIRE(first);
    CHECK(first->child == second->child);
    const auto a = mutate(space, p, first->child, {}, one);
    const auto b = mutate(space, p, second->child, {}, two);
    CHECK(a.child == b.child);
    CHECK(a.changes == b.changes);
    CHECK(decode(space, a.child, p) == decode(space, b.child, p));
  }
}

TEST_CASE("variation: layer names stay when another layer comes") {
  const auto space = real_space("image.toml");
  const auto p = digits();
  auto random = derive(8, purpose::mutation, 0, 0);
  const auto parent = sample(space, p, random)->child;
  const mutation_params grow{.add_node = 1,
                             .add_edge = 0,
                             .remove_node = 0,
                             .remove_edge = 0,
                             .change_operator = 0,
                             .widen = 0,
                             .narrow = 0,
                             .change_setting = 0,
                             .change_hyperparameter = 0,
                             .again = 0};
  const auto child = mutate(space, p, parent, grow, random).child;
  REQUIRE(child.nodes.size() == parent.nodes.size() + 1);
  std::set<std::string> names;
  const auto grown = decode(space, child, p);
  REQUIRE(grown);
  for (const layer& l : grown->layers)
    names.insert(l.name);
  for (const node_gene& node : parent.nodes)
    CHECK(names.contains(to_text(node.id)));
}

TEST_CASE("variation: a space that fits nothing says so before anything starts") {
  const auto space = a_space("image = true\n"
                             "[limits]\nmax_parameters = 100\n"
                             "[operators.conv]\nfilters = 64\n");
  auto random = derive(1, purpose::sample, 0, 0);
  const auto sampled = sample(space, digits(), random);
  REQUIRE(!sampled);
  CHECK(sampled.error().kind == error_kind::invalid_input);
  const auto checked = check(space, digits());
  REQUIRE(!checked);
  CHECK_THAT(checked.error().message,
             Catch::Matches("space.toml: no valid network fits examples of shape "
                            "\\[1, 8, 8\\]; the last of 1,000 random ones: [0-9,]+ "
                            "parameters exceed limits.max_parameters = 100; raise that "
                            "limit, or offer smaller layers"));
}

TEST_CASE("variation: a check finds data that the space cannot take") {
  const auto space = real_space("image.toml");
  CHECK(check(space, digits()));
  CHECK(check(real_space("mlp.toml"), digits()));
  const auto vectors = check(space, {.input = {{64}}, .outputs = 10});
  REQUIRE(!vectors);
  CHECK(vectors.error().message
        == space.name
               + ": this search space wants images [channels, height, width], but the "
                 "examples have shape [64]; set data.shape, or take a space for vectors "
                 "such "
                 "as mlp.toml");
}

TEST_CASE("variation: a parent with no room to change changes its hyperparameters") {
  auto space =
      a_space("image = true\n[operators.conv]\nfilters = [8, 64]\nkernel = 3\n"
              "[hyperparameters]\nlearning_rate = { low = 0.001, high = 0.1 }\n");
  auto random = derive(1, purpose::sample, 0, 0);
  auto parent =
      a_chain({{"conv", {{"filters", std::int64_t{8}}, {"kernel", std::int64_t{3}}}}});
  parent.hyperparameters = {{"learning_rate", 0.01}};
  space.limits.max_parameters = 5210; // The parent's own.
  const mutation_params only_widen{.add_node = 0,
                                   .add_edge = 0,
                                   .remove_node = 0,
                                   .remove_edge = 0,
                                   .change_operator = 0,
                                   .widen = 1,
                                   .narrow = 0,
                                   .change_setting = 0,
                                   .change_hyperparameter = 0,
                                   .again = 0};
  const auto made = mutate(space, digits(), parent, only_widen, random);
  CHECK(made.child.nodes == parent.nodes);
  CHECK(made.child.edges == parent.edges);
  CHECK(made.child.hyperparameters != parent.hyperparameters);
  CHECK_THAT(to_text(made.changes), Catch::StartsWith("learning_rate 0.01 -> "));
}

TEST_CASE("variation: a crossed child over the limits gives way to the fitter parent") {
  // Filters come from either parent: 8 then 64 would be the narrow parents' forbidden
  // child.
  auto space = a_space("image = true\n[operators.conv]\nfilters = [8, 64]\nkernel = 3\n");
  const auto parent = [](std::int64_t first, std::int64_t second) {
    return a_chain({{"conv", {{"filters", first}, {"kernel", std::int64_t{3}}}},
                    {"conv", {{"filters", second}, {"kernel", std::int64_t{3}}}}});
  };
  const auto mother = parent(8, 64), father = parent(64, 8);
  space.limits.max_multiply_adds =
      std::max(decode(space, mother, digits())->cost().multiply_adds,
               decode(space, father, digits())->cost().multiply_adds);
  std::size_t gave_way = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    auto random = derive(1, purpose::crossover, 0, i);
    const auto made = cross(space, digits(), mother, father, random);
    CHECK(decode(space, made.child, digits()));
    if (to_text(made.changes) == "crossed, but over the limits: the fitter parent") {
      CHECK(made.child == mother);
      ++gave_way;
    }
  }
  CHECK(gave_way > 0);
  CHECK(gave_way < 100);
}
