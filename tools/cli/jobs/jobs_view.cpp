#include "tools/cli/jobs/jobs_view.hpp"

#include "engine/evaluation/jobs/jobs.hpp"
#include "engine/report/base/format.hpp"
#include "engine/report/base/json_parts.hpp"
#include "tools/cli/base/live_view.hpp"
#include "tools/jobs/schedule_length.hpp"
#include "tools/machine/standard_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <utility>

namespace clade {

namespace {

constexpr std::size_t terminal_width = 100;

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

} // namespace

jobs_view::jobs_view(jobs_view_params params, store file)
    : params_(std::move(params)),
      file_(std::move(file)),
      log_(params_.logs / "orchestrator.log") {
  read_records(/*tell=*/false);
}

void jobs_view::say(const std::string& job, const std::string& words,
                    const std::string& event) {
  log_.write(fmt::format("{} {}", job, words));
  clear();
  if (params_.json)
    std::cout << text_of({{"event", event}, {"job", job}, {"text", words}}) << std::endl;
  else
    std::cout << job << "  " << words << std::endl;
}

void jobs_view::tell_start(const recorded_job& job, const std::string& slot) {
  if (running_.emplace(job.id, running_job{.since = clock::now()}).second)
    say(job.name, "starts on " + slot, "job_started");
}

void jobs_view::tell_retries(const recorded_job& job, std::uint32_t failed) {
  auto& told = running_.at(job.id).tries;
  while (told < failed) {
    ++told;
    say(job.name,
        fmt::format("failed and is tried again ({} of {})", told + 1, params_.tries),
        "job_retried");
  }
}

void jobs_view::tell_end(const recorded_job& job) {
  const auto& e = *job.ended;
  const auto tries = tries_of(job, params_.logs);
  // It, or a try of it, may be too short to be seen on its slot.
  tell_start(job, e.slot);
  if (!tries.empty())
    tell_retries(job, tries.back().number - 1);
  running_.erase(job.id);
  auto words = fmt::format("{} in {}", outcome_text(job), duration_text(e.seconds));
  if (const auto why = reason_of(job.name, e.reason); !why.empty())
    words += ": " + why;
  if (e.outcome != outcome::succeeded && !tries.empty() && !tries.back().log.empty())
    words += "; " + tries.back().log.string();
  say(job.name,
      fmt::format("{} ({} of {})", words, records_.ended(), records_.all().size()),
      "job_ended");
}

void jobs_view::read_records(bool tell) {
  const auto read = file_.for_each(
      [&](std::uint64_t sequence, std::int64_t at, const record& r) -> expected<void> {
        last_record_ = sequence;
        const auto known = records_.ended();
        const auto* job = records_.take(at, r);
        if (job != nullptr && tell && records_.ended() > known)
          tell_end(*job);
        return {};
      },
      last_record_);
  if (!read && !std::exchange(unreadable_, true))
    warns(read.error().message);
}

void jobs_view::look_at_slots(const slots_view& slots) {
  slots_ = slots.slots.size();
  for (const auto& s : slots.slots) {
    const auto* job = records_.find(s.training);
    if (job == nullptr || job->ended)
      continue;
    tell_start(*job, s.name);
    if (s.epoch < params_.tries)
      tell_retries(*job, s.epoch);
  }
}

void jobs_view::progressed(const run_progress& progress, const slots_view& slots) {
  if (progress.stopping && !std::exchange(stopping_, true)) {
    clear();
    std::cerr << "stopping: jobs that run are let finish; Ctrl+C again ends them"
              << std::endl;
  }
  // Births come before starts, and ends after them.
  read_records(true);
  if (!progress.over)
    look_at_slots(slots);
  if (!params_.terminal || params_.json || progress.over)
    return;
  erase_line();
  std::cout << status().substr(0, terminal_width) << std::flush;
  line_open_ = true;
}

std::optional<double> jobs_view::seconds_left() const {
  double ended = 0;
  for (const auto& [id, job] : records_.all())
    if (job.ended)
      ended += job.ended->seconds;
  std::vector<double> left;
  for (const auto& [id, job] : records_.all()) {
    if (job.ended)
      continue;
    const auto before = params_.seconds.find(job.name);
    if (before == params_.seconds.end() && records_.ended() == 0)
      return std::nullopt;
    const double all = before != params_.seconds.end()
                           ? before->second
                           : ended / static_cast<double>(records_.ended());
    const auto running = running_.find(id);
    left.push_back(running == running_.end()
                       ? all
                       : std::max(0.0, all - seconds_since(running->second.since)));
  }
  return schedule_length(left, slots_);
}

std::string jobs_view::status() const {
  auto line = fmt::format("{} of {} jobs", records_.ended(), records_.all().size());
  if (records_.failed() > 0)
    line += fmt::format(", {} failed", records_.failed());
  if (const auto left = seconds_left(); left && *left >= 1)
    line += fmt::format(", about {} left",
                        to_text(std::chrono::seconds(std::llround(*left))));
  line += running_.empty() ? "; starting slots" : "; running:";
  for (const auto& [id, job] : running_)
    line += fmt::format(
        " {} {}", records_.find(id)->name,
        to_text(std::chrono::seconds(std::llround(seconds_since(job.since)))));
  return line;
}

void jobs_view::listens(const std::string& address, const std::filesystem::path& keys) {
  if (params_.json)
    std::cout << text_of(
        {{"event", "listening"}, {"address", address}, {"keys", keys.string()}})
              << std::endl;
  else
    std::cout << "listens on " << address
              << "; a worker of another machine joins with a copy of its keys:\n"
              << "  clade worker --connect " << address << " --keys " << keys.string()
              << std::endl;
}

void jobs_view::publishes(const std::string& address) {
  if (params_.json)
    std::cout << text_of({{"event", "publishing"}, {"address", address}}) << std::endl;
  else
    std::cout << "is watched on " << address << std::endl;
}

void jobs_view::warns(const std::string& sentence) {
  clear();
  std::cerr << "clade: " << sentence << std::endl;
}

void jobs_view::clear() {
  if (std::exchange(line_open_, false))
    erase_line();
  std::cout << std::flush;
}

} // namespace clade
