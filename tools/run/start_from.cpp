#include "tools/run/start_from.hpp"

#include "engine/report/base/format.hpp"
#include "engine/search/core/known_points.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/files/points.hpp"
#include "tools/run/stored_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace clade {

namespace {

/// The points of one run, the best first, and the candidates that gave none.
struct source {
  std::string run;
  std::vector<known_point> points;
  std::size_t without_network = 0;
  std::size_t left_out = 0;
  std::string why; ///< The reason of the last that was left out.
};

expected<source> read_source(const std::string& run, const checked_experiment& of) {
  auto opened = open_stored_run(run);
  if (!opened)
    return tl::unexpected(opened.error());
  const auto folded = fold_run(opened->s, opened->file.string());
  if (!folded)
    return tl::unexpected(folded.error());
  source from{.run = opened->file.parent_path().filename().string()};
  std::string last = "it has no candidate that succeeded";
  for (const auto& i : folded->state.best) {
    auto point = fitted_point(fmt::format("{} {}", from.run, numbered(i.id)), *i.genome,
                              of.experiment.space, of.problem);
    if (point) {
      from.points.push_back(std::move(*point));
      continue;
    }
    ++from.left_out;
    last = from.why = fmt::format("{}: {}", numbered(i.id), point.error().message);
  }
  if (from.points.empty())
    return fail(error_kind::invalid_input,
                fmt::format("--start-from {}: none of its best fits: {}", run, last));
  return from;
}

std::string words_of(const source& from, std::size_t came, std::size_t without_network) {
  auto text = fmt::format("{} of the first candidates {} from {}", came,
                          came == 1 ? "comes" : "come", from.run);
  if (without_network > 0)
    text += fmt::format(", {} of them by hyperparameters alone", without_network);
  if (from.left_out > 0)
    text += fmt::format("; {} of its best {} left out, as {} not fit ({})", from.left_out,
                        from.left_out == 1 ? "is" : "are",
                        from.left_out == 1 ? "it does" : "they do", from.why);
  return text;
}

} // namespace

expected<std::vector<std::string>> start_from(const std::vector<std::string>& runs,
                                              checked_experiment& into) {
  std::vector<source> sources;
  for (const auto& run : runs) {
    auto from = read_source(run, into);
    if (!from)
      return tl::unexpected(from.error());
    sources.push_back(std::move(*from));
  }
  auto& evolution = into.experiment.evolution;
  std::vector<std::string> lines;
  if (sources.empty())
    return lines;
  auto& points = evolution.own.of<known_points>().points;
  const auto most = std::max<std::size_t>((evolution.population + 1) / 2, 1);
  std::vector<std::size_t> came(sources.size()), without_network(sources.size());
  std::set<std::string> known;
  std::size_t rank = 0, taken = 0;
  for (bool any = true; any; ++rank) {
    any = false;
    for (std::size_t s = 0; s < sources.size(); ++s) {
      if (rank >= sources[s].points.size())
        continue;
      any = true;
      auto point = sources[s].points[rank];
      const auto text = to_toml(point);
      point.name.clear();
      if (taken == most || points.size() == evolution.population
          || !known.insert(to_toml(point)).second)
        continue;
      points.push_back(text);
      ++taken;
      ++came[s];
      without_network[s] += point.network ? 0 : 1;
    }
  }
  for (std::size_t s = 0; s < sources.size(); ++s)
    lines.push_back(words_of(sources[s], came[s], without_network[s]));
  return lines;
}

std::set<std::string> point_names(const experiment& e) {
  std::set<std::string> names;
  for (const auto& text : points_of(e.evolution))
    if (const auto points = parse_points(text, "evolution.points", e.space))
      names.insert(points->front().name);
  return names;
}

expected<std::vector<std::string>> told_of_points(const store& s,
                                                  const std::set<std::string>& names) {
  const auto overview = s.overview();
  if (!overview)
    return tl::unexpected(overview.error());
  struct evaluated {
    candidate_id id = 0;
    std::optional<double> fitness;
    std::string point;
  };
  std::map<candidate_id, evaluated> all;
  auto read = s.for_each_descent([&](const descent_row& row) {
    all[row.id] = {row.id, row.fitness, row.seed};
  });
  if (!read)
    return tl::unexpected(read.error());
  std::vector<double> sorted;
  const double sign = overview->goal.maximize ? 1 : -1;
  for (const auto& [id, one] : all)
    if (one.fitness)
      sorted.push_back(-sign * *one.fitness);
  std::ranges::sort(sorted);
  std::vector<std::string> lines;
  for (const auto& [id, one] : all) {
    if (!names.contains(one.point))
      continue;
    if (!one.fitness) {
      lines.push_back(fmt::format("{}, {}: did not succeed", one.point, numbered(id)));
      continue;
    }
    const auto place = std::ranges::lower_bound(sorted, -sign * *one.fitness);
    lines.push_back(fmt::format("{}, {}: {} {}, number {} of {}", one.point, numbered(id),
                                overview->goal.metric, metric_text(*one.fitness),
                                place - sorted.begin() + 1, sorted.size()));
  }
  return lines;
}

} // namespace clade
