#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/operators/operators.hpp"
#include "search_spaces/operators/search_space.hpp"
#include "tests/search_spaces/space_files.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>

using namespace clade;

namespace {

std::string written(std::string_view text) {
  return to_toml(a_space(text));
}

} // namespace

TEST_CASE("search space: what a short file leaves out has its default") {
  CHECK(written("[operators.dense]\nunits = [16, 32]\n") == R"(image = false
merge = ["add"]

[limits]
initial_nodes = 3
max_nodes = 16
max_skips = 8
max_parameters = 1000000
max_multiply_adds = 100000000
max_width = 512

[operators.dense]
weight = 1.0
units = [16, 32]
)");
}

TEST_CASE("search space: every form is read and written back") {
  const std::string text = R"(image = true
merge = ["concat", "add"]

[limits]
initial_nodes = 2
max_nodes = 2
max_skips = 0
max_parameters = 1000
max_multiply_adds = 2000
max_width = 64

[operators.conv]
weight = 0.25
filters = { low = 8, high = 64, log = true, step = 8 }
kernel = { low = 1, high = 5, step = 2 }
norm = ["batch"]
activation = { choice = ["relu", "gelu"], when = { norm = ["batch"] } }
stride = { choice = [2, 1], ordered = true }

[operators.dropout]
weight = 3.0
rate = { low = 0.0, high = 0.5 }

[hyperparameters]
batch_size = { choice = [16, 32], ordered = false }
label_smoothing = [0.1, 0.2, 1.0]
learning_rate = { low = 1e-04, high = 0.1, log = true }
optimiser = ["sgd", "adam"]
momentum = { low = 0.5, high = 0.99, when = { optimiser = ["sgd"] } }
)";
  const auto space = a_space(text);
  const auto& conv = space.rules.operators.at(0);
  CHECK(conv.name == "conv");
  CHECK(conv.weight == 0.25);
  const auto& filters = conv.settings.at(0);
  CHECK(filters.name == "filters");
  CHECK(filters.width);
  CHECK(std::get<integer_domain>(filters.domain).step == 8);
  CHECK(std::get<integer_domain>(filters.domain).log);
  const auto& rate = space.rules.operators.at(1).settings.at(0);
  CHECK(!rate.width);
  CHECK(std::get<real_domain>(rate.domain).high == 0.5);
  // Conditions look back, all else is by name.
  std::string names;
  for (const parameter& p : space.rules.hyperparameters)
    names += p.name + " ";
  CHECK(names == "batch_size label_smoothing learning_rate optimiser momentum ");
  const auto& smoothing =
      std::get<choice_domain>(space.rules.hyperparameters.at(1).domain);
  CHECK(smoothing.options == std::vector<value>{0.1, 0.2, 1.0});
  CHECK(smoothing.ordered);
  CHECK(!std::get<choice_domain>(space.rules.hyperparameters.at(0).domain).ordered);

  const auto toml = to_toml(space);
  CHECK(to_toml(a_space(toml)) == toml);
  // Settings are by name in the written text, limits in one order.
  CHECK(
      toml.find(
          "activation = { choice = [\"relu\", \"gelu\"], when = { norm = [\"batch\"] } }")
      != std::string::npos);
  CHECK(toml.find("stride = { choice = [2, 1], ordered = true }") != std::string::npos);
}

TEST_CASE("search space: one value is a choice of one") {
  CHECK(written("image = true\n[operators.conv]\nkernel = 3\nnorm = \"batch\"\n")
        == written("image = true\n[operators.conv]\nkernel = [3]\nnorm = [\"batch\"]\n"));
  CHECK(written("[operators.dropout]\nrate = { value = 0 }\n")
        == written("[operators.dropout]\nrate = 0.0\n"));
}

TEST_CASE("search space: the order of lines changes nothing") {
  CHECK(written("[hyperparameters]\na = 1\nb = { value = 2, when = { c = 3 } }\nc = 3\n"
                "[operators.dropout]\n[operators.dense]\nunits = 5\nnorm = \"none\"\n")
        == written(
            "[operators.dense]\nnorm = \"none\"\nunits = 5\n[operators.dropout]\n"
            "[hyperparameters]\nc = 3\nb = { value = 2, when = { c = [3] } }\na = 1\n"));
}

TEST_CASE("search space: the repository's own files survive being written") {
  for (const auto* file : {"image.toml", "mlp.toml"}) {
    const auto space = real_space(file);
    const auto text = to_toml(space);
    const auto again = parse_search_space(text, "stored");
    REQUIRE(again);
    CHECK(to_toml(*again) == text);
    CHECK(again->name == "stored");
    CHECK(again->input == space.input);
    CHECK(space.rules.hyperparameters.size() >= 6);
  }
}

TEST_CASE("search space: numbers survive being written to the last bit") {
  REQUIRE(rc::check([](double a, double b) {
    RC_PRE(std::isfinite(a) && std::isfinite(b));
    auto space = an_image_space();
    const parameter p{.name = "x",
                      .domain =
                          real_domain{.low = std::min(a, b), .high = std::max(a, b)}};
    space.rules.hyperparameters = {p};
    const auto again = parse_search_space(to_toml(space), "stored");
    RC_ASSERT(again.has_value());
    const auto& domain = std::get<real_domain>(again->rules.hyperparameters.at(0).domain);
    RC_ASSERT(domain.low == std::min(a, b));
    RC_ASSERT(domain.high == std::max(a, b));
  }));
}

TEST_CASE("search space: text with quotes survives being written") {
  const auto toml =
      written("[operators.dropout]\n[hyperparameters]\nword = 'a \"b\" \\c'\n");
  CHECK(to_toml(a_space(toml)) == toml);
  CHECK(std::get<choice_domain>(a_space(toml).rules.hyperparameters.at(0).domain).options
        == std::vector<value>{"a \"b\" \\c"});
}

TEST_CASE("search space: a file replaces what its includes say") {
  const scratch_folder folder;
  folder.write("parts/training.toml",
               "[hyperparameters]\nlearning_rate = 0.1\nmomentum = 0.9\n");
  folder.write("parts/layers.toml", "include = [\"training.toml\"]\n"
                                    "image = true\nmerge = \"concat\"\n"
                                    "[limits]\nmax_nodes = 5\nmax_width = 64\n"
                                    "[operators.conv]\nfilters = 8\nkernel = 5\n"
                                    "[operators.max_pool]\n[operators.dropout]\n");
  const auto file = folder.write("main.toml", "include = [\"parts/layers.toml\"]\n"
                                              "[limits]\nmax_nodes = 7\n"
                                              "[operators.conv]\nfilters = 16\n"
                                              "[operators.dropout]\nweight = 0\n"
                                              "[hyperparameters]\nmomentum = 0.8\n");
  const auto space = load_search_space(file);
  REQUIRE(space);
  CHECK(space->name == file.string());
  CHECK(to_toml(*space) == R"(image = true
merge = ["concat"]

[limits]
initial_nodes = 3
max_nodes = 7
max_skips = 8
max_parameters = 1000000
max_multiply_adds = 100000000
max_width = 64

[operators.conv]
weight = 1.0
filters = [16]

[operators.max_pool]
weight = 1.0

[hyperparameters]
learning_rate = [0.1]
momentum = [0.8]
)");
}

TEST_CASE("search space: one file may be included by two others") {
  const scratch_folder folder;
  folder.write("base.toml", "[operators.dense]\n");
  folder.write("a.toml", "include = [\"base.toml\"]\n");
  folder.write("b.toml", "include = [\"base.toml\"]\n");
  CHECK(load_search_space(
      folder.write("main.toml", "include = [\"a.toml\", \"b.toml\"]\n")));
}

TEST_CASE("search space: fewer nodes than the usual first ones are no contradiction") {
  const auto space = a_space("[limits]\nmax_nodes = 1\n[operators.dense]\n");
  CHECK(space.rules.initial_nodes == 1);
}
