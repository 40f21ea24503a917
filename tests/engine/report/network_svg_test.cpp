#include "engine/report/page/network_svg.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace clade;
using namespace clade::test;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++n;
  return n;
}

} // namespace

TEST_CASE("network drawing: a box for each node and a line for each edge") {
  const auto svg = network_svg(a_genome());
  CHECK(count(svg, "<rect") == 4);
  CHECK(count(svg, "class=\"wire\"") == 4);
  CHECK_THAT(svg, Catch::Contains(">conv</text>"));
  CHECK_THAT(svg, Catch::Contains(">filters 16, kernel 3, padding same</text>"));
  CHECK(svg.find("nan") == std::string::npos);
}

TEST_CASE("network drawing: names are text and never markup") {
  const auto svg = network_svg(a_chain({{{}, "conv", {{"mode", "<b>&\"x\""}}}}));
  CHECK(svg.find("<b>") == std::string::npos);
  CHECK_THAT(svg, Catch::Contains("&lt;b&gt;&amp;&quot;x&quot;"));
}

TEST_CASE("network drawing: edges that are off and nodes that are dead are left out") {
  auto g = a_genome();
  for (auto& e : g.edges)
    if (e.from == innovation{3})
      e.enabled = false;
  const auto svg = network_svg(g);
  CHECK(count(svg, "<rect") == 3);
  CHECK(count(svg, "class=\"wire\"") == 2);
}

TEST_CASE("network drawing: what nobody could read is not drawn") {
  CHECK(network_svg(a_chain(std::vector<node_gene>(100, {{}, "relu", {}}))).empty());
}
