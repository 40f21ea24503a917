#include "tests/engine/training/training_data.hpp"

#include "genome/base/random.hpp"
#include "tests/support/genomes.hpp"

#include <catch2/catch.hpp>

#include <cmath>

namespace clade {
namespace {

random_stream noise() {
  return derive(7, purpose::synthetic, 0, 0);
}

std::string row(const std::vector<double>& features, double target) {
  std::string line;
  for (const double f : features)
    line += std::to_string(f) + ",";
  return line + std::to_string(target) + "\n";
}

std::string class_row(const std::vector<double>& features, std::size_t label) {
  std::string line;
  for (const double f : features)
    line += std::to_string(f) + ",";
  return line + std::to_string(label) + "\n";
}

} // namespace

std::string separable_csv(std::size_t examples) {
  auto random = noise();
  std::string csv;
  for (std::size_t i = 0; i < examples; ++i) {
    const std::size_t label = i % 3;
    csv += class_row({(label == 0 ? 9.0 : 0.0) + random.normal(),
                      (label == 1 ? 9.0 : 0.0) + random.normal()},
                     label);
  }
  return csv;
}

std::string noise_csv(std::size_t examples) {
  auto random = noise();
  std::string csv;
  for (std::size_t i = 0; i < examples; ++i)
    csv += class_row({random.normal(), random.normal()}, i % 2);
  return csv;
}

std::string plane_csv(std::size_t examples) {
  auto random = noise();
  std::string csv;
  for (std::size_t i = 0; i < examples; ++i) {
    const double a = random.normal();
    const double b = random.normal();
    csv += row({a, b}, 100 + 30 * a - 20 * b);
  }
  return csv;
}

std::string chequered_csv(std::size_t examples) {
  auto random = noise();
  std::string csv;
  for (std::size_t i = 0; i < examples; ++i) {
    const double a = 2 * random.uniform() - 1, b = 2 * random.uniform() - 1;
    csv += class_row({a, b}, (a < 0) == (b < 0) ? 1 : 0);
  }
  return csv;
}

std::string waves_csv(std::size_t examples) {
  auto random = noise();
  std::string csv;
  for (std::size_t i = 0; i < examples; ++i) {
    std::vector<double> steps;
    for (std::size_t t = 0; t < 24; ++t)
      steps.push_back(0.2 * random.normal());
    const auto first = random.below(12);
    for (std::size_t t = 0; t < 12; ++t)
      steps[first + t] += std::sin(static_cast<double>(t) * (i % 2 == 0 ? 0.7 : 1.5));
    csv += class_row(steps, i % 2);
  }
  return csv;
}

std::string halves_csv(std::size_t examples) {
  auto random = noise();
  std::string csv;
  for (std::size_t i = 0; i < examples; ++i) {
    std::vector<double> pixels;
    for (std::size_t p = 0; p < 36; ++p)
      pixels.push_back((p / 18 == i % 2 ? 0.7 : 0.0) + 0.3 * random.uniform());
    csv += class_row(pixels, i % 2);
  }
  return csv;
}

training_bench::training_bench(const std::string& csv) {
  setup.data.file = folder_.path() / "data.csv";
  write_text(setup.data.file, csv);
  setup.space.name = "space.toml";
  setup.seed = 1;
  setup.training.patience = 0;
}

std::unique_ptr<fitness_function> training_bench::trainer() const {
  auto made = make_trainer(setup);
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  return std::move(*made);
}

genome a_dense_network() {
  auto g = test::a_chain(
      {{{}, "dense", {{"activation", "relu"}, {"units", std::int64_t{16}}}}});
  g.hyperparameters = {{"learning_rate", 0.02}};
  return g;
}

genome a_conv_network() {
  auto g = test::a_chain({{{}, "conv", {{"filters", std::int64_t{4}}, {"norm", "batch"}}},
                          {{}, "dropout", {{"rate", 0.3}}}});
  g.hyperparameters = {{"learning_rate", 0.01}, {"shift", std::int64_t{1}}};
  return g;
}

job a_job(genome g, candidate_id id) {
  return {.id = id, .genome = std::move(g), .seed = 1, .budget = {.epochs = 10}};
}

double metric_of(const std::vector<metric>& metrics, std::string_view name) {
  const auto found = find(metrics, name);
  INFO(name);
  REQUIRE(found);
  return *found;
}

} // namespace clade
