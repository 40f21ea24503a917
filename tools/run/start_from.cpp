#include "tools/run/start_from.hpp"

#include "engine/report/base/format.hpp"
#include "engine/search/core/known_points.hpp"
#include "engine/search/models/base/normal_scores.hpp"
#include "engine/search/models/fitted/earlier_results.hpp"
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
  std::string why;                     ///< The reason of the last that was left out.
  std::vector<earlier_result> results; ///< For a model to begin with.
};

/// The numbers of at most `most` of so many, best first: half of them the best, and the
/// others evenly among the rest.
std::vector<std::size_t> spread(std::size_t count, std::size_t most) {
  std::vector<std::size_t> chosen;
  const auto best = std::min(count, (most + 1) / 2);
  for (std::size_t i = 0; i < best; ++i)
    chosen.push_back(i);
  const auto rest = std::min(count, most) - best;
  for (std::size_t i = 1; i <= rest; ++i)
    chosen.push_back(best - 1 + i * (count - best) / rest);
  return chosen;
}

/// The network and the fitness of each candidate of the search that succeeded, best first,
/// the score being the normal score.
expected<std::vector<earlier_result>> results_of(const store& s) {
  const auto overview = s.overview();
  if (!overview)
    return tl::unexpected(overview.error());
  std::map<candidate_id, double> fitness;
  auto read = s.for_each_descent([&](const descent_row& row) {
    if (row.fitness && !row.to_the_end)
      fitness[row.id] = overview->goal.maximize ? *row.fitness : -*row.fitness;
  });
  if (!read)
    return tl::unexpected(read.error());
  std::vector<candidate_id> ids;
  std::vector<double> values;
  for (const auto& [id, value] : fitness) {
    ids.push_back(id);
    values.push_back(value);
  }
  const auto scores = normal_scores(values);
  std::vector<earlier_result> all;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto c = s.find_candidate(ids[i]);
    if (!c)
      return tl::unexpected(c.error());
    all.push_back({*c->genome, scores[i]});
  }
  std::ranges::stable_sort(all, std::greater{}, &earlier_result::score);
  return all;
}

/// The results of a run, at most so many, as a model of this experiment can learn from them:
/// networks of its own space.
expected<std::vector<earlier_result>> fitted_results(const store& s, std::size_t most,
                                                     const checked_experiment& of) {
  return results_of(s).map([&](std::vector<earlier_result>&& all) {
    std::vector<earlier_result> fitted;
    for (auto& one : all) {
      auto point = fitted_point("", one.genome, of.experiment.space, of.problem);
      if (!point || (has_layers(of.experiment.space.rules) && !point->network))
        continue;
      genome g = point->network ? std::move(*point->network) : one.genome;
      g.hyperparameters = std::move(point->hyperparameters);
      fitted.push_back({std::move(g), one.score});
    }
    std::vector<earlier_result> chosen;
    for (const auto i : spread(fitted.size(), most))
      chosen.push_back(std::move(fitted[i]));
    return chosen;
  });
}

expected<source> read_source(const std::string& run, std::size_t most_results,
                             const checked_experiment& of) {
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
  if (most_results == 0)
    return from;
  return fitted_results(opened->s, most_results, of)
      .map([&](std::vector<earlier_result>&& results) {
        from.results = std::move(results);
        return std::move(from);
      });
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
  if (!from.results.empty())
    text += fmt::format("; the model begins with {} of its results", from.results.size());
  return text;
}

} // namespace

expected<std::vector<std::string>> start_from(const std::vector<std::string>& runs,
                                              checked_experiment& into) {
  std::vector<source> sources;
  auto& evolution = into.experiment.evolution;
  const bool with_model =
      evolution.strategy == "surrogate" && into.experiment.objective.others.empty();
  for (const auto& run : runs) {
    auto from =
        read_source(run, with_model ? earlier_results::most / runs.size() : 0, into);
    if (!from)
      return tl::unexpected(from.error());
    for (const auto& one : from->results)
      evolution.own.of<earlier_results>().texts.push_back(to_text(one));
    sources.push_back(std::move(*from));
  }
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

expected<std::string> told_of_earlier(const store& s, const experiment& e) {
  const auto earlier = earlier_results_of(e.evolution);
  if (!earlier)
    return tl::unexpected(earlier.error());
  if (earlier->empty())
    return std::string();
  return results_of(s).map([&](const std::vector<earlier_result>& own) {
    const auto found = agreement(*earlier, own, e.space.rules, e.seed);
    return found ? fmt::format("the {} results that the model began with order the {} of "
                               "this run with a rank correlation of {:.2f}",
                               earlier->size(), own.size(), *found)
                 : std::string();
  });
}

} // namespace clade
