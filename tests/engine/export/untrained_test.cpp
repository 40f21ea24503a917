#include "engine/export/torch/untrained.hpp"
#include "search_spaces/operators/variation.hpp"
#include "tests/support/small_space.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using Catch::Matchers::Contains;

namespace {

network a_network() {
  auto random = derive(11, purpose::sample, 0, 0);
  const auto n =
      decode(small_space(), sample(small_space(), small_problem(), random)->child,
             small_problem());
  REQUIRE(n);
  return *n;
}

std::vector<named_file> files_of(network_format format, std::uint64_t seed) {
  const auto n = a_network();
  const auto p = small_problem();
  auto files = write_untrained(format, {.layers = n, .problem = p, .seed = seed});
  REQUIRE(files);
  return *files;
}

} // namespace

TEST_CASE("untrained: Python has the class, and its weights beside it") {
  const auto files = files_of(network_format::python, 1);
  REQUIRE(files.size() == 2);
  CHECK(files[0].name == "network.py");
  CHECK_THAT(files[0].content, Contains("class Network(nn.Module):")
                                   && Contains("with_name(\"network.safetensors\")")
                                   && Contains("gives outputs [N, 4]"));
  CHECK_THAT(files[0].content, !Contains("def predict") && !Contains("def prepare")
                                   && !Contains("CLASSES"));
  CHECK(files[1].name == "network.safetensors");
}

TEST_CASE("untrained: its weights are those of its seed") {
  for (const auto format : {network_format::python, network_format::onnx}) {
    const auto one = files_of(format, 1);
    CHECK(one.back().content == files_of(format, 1).back().content);
    CHECK(one.back().content != files_of(format, 2).back().content);
  }
}

TEST_CASE("untrained: ONNX takes and gives what the problem says") {
  const auto files = files_of(network_format::onnx, 1);
  REQUIRE(files.size() == 1);
  CHECK(files[0].name == "network.onnx");
  CHECK_THAT(files[0].content,
             Contains("probabilities") && Contains("a network before its training"));
  const auto n = a_network();
  const auto p = small_problem();
  const auto m = untrained_model({.layers = n, .problem = p, .seed = 1});
  REQUIRE(m);
  CHECK(m->how.classes == std::vector<std::string>{"0", "1", "2", "3"});
  CHECK(m->how.shape == p.input);
  CHECK(m->outputs() == 4);
}
