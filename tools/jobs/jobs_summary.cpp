#include "tools/jobs/jobs_summary.hpp"

#include "engine/evaluation/jobs/jobs.hpp"
#include "engine/report/base/format.hpp"
#include "tools/jobs/schedule_length.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <numeric>

namespace clade {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t widest_reason = 60;

/// "2026-01-31T14:05:00Z"
std::string iso_time(std::int64_t unix_seconds) {
  const std::time_t time = unix_seconds;
  std::tm utc{};
  gmtime_r(&time, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

/// With milliseconds, which is as much as is measured.
double rounded(double seconds) {
  return std::round(seconds * 1000) / 1000;
}

double total(const std::vector<double>& seconds) {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

std::string fixed(double v, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, v);
  return text.data();
}

std::size_t count(const std::vector<recorded_job>& jobs, auto is) {
  return static_cast<std::size_t>(std::ranges::count_if(jobs, is));
}

json json_of(const recorded_job& job, const jobs_summary& s) {
  json out{{"name", job.name}, {"outcome", outcome_text(job)}};
  if (const auto command = s.commands.find(job.name); command != s.commands.end())
    out["command"] = command->second;
  json tries = json::array();
  for (const auto& t : tries_of(job, s.logs)) {
    json one{{"try", t.number},
             {"started", iso_time(t.started)},
             {"seconds", rounded(t.seconds)},
             {"exit_status", t.exit_status}};
    if (!t.log.empty())
      one["log"] = t.log.string();
    tries.push_back(std::move(one));
  }
  if (job.ended) {
    out["seconds"] = rounded(job.ended->seconds);
    out["slot"] = job.ended->slot;
    if (const auto why = reason_of(job.name, job.ended->reason); !why.empty())
      out["reason"] = why;
  }
  out["tries"] = std::move(tries);
  return out;
}

} // namespace

std::size_t jobs_summary::succeeded() const {
  return count(jobs, [](const recorded_job& j) {
    return j.ended && j.ended->outcome == outcome::succeeded;
  });
}

std::size_t jobs_summary::not_run() const {
  return count(jobs, [](const recorded_job& j) { return !j.ended; });
}

std::vector<double> jobs_summary::seconds() const {
  std::vector<double> all;
  for (const auto& j : jobs)
    if (j.ended && j.ended_ms >= started_ms)
      all.push_back(j.ended->seconds);
  return all;
}

std::string to_text(const jobs_summary& s) {
  using enum table::align;
  table rows({left, left, right, right, left, left});
  rows.add({"job", "outcome", "seconds", "tries", "slot", ""});
  for (const auto& j : s.jobs) {
    const auto tries = tries_of(j, s.logs);
    rows.add(
        {j.name, outcome_text(j), j.ended ? fixed(j.ended->seconds, 1) : "-",
         tries.empty() ? "-" : std::to_string(tries.size()),
         j.ended ? j.ended->slot : "-",
         j.ended ? shortened(reason_of(j.name, j.ended->reason), widest_reason) : ""});
  }
  std::string out =
      fmt::format("{}\n{} of {} succeeded", rows.to_text(), s.succeeded(), s.jobs.size());
  if (s.failed() > 0)
    out += fmt::format(", {} failed", s.failed());
  if (s.not_run() > 0)
    out += fmt::format(", {} not run", s.not_run());
  const auto seconds = s.seconds();
  if (seconds.empty() || s.wall_seconds <= 0)
    return out + "\n";
  const auto shortest = shortest_schedule(seconds, s.workers);
  return fmt::format("{}; {} s, one after another {} s: {} times as fast (the best "
                     "schedule on {}{} takes {} s)\n",
                     out, fixed(s.wall_seconds, 1), fixed(total(seconds), 1),
                     fixed(total(seconds) / s.wall_seconds, 2), s.workers,
                     s.workers == 1 ? " slot" : " slots", fixed(shortest, 1));
}

std::string to_json(const jobs_summary& s) {
  const auto seconds = s.seconds();
  json jobs = json::array();
  for (const auto& j : s.jobs)
    jobs.push_back(json_of(j, s));
  json out{{"schema", 1},
           {"run", s.run.string()},
           {"directory", s.directory.string()},
           {"started", iso_time(s.started_ms / 1000)},
           {"state", s.not_run() > 0 ? "interrupted" : "finished"},
           {"succeeded", s.succeeded()},
           {"failed", s.failed()},
           {"not_run", s.not_run()},
           {"workers", s.workers},
           {"wall_seconds", rounded(s.wall_seconds)},
           {"sequential_seconds", rounded(total(seconds))},
           {"best_schedule_seconds", rounded(shortest_schedule(seconds, s.workers))}};
  if (s.wall_seconds > 0)
    out["speed_up"] = rounded(total(seconds) / s.wall_seconds);
  out["jobs"] = std::move(jobs);
  return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

} // namespace clade
