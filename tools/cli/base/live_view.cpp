#include "tools/cli/base/live_view.hpp"

#include "engine/report/base/format.hpp"
#include "tools/machine/standard_streams.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <utility>

namespace clade {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

template<class... Ts>
std::string print(const char* format, Ts... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof(buffer), format, values...);
  return buffer;
}

double seconds_between(clock::time_point from, clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

} // namespace

std::string to_text(std::chrono::seconds time) {
  const auto s = time.count();
  if (s < 60)
    return fmt::format("{} s", s);
  if (s < 3600)
    return print("%ld:%02ld", s / 60, s % 60);
  return print("%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
}

live_view::live_view(const params& p)
    : params_(p),
      start_(clock::now()),
      last_generation_(start_) {}

void live_view::show_generation(const generation_summary& g,
                                const std::string& failures) {
  const auto now = clock::now();
  if (params_.json) {
    nlohmann::json line{{"event", "generation"},
                        {"generation", g.generation},
                        {"best", g.best},
                        {"best_fitness", g.best_fitness},
                        {"median_fitness", g.median_fitness},
                        {"succeeded", g.succeeded},
                        {"failed", g.failed}};
    if (g.front.members != 0) {
      line["front"] = g.front.members;
      line["hypervolume"] = g.front.hypervolume;
    }
    if (g.best == 0 && !failures.empty())
      line["failures"] = failures;
    std::cout << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
              << "\n";
  } else if (g.best == 0) {
    std::cout << print("generation %3lu   none of %zu succeeded   %.1f s\n", g.generation,
                       g.failed, seconds_between(last_generation_, now));
    // The same is said once.
    if (!failures.empty() && std::exchange(failures_shown_, failures) != failures)
      std::cout << "  " << failures << "\n";
  } else {
    std::cout << print("generation %3lu   best ", g.generation)
              << metric_text(g.best_fitness) << " (#" << g.best << ")   median "
              << metric_text(g.median_fitness) << "   ";
    if (g.front.members != 0)
      std::cout << "front of " << g.front.members << ", hypervolume "
                << metric_text(g.front.hypervolume) << "   ";
    std::cout << print("%zu evaluated, %zu failed   %.1f s\n", g.succeeded + g.failed,
                       g.failed, seconds_between(last_generation_, now));
  }
  last_generation_ = now;
}

void live_view::show_plan(const final_planned& plan) {
  if (params_.json)
    std::cout << nlohmann::json{{"event", "final_planned"},
                                {"reason", plan.reason},
                                {"trainings", plan.trainings.size()}}
                     .dump()
              << "\n";
  else
    std::cout << to_text(record{plan}) << "\n";
}

std::string live_view::phase(const run_progress& progress, std::size_t busy) const {
  if (progress.stopping)
    return print("stopping: waiting for what is in training (%zu)", busy);
  if (!progress.plan)
    return print("generation %lu: %lu of %zu candidates", progress.generation,
                 progress.evaluated, params_.candidates);
  return text_with_time(final_of(progress));
}

final_phase live_view::final_of(const run_progress& progress) const {
  const auto now = clock::now();
  final_phase p{.trained = progress.plan->trainings.size() - progress.plan_open,
                .trainings = progress.plan->trainings.size(),
                .seconds = seconds_between(planned_, now)};
  p.paced = p.trained - std::min(p.trained, trained_before_);
  if (params_.wall_time.count() > 0)
    p.limit = std::max(0.0, std::chrono::duration<double>(params_.wall_time).count()
                                - seconds_between(start_, now));
  return p;
}

void live_view::tell_final(const run_progress& progress) {
  const auto p = final_of(progress);
  if (trained_told_ == p.trained)
    return;
  trained_told_ = p.trained;
  const auto left = seconds_left(p);
  std::cout << nlohmann::json{{"event", "final"},
                              {"trained", p.trained},
                              {"trainings", p.trainings},
                              {"seconds_left",
                               left ? nlohmann::json(*left) : nlohmann::json()}}
                   .dump()
            << "\n";
}

std::string live_view::status(const run_progress& progress, const slots_view& slots) {
  std::size_t busy = 0, ready = 0;
  for (const auto& s : slots.slots) {
    busy += s.training != 0;
    ready += s.ready;
  }
  const double elapsed = seconds_between(start_, clock::now());
  const auto done = progress.evaluated - evaluated_before_;
  const double rate = elapsed > 0 ? static_cast<double>(done) / elapsed : 0;
  auto line = phase(progress, busy);
  if (progress.best)
    line += "   best " + metric_text(progress.best->fitness.primary);
  line += ready == 0 ? "   starting slots"
                     : print("   %zu/%zu slots busy", busy, slots.slots.size());
  line += print("   %.1f/s", rate);
  if (rate > 0 && !progress.stopping && !progress.plan
      && progress.evaluated < params_.candidates)
    line += fmt::format(
        "   {} left",
        to_text(std::chrono::seconds(static_cast<long>(
            static_cast<double>(params_.candidates - progress.evaluated) / rate))));
  return line;
}

void live_view::update(const run_progress& progress, const slots_view& slots) {
  if (std::exchange(first_, false))
    evaluated_before_ = progress.evaluated;
  if (!progress.generations.empty())
    clear();
  for (const auto& g : progress.generations)
    show_generation(g, progress.failures);
  if (progress.plan && !std::exchange(plan_shown_, true)) {
    clear();
    show_plan(*progress.plan);
    planned_ = clock::now();
    trained_before_ = progress.plan->trainings.size() - progress.plan_open;
  }
  if (progress.plan && params_.json)
    tell_final(progress);
  if (params_.terminal && !params_.json && !progress.over) {
    // Cut to the terminal's usual width, so that the line never wraps and can be
    // overwritten.
    erase_line();
    std::cout << status(progress, slots).substr(0, 100);
    line_open_ = true;
  }
  std::cout << std::flush;
}

void live_view::clear() {
  if (std::exchange(line_open_, false))
    erase_line();
  std::cout << std::flush;
}

} // namespace clade
