#include "engine/report/view/diff.hpp"

#include "engine/config/file/flat_settings.hpp"
#include "engine/report/view/decision_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace clade {

namespace {

/// Effort at which people like to look.
constexpr std::array evaluation_marks{1e1, 2e1, 5e1, 1e2, 2e2, 5e2, 1e3, 2e3,
                                      5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6};
constexpr std::array second_marks{0.1,     0.2,     0.5,      1.0,      2.0,     5.0,
                                  10.0,    20.0,    30.0,     60.0,     120.0,   300.0,
                                  600.0,   1200.0,  1800.0,   3600.0,   7200.0,  18000.0,
                                  36000.0, 86400.0, 172800.0, 432000.0, 864000.0};
constexpr std::size_t marks_shown = 6;

/// Seed and hash of all that decides the search; the first record.
expected<std::string> start_of(const store& s) {
  std::string start;
  const auto stop = fail(error_kind::internal, "");
  const auto read = s.for_each([&](std::uint64_t, std::int64_t, const record& r) {
    if (const auto* started = std::get_if<run_started>(&r))
      start = fmt::format("{} {}", started->seed, to_text(started->search));
    return expected<void>(stop);
  });
  if (!read && start.empty())
    return tl::unexpected(read.error());
  return start;
}

expected<compared_run> view_compared(const opened_run& one) {
  auto run = view_run(one.s, one.file);
  if (!run)
    return tl::unexpected(run.error());
  const auto& o = run->overview;
  if (o.version.empty())
    return fail(error_kind::not_found,
                one.file.string() + ": nothing is recorded of it yet");
  auto digest = digest_of(one.s);
  if (!digest)
    return tl::unexpected(digest.error());
  run->digest = *digest;
  auto settings = flat_settings(o.experiment, one.file.string() + ": its experiment");
  if (!settings)
    return tl::unexpected(settings.error());
  auto curve = view_best_curve(one.s, o);
  if (!curve)
    return tl::unexpected(curve.error());
  return compared_run{.run = std::move(*run),
                      .settings = std::move(*settings),
                      .curve = std::move(*curve)};
}

expected<std::vector<compared_run>> view_side(std::span<const opened_run> side,
                                              bool several) {
  std::vector<compared_run> runs;
  std::map<std::uint64_t, std::string> seeds;
  for (const auto& one : side) {
    auto run = view_compared(one);
    if (!run)
      return tl::unexpected(run.error());
    const auto seed = run->run.overview.seed;
    const auto [known, fresh] = seeds.emplace(seed, one.file.string());
    if (several && !fresh)
      return fail(error_kind::invalid_input,
                  fmt::format("{} and {} both have seed {}; pairs are made by seed, so "
                              "give one run of each on a side",
                              known->second, one.file.string(), seed));
    runs.push_back(std::move(*run));
  }
  return runs;
}

/// By seed; two runs alone are a pair whatever theirs are.
void make_pairs(run_diff& d) {
  const auto seed = [](const compared_run& r) { return r.run.overview.seed; };
  if (!d.several()) {
    d.pairs.push_back({.a = 0, .b = 0});
    return;
  }
  std::set<std::uint64_t> paired;
  for (std::size_t a = 0; a < d.a.size(); ++a) {
    const auto b = std::ranges::find(d.b, seed(d.a[a]), seed);
    if (b == d.b.end())
      continue;
    paired.insert(seed(*b));
    d.pairs.push_back({.a = a, .b = static_cast<std::size_t>(b - d.b.begin())});
  }
  for (const auto* side : {&d.a, &d.b})
    for (const auto& r : *side)
      if (!paired.contains(seed(r)))
        d.unpaired.push_back(seed(r));
}

const std::vector<best_step>& steps_of(const best_curve& c,
                                       effort_comparison::measure by) {
  switch (by) {
  case effort_comparison::measure::evaluations:
    return c.by_evaluations;
  case effort_comparison::measure::training:
    return c.by_training;
  case effort_comparison::measure::wall:
    break;
  }
  return c.by_wall;
}

double effort_of(const best_curve& c, effort_comparison::measure by) {
  switch (by) {
  case effort_comparison::measure::evaluations:
    return c.evaluations;
  case effort_comparison::measure::training:
    return c.training_seconds;
  case effort_comparison::measure::wall:
    break;
  }
  return c.wall_seconds;
}

/// A few round numbers, and then what all runs reached.
std::vector<double> marks_until(double common, effort_comparison::measure by) {
  std::vector<double> marks;
  const auto take = [&](const auto& round) {
    for (const auto m : round)
      if (m < common)
        marks.push_back(m);
  };
  if (by == effort_comparison::measure::evaluations)
    take(evaluation_marks);
  else
    take(second_marks);
  if (marks.size() > marks_shown)
    marks.erase(marks.begin(), marks.end() - marks_shown);
  marks.push_back(common);
  return marks;
}

effort_comparison compare_efforts(const run_diff& d, effort_comparison::measure by) {
  effort_comparison c{.by = by};
  auto common = effort_of(d.a.front().curve, by);
  for (const auto* side : {&d.a, &d.b})
    for (const auto& r : *side)
      common = std::min(common, effort_of(r.curve, by));
  for (const auto effort : marks_until(common, by)) {
    effort_mark mark{.effort = effort};
    for (const auto& r : d.a)
      mark.a.push_back(best_at(steps_of(r.curve, by), effort));
    for (const auto& r : d.b)
      mark.b.push_back(best_at(steps_of(r.curve, by), effort));
    c.marks.push_back(std::move(mark));
  }
  if (d.several())
    c.signs = count_signs(c.marks.back(), d.pairs, d.goal.maximize);
  return c;
}

} // namespace

std::vector<setting_difference>
diff_settings(std::span<const std::map<std::string, std::string>> a,
              std::span<const std::map<std::string, std::string>> b) {
  std::set<std::string> keys;
  for (const auto& side : {a, b})
    for (const auto& settings : side)
      for (const auto& [key, value] : settings)
        keys.insert(key);
  const auto values = [](const auto& side, const std::string& key) {
    std::vector<std::string> found;
    for (const auto& settings : side) {
      const auto one = settings.find(key);
      const auto text = one == settings.end() ? "-" : one->second;
      if (std::ranges::find(found, text) == found.end())
        found.push_back(text);
    }
    return found;
  };
  std::vector<setting_difference> differences;
  for (const auto& key : keys) {
    setting_difference d{.key = key, .a = values(a, key), .b = values(b, key)};
    if (d.a != d.b)
      differences.push_back(std::move(d));
  }
  return differences;
}

paired_signs count_signs(const effort_mark& mark, std::span<const run_pair> pairs,
                         bool maximize) {
  paired_signs signs;
  for (const auto& p : pairs) {
    const auto &a = mark.a[p.a], &b = mark.b[p.b];
    if (a == b)
      ++signs.equal;
    else if (a && (!b || (maximize ? *a > *b : *a < *b)))
      ++signs.first;
    else
      ++signs.second;
  }
  return signs;
}

expected<run_diff> diff_runs(std::span<const opened_run> a,
                             std::span<const opened_run> b) {
  run_diff d;
  const bool several = a.size() > 1 || b.size() > 1;
  auto of_a = view_side(a, several);
  if (!of_a)
    return tl::unexpected(of_a.error());
  auto of_b = view_side(b, several);
  if (!of_b)
    return tl::unexpected(of_b.error());
  d.a = std::move(*of_a);
  d.b = std::move(*of_b);
  d.goal = d.a.front().run.overview.goal;
  for (const auto* side : {&d.a, &d.b})
    for (const auto& r : *side)
      d.same_goal = d.same_goal && r.run.overview.goal.metric == d.goal.metric
                    && r.run.overview.goal.maximize == d.goal.maximize;
  std::vector<std::map<std::string, std::string>> settings_a, settings_b;
  for (const auto& r : d.a)
    settings_a.push_back(r.settings);
  for (const auto& r : d.b)
    settings_b.push_back(r.settings);
  d.settings = diff_settings(settings_a, settings_b);
  make_pairs(d);
  for (auto& pair : d.pairs) {
    if (auto ok = compare_decisions(a[pair.a], b[pair.b], d.a[pair.a], d.b[pair.b], pair);
        !ok)
      return tl::unexpected(ok.error());
    const auto start_a = start_of(a[pair.a].s), start_b = start_of(b[pair.b].s);
    if (!start_a || !start_b)
      return tl::unexpected((start_a ? start_b : start_a).error());
    pair.same_start = *start_a == *start_b;
  }
  if (d.same_goal)
    for (const auto by :
         {effort_comparison::measure::evaluations, effort_comparison::measure::training,
          effort_comparison::measure::wall})
      d.efforts.push_back(compare_efforts(d, by));
  return d;
}

} // namespace clade
