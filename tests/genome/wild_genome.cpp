#include "tests/genome/wild_genome.hpp"

#include "genome/genes/innovation.hpp"
#include "tests/support/genomes.hpp"

#include <limits>
#include <map>

namespace clade::test {

namespace {

value a_wild_value(random_stream& random) {
  using integers = std::numeric_limits<std::int64_t>;
  using reals = std::numeric_limits<double>;
  switch (random.below(10)) {
  case 0:
    return integers::min();
  case 1:
    return integers::max();
  case 2:
    return static_cast<std::int64_t>(random.below(300)) - 150;
  case 3:
    return reals::denorm_min();
  case 4:
    return reals::max();
  case 5:
    return 1.0;
  case 6:
    return random.normal();
  case 7:
    return std::string();
  case 8:
    return std::string(random.below(257), 'x');
  default:
    return std::string("Gr\xc3\xbc\xc3\x9f"
                       "e");
  }
}

std::vector<setting> wild_settings(random_stream& random) {
  std::vector<setting> settings;
  for (std::uint64_t i = random.below(4); i > 0; --i)
    assign(settings, "s" + std::to_string(random.below(6)), a_wild_value(random));
  return settings;
}

} // namespace

genome a_wild_genome(const wildness& how, random_stream& random) {
  genome g;
  std::vector<innovation> order{input_innovation};
  g.nodes = {{input_innovation, "input", {}}, {output_innovation, "output", {}}};
  for (std::uint64_t i = random.below(how.nodes + 1); i > 0; --i) {
    order.push_back(innovation{2 + random.next() / 2});
    g.nodes.push_back({order.back(), "op" + std::to_string(random.below(how.operators)),
                       how.plain ? std::vector<setting>{} : wild_settings(random)});
  }
  order.push_back(output_innovation);
  const auto connect = [&](innovation from, innovation to, std::uint32_t delay) {
    edge_gene edge{innovation_of_edge(from, to, delay), from, to, true, delay, 1.0};
    if (!how.plain) {
      edge.enabled = random.chance(0.8);
      edge.weight = random.chance(0.5) ? 1.0 : random.normal();
      edge.id = random.chance(0.5) ? edge.id : innovation{random.next()};
    }
    g.edges.push_back(edge);
  };
  for (std::size_t j = 1; j < order.size(); ++j)
    for (std::size_t i = 0; i < order.size(); ++i) {
      const bool forward = i < j;
      if ((forward || (how.recurrent && random.chance(0.3))) && random.chance(how.edge))
        connect(order[i], order[j],
                forward     ? 0
                : how.plain ? 1
                            : 1 + static_cast<std::uint32_t>(random.below(3)));
    }
  // One path that is sure to join the input to the output.
  std::erase_if(g.edges, [&](const edge_gene& e) {
    return e.from == order.front() && e.to == order[order.size() / 2] && !e.recurrent();
  });
  std::erase_if(g.edges, [&](const edge_gene& e) {
    return e.from == order[order.size() / 2] && e.to == order.back() && !e.recurrent();
  });
  g.edges.push_back(an_edge(order.front(), order[order.size() / 2]));
  if (order.size() > 2)
    g.edges.push_back(an_edge(order[order.size() / 2], order.back()));
  if (!how.plain)
    g.hyperparameters = wild_settings(random);
  return sorted(std::move(g));
}

genome renamed(const genome& g, random_stream& random) {
  std::map<innovation, innovation> names{{input_innovation, input_innovation},
                                         {output_innovation, output_innovation}};
  genome other = g;
  for (node_gene& node : other.nodes) {
    const auto fresh = names.try_emplace(node.id, innovation{2 + random.next() / 2});
    node.id = fresh.first->second;
  }
  for (edge_gene& edge : other.edges) {
    edge.id = innovation{random.next()};
    edge.from = names.at(edge.from);
    edge.to = names.at(edge.to);
  }
  return sorted(std::move(other));
}

} // namespace clade::test
