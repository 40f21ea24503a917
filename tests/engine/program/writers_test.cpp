#include "engine/program/write/writer.hpp"
#include "tests/support/operators.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace clade;

namespace {

/// A network of one layer, which has so many inputs of a shape.
network alone(const operator_entry& o, const tensor_shape& shape,
              const std::vector<setting>& given) {
  const auto settings = complete(o, given);
  REQUIRE(settings);
  layer l{.name = "n1",
          .op = std::string(o.name),
          .settings = *settings,
          .in = std::vector<tensor_shape>(o.merges ? 2 : 1, shape)};
  l.out = o.shape(l.in, l.settings);
  return {.layers = {l}};
}

} // namespace

TEST_CASE("writers: each computation of an operator has one, and no other has") {
  std::set<std::string_view> computed, written;
  for (const auto& o : operators())
    for (const auto& shape :
         {tensor_shape{{4, 7, 5}}, tensor_shape{{4, 8, 8}}, tensor_shape{{6}},
          tensor_shape{{7, 4}}, tensor_shape{{8, 4}}}) {
      if (o.parts != nullptr || !o.works_on(shape.layout()) || test::is_of_time(o))
        continue;
      std::vector<std::vector<setting>> ways{{}};
      for (const auto& s : o.settings)
        for (const auto word : s.words)
          ways.push_back({{std::string(s.name), std::string(word)}});
      for (const auto& way : ways)
        for (const auto& s : lower(alone(o, shape, way)).steps)
          computed.insert(s.computes);
    }
  for (const auto& w : writers()) {
    INFO(w.computes);
    CHECK(written.insert(w.computes).second);
    CHECK(w.onnx != nullptr);
    CHECK(w.script != nullptr);
    CHECK((w.python != nullptr || w.python_module != nullptr));
  }
  CHECK(computed.insert("over_time").second);
  CHECK(computed == written);
}

TEST_CASE("writers: numbers are literals with a point or an exponent") {
  CHECK(literal(1) == "1.0");
  CHECK(literal(0.1) == "0.1");
  CHECK(literal(1e-5) == "1e-05");
  CHECK(attribute_name("conv1.weight") == "conv1_weight");
}
