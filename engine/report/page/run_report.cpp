// The tables are passed over once each. Tables that may have a million rows are summed up
// as they pass: candidates into cells of a grid of size and fitness, slots' work into
// columns of time.
#include "engine/report/page/run_report.hpp"

#include "engine/config/experiment/experiment.hpp"

#include <algorithm>
#include <cmath>

namespace clade {

namespace {

/// Cells in each direction: about as fine as a chart shows.
constexpr double grid = 160;
constexpr std::size_t generations_at_a_time = 64;
/// A process that is replaced leaves a shorter gap.
constexpr std::int64_t told_pause_ms = 1000;

struct sized {
  float parameters = 0, fitness = 0;
};

std::vector<size_cell> cells_of(const std::vector<sized>& all) {
  if (all.empty())
    return {};
  const auto [least, most] = std::ranges::minmax(all, {}, &sized::fitness);
  const double low = least.fitness;
  const auto step = std::max((static_cast<double>(most.fitness) - low) / grid, 1e-12);
  std::map<std::pair<long, long>, size_cell> cells;
  for (const auto& one : all) {
    const double parameters = std::max(one.parameters, 1.0F);
    // A fortieth of a power of ten.
    const auto column = std::lround(std::log10(parameters) * 40);
    const auto row = std::lround((static_cast<double>(one.fitness) - low) / step);
    auto& cell = cells[{column, row}];
    if (cell.count++ == 0) {
      cell.parameters = parameters;
      cell.fitness = one.fitness;
    }
  }
  std::vector<size_cell> found;
  for (const auto& [place, cell] : cells)
    found.push_back(cell);
  return found;
}

/// Each of which no other of at most its size is fitter.
std::vector<size_cell> exact_front(const std::vector<sized>& all, bool maximize) {
  std::map<float, float> fittest; // by size
  for (const auto& one : all) {
    const auto [there, fresh] = fittest.emplace(one.parameters, one.fitness);
    if (!fresh && (maximize ? one.fitness > there->second : one.fitness < there->second))
      there->second = one.fitness;
  }
  std::vector<size_cell> candidates;
  for (const auto& [parameters, fitness] : fittest)
    candidates.push_back({.parameters = parameters, .fitness = fitness, .count = 1});
  return front_of(std::move(candidates), maximize);
}

expected<void> tell_sizes(const store& s, run_report& story) {
  std::vector<sized> all;
  all.reserve(story.run.overview.evaluated);
  const auto read = s.for_each_evaluation([&](const evaluation_row& e) {
    if (e.fitness && !e.copied)
      all.push_back({static_cast<float>(e.parameters), static_cast<float>(*e.fitness)});
  });
  story.sizes = cells_of(all);
  story.front = exact_front(all, story.run.overview.goal.maximize);
  return read;
}

expected<void> tell_front(const store& s, run_report& story) {
  auto front = view_front(s);
  if (!front)
    return tl::unexpected(front.error());
  story.weighed = std::move(*front);
  return {};
}

expected<void> tell_generations(const store& s, run_report& story) {
  const auto& o = story.run.overview;
  const auto count = o.born == 0 ? 0 : o.generation + 1;
  story.generations_in_all = count;
  const auto shown = std::min<std::uint64_t>(count, run_report::most_generations);
  std::optional<double> best;
  for (std::uint64_t first = 0; first < count; first += generations_at_a_time) {
    auto some = s.generations(first, generations_at_a_time);
    if (!some)
      return tl::unexpected(some.error());
    for (auto& g : *some) {
      if (g.best != 0
          && (!best
              || (o.goal.maximize ? g.best_fitness > *best : g.best_fitness < *best)))
        best = g.best_fitness;
      // From the first to the last, evenly.
      const auto next = story.generations.size();
      if (next < shown && g.generation * (shown - 1) >= next * (count - 1)) {
        story.generations.push_back(std::move(g));
        story.best_so_far.push_back(best);
      }
    }
  }
  return {};
}

expected<void> tell_best(const store& s, run_report& story) {
  const auto& o = story.run.overview;
  const auto ended = view_champion(s, nullptr, nullptr);
  if (!ended)
    return tl::unexpected(ended.error());
  story.test_metric = ended->test_metric;
  story.comparison = ended->comparison;
  story.final_model = ended->final_model;
  story.details = ended->details;
  story.verdict = ended->verdict;
  story.seeds = ended->seeds;
  story.is_champion = o.champion != 0;
  const auto id = story.is_champion ? o.champion : o.best;
  if (id == 0)
    return {};
  auto best = view_genome(s, id);
  if (!best)
    return tl::unexpected(best.error());
  story.best = std::move(*best);
  auto why = explain(s, story.run, id);
  if (!why)
    return tl::unexpected(why.error());
  story.why = std::move(*why);
  return {};
}

expected<void> tell_changes(const store& s, run_report& story) {
  std::optional<mutation_params> adapting;
  // An experiment of another version may not be readable; the rest of the report is.
  if (const auto e = parse_resolved(story.run.overview.experiment, "its experiment");
      e && e->evolution.mutation.adapt)
    adapting = e->evolution.mutation;
  mutation_credit credit(story.run.overview.goal.maximize, adapting);
  auto read = s.for_each_child([&](const child_row& c) { credit.add(c); });
  story.credits = credit.credits();
  story.rates = credit.rates();
  return read;
}

expected<void> tell_importance(const store& s, run_report& story) {
  return measure_importance(s).map(
      [&](std::optional<importance>&& measured) { story.matters = std::move(measured); });
}

expected<void> tell_annotations(const store& s, run_report& story) {
  return s.find_annotations().map(
      [&](annotations&& found) { story.annotated = std::move(found); });
}

expected<void> tell_failures(const store& s, run_report& story) {
  auto failures = s.failures(run_report::most_failures);
  if (!failures)
    return tl::unexpected(failures.error());
  story.failures = std::move(*failures);
  return {};
}

expected<void> tell_lost_attempts(const store& s, run_report& story) {
  auto lost = s.lost_attempts(run_report::most_failures);
  if (!lost)
    return tl::unexpected(lost.error());
  story.lost_attempts = std::move(*lost);
  return {};
}

/// A slot while it is summed up.
struct slot_sum {
  columns busy, there;
  slot_story told;
};

expected<void> tell_time(const store& s, run_report& story) {
  const auto& o = story.run.overview;
  const auto nodes = s.nodes();
  if (!nodes)
    return tl::unexpected(nodes.error());
  const working_time work(*nodes, o.started_ms, o.updated_ms);
  story.working_seconds = work.seconds();
  for (std::size_t i = 0; i + 1 < work.stretches().size(); ++i) {
    const auto end = work.stretches()[i].end_ms;
    if (work.stretches()[i + 1].begin_ms - end >= told_pause_ms)
      story.pauses.push_back(work.seconds_until(end));
  }
  const columns none(story.working_seconds, run_report::timeline_columns);
  std::map<std::string, slot_sum, std::less<>> slots;
  const auto slot_of = [&](std::string_view name) -> slot_sum& {
    auto found = slots.find(name);
    if (found == slots.end())
      found =
          slots
              .emplace(std::string(name), slot_sum{.busy = none,
                                                   .there = none,
                                                   .told = {.slot = std::string(name)}})
              .first;
    return found->second;
  };
  for (const auto& n : *nodes) {
    auto& slot = slot_of(n.slot);
    const auto begin = work.seconds_until(n.joined_ms),
               end = work.seconds_until(n.left_ms.value_or(o.updated_ms));
    slot.there.add(begin, end);
    slot.told.there_seconds += std::max(end - begin, 0.0);
  }
  const auto read = s.for_each_work([&](const work_row& w) {
    if (w.slot.empty())
      return;
    auto& slot = slot_of(w.slot);
    const auto end = work.seconds_until(w.end_ms);
    slot.busy.add(end - w.seconds, end);
    ++slot.told.candidates;
    slot.told.busy_seconds += w.seconds;
  });
  for (auto& [name, slot] : slots) {
    slot.told.busy = slot.busy.shares();
    slot.told.there = slot.there.shares();
    story.slots.push_back(std::move(slot.told));
  }
  return read;
}

} // namespace

void columns::add(double begin, double end) {
  if (!(seconds_ > 0))
    return;
  const auto width = seconds_ / static_cast<double>(shares_.size());
  begin = std::clamp(begin, 0.0, seconds_);
  end = std::clamp(end, begin, seconds_);
  auto i = static_cast<std::size_t>(begin / width);
  for (; i < shares_.size() && static_cast<double>(i) * width < end; ++i) {
    const auto from = std::max(begin, static_cast<double>(i) * width),
               to = std::min(end, static_cast<double>(i + 1) * width);
    shares_[i] += std::max(to - from, 0.0) / width;
  }
}

std::vector<double> columns::shares() const {
  auto shares = shares_;
  for (auto& share : shares)
    share = std::min(share, 1.0);
  return shares;
}

double run_report::busy_share() const {
  double busy = 0, there = 0;
  for (const auto& s : slots) {
    busy += s.busy_seconds;
    there += s.there_seconds;
  }
  return there > 0 ? std::min(busy / there, 1.0) : 0;
}

std::vector<size_cell> front_of(std::vector<size_cell> sizes, bool maximize) {
  std::ranges::sort(sizes, [&](const size_cell& a, const size_cell& b) {
    if (a.parameters != b.parameters)
      return a.parameters < b.parameters;
    return maximize ? a.fitness > b.fitness : a.fitness < b.fitness;
  });
  std::vector<size_cell> front;
  for (const auto& one : sizes)
    if (front.empty()
        || (maximize ? one.fitness > front.back().fitness
                     : one.fitness < front.back().fitness))
      front.push_back(one);
  return front;
}

expected<run_report> tell_story(const store& s, const std::filesystem::path& file,
                                std::string shell_word, std::vector<told_job> jobs) {
  auto run = view_run(s, file);
  if (!run)
    return tl::unexpected(run.error());
  if (run->overview.version.empty())
    return fail(error_kind::not_found,
                file.string() + ": nothing is recorded of it yet, so there is no report");
  auto digest = digest_of(s);
  if (!digest)
    return tl::unexpected(digest.error());
  run->digest = *digest;
  run_report story{.run = std::move(*run),
                   .jobs = std::move(jobs),
                   .shell_word = std::move(shell_word)};
  if (story.jobs.empty())
    for (const auto tell : {tell_best, tell_generations, tell_sizes, tell_front,
                            tell_changes, tell_importance, tell_failures})
      if (auto ok = tell(s, story); !ok)
        return tl::unexpected(ok.error());
  for (const auto tell : {tell_annotations, tell_lost_attempts, tell_time})
    if (auto ok = tell(s, story); !ok)
      return tl::unexpected(ok.error());
  return story;
}

} // namespace clade
