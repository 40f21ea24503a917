#include "tools/jobs/job_plan.hpp"

#include "tools/jobs/schedule_length.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>
#include <utility>

namespace clade {

namespace {

/// Asks every script for its options, several at a time.
std::vector<answered_options> ask_all(const std::vector<planned_job>& jobs,
                                      const job_plan_params& params) {
  std::vector<answered_options> answers(jobs.size());
  std::atomic<std::size_t> next = 0;
  const auto ask = [&] {
    for (auto i = next++; i < jobs.size(); i = next++)
      answers[i] = ask_for_options(jobs[i].command, jobs[i].of.path, params.directory);
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(params.at_once, jobs.size()); ++i)
    others.emplace_back(ask);
  ask();
  others.clear();
  return answers;
}

} // namespace

expected<std::vector<planned_job>> plan_jobs(const job_plan_params& params,
                                             const job_history& history) {
  std::vector<planned_job> jobs;
  for (const auto& s : params.scripts) {
    auto command = words_to_start(s.path);
    if (!command)
      return tl::unexpected(std::move(command).error());
    jobs.push_back({.of = s, .command = std::move(*command)});
  }
  auto answers = params.arguments.asks() ? ask_all(jobs, params)
                                         : std::vector<answered_options>(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    auto given = arguments_for(answers[i].names, params.arguments);
    auto& job = jobs[i];
    job.command.insert(job.command.end(), given.words.begin(), given.words.end());
    job.not_taken = std::move(given.not_taken);
    job.trouble = std::move(answers[i].trouble);
    job.seconds = history.seconds(job.command, job.of.path);
  }
  std::ranges::stable_sort(jobs, [](const planned_job& a, const planned_job& b) {
    if (!a.seconds || !b.seconds)
      return !a.seconds && b.seconds;
    return *a.seconds > *b.seconds;
  });
  return jobs;
}

job_times times_of(const std::vector<planned_job>& jobs, std::size_t slots) {
  std::vector<double> seconds;
  for (const auto& j : jobs)
    if (j.seconds)
      seconds.push_back(*j.seconds);
  return {.at_once = schedule_length(seconds, slots),
          .one_by_one = std::accumulate(seconds.begin(), seconds.end(), 0.0),
          .known = seconds.size()};
}

} // namespace clade
