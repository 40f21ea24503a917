#include "engine/search/models/fitted/earlier_results.hpp"

#include "engine/search/models/base/normal_scores.hpp"
#include "genome/base/text.hpp"
#include "genome/base/utf8.hpp"
#include "genome/variation/parse_genome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace clade {

void keys(own_keys& v, earlier_results& p) {
  v.unusual_list(describe("earlier",
                          "Written by Clade into a resolved experiment: the results of "
                          "the runs of `--start-from` that a model begins with."),
                 p.texts, {});
}

std::string to_text(const earlier_result& r) {
  return fmt::format("{}\n{}", to_text(value(r.score)), to_text(r.genome));
}

expected<earlier_result> parse_earlier_result(std::string_view text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto score = parse_number<double>(text.substr(0, end));
  if (!score || !std::isfinite(*score))
    return fail(error_kind::invalid_input,
                fmt::format("evolution.earlier: \"{}\" is no score",
                            clipped(text.substr(0, end))));
  auto g = parse_genome(text.substr(end));
  if (!g)
    return fail_in("evolution.earlier", std::move(g.error()));
  return earlier_result{std::move(*g), *score};
}

expected<std::vector<earlier_result>> earlier_results_of(const evolution_params& params) {
  std::vector<earlier_result> all;
  for (const auto& text : params.own.of<earlier_results>().texts) {
    auto one = parse_earlier_result(text);
    if (!one)
      return tl::unexpected(std::move(one.error()));
    all.push_back(std::move(*one));
  }
  return all;
}

std::vector<example> examples_of(std::span<const earlier_result> results,
                                 const genome_features& features) {
  std::vector<example> all;
  for (const auto& r : results)
    all.push_back({.features = features.encode(r.genome), .fitness = r.score});
  return all;
}

std::optional<double> agreement(std::span<const earlier_result> earlier,
                                std::span<const earlier_result> own, const grammar& rules,
                                std::uint64_t seed) {
  if (std::min(earlier.size(), own.size()) < earlier_results::fewest)
    return std::nullopt;
  const genome_features features(rules);
  const auto model =
      surrogate::fit(examples_of(earlier, features), features.blocks(), seed);
  std::vector<double> expected, measured;
  for (const auto& r : own) {
    expected.push_back(model.predict(features.encode(r.genome)).mean);
    measured.push_back(r.score);
  }
  expected = normal_scores(expected);
  measured = normal_scores(measured);
  const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  const auto size = std::sqrt(product(expected, expected) * product(measured, measured));
  return size > 0 ? std::optional(product(expected, measured) / size) : std::nullopt;
}

} // namespace clade
