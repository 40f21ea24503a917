// Training gives the same bits only in the environment that a slot has, which LibTorch
// reads when it is loaded: threads, and the one card that is seen. So the command starts
// itself again in that environment (execve) and tells itself so by a variable.
#include "actors/node/node_work.hpp"
#include "engine/evaluation/process/process_table.hpp"
#include "engine/run/steps/retraining.hpp"
#include "engine/scheduling/joining.hpp"
#include "engine/training/final/module.hpp"
#include "genome/base/text.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/cli/look/replay.hpp"
#include "tools/machine/slots.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <set>

namespace clade {

namespace {

using json = nlohmann::ordered_json;

/// In the environment of the second start: the slot's device.
constexpr const char* device_variable = "CLADE_RETRAIN_DEVICE";

/// A stored evaluation, and the experiment that was in force.
struct trained {
  candidate_id id = 0;
  std::size_t experiment = 0;
  std::string slot;
  std::uint64_t rounding = 0; ///< The rounding of the slot, if that is recorded.
  bool repeats = false;       ///< Another training should give the same.
};

struct past {
  std::vector<std::string> experiments;
  std::vector<trained> all;      ///< The trainings, in the order of records.
  std::set<candidate_id> starts; ///< From which others start.
};

expected<past> read_past(const store& file) {
  past p;
  std::map<std::string, std::uint64_t> roundings;
  return file
      .for_each([&](std::uint64_t, std::int64_t, const record& r) -> expected<void> {
        if (const auto* started = std::get_if<run_started>(&r))
          p.experiments.push_back(started->experiment);
        else if (const auto* forked = std::get_if<run_forked>(&r))
          p.experiments.push_back(forked->experiment);
        else if (const auto* b = std::get_if<candidate_born>(&r))
          p.starts.insert(b->born.start);
        else if (const auto* s = std::get_if<slot_changed>(&r); s != nullptr && s->joined)
          roundings[s->slot] = s->rounding.value_or(0);
        else if (const auto* e = std::get_if<candidate_evaluated>(&r);
                 e != nullptr && e->evaluated.equal_to == 0)
          p.all.push_back({.id = e->evaluated.id,
                           .experiment = p.experiments.size() - 1,
                           .slot = e->evaluated.slot,
                           .rounding = roundings[e->evaluated.slot],
                           .repeats = repeatable(e->evaluated)});
        return {};
      })
      .map([&] { return std::move(p); });
}

expected<candidate_id> find_id(const opened_run& run, std::string text) {
  if (text == "champion")
    return run.s.overview().and_then(
        [&](const run_overview& o) -> expected<candidate_id> {
          if (o.champion == 0 && o.best == 0)
            return fail(error_kind::not_found,
                        run.file.string() + ": no candidate of it succeeded");
          return o.champion == 0 ? o.best : o.champion;
        });
  return parse_candidate(std::move(text), "--retrain ",
                         ": write a candidate's number, champion or all");
}

/// Returns the trainings that are to be made again; of a copy, its original.
expected<std::vector<trained>> chosen(const opened_run& run, const past& p,
                                      const std::string& text) {
  std::vector<trained> some;
  if (text == "all") {
    std::ranges::copy_if(p.all, std::back_inserter(some),
                         [](const trained& t) { return t.repeats; });
    if (some.empty())
      return fail(error_kind::not_found,
                  run.file.string() + ": nothing of it was trained to an end yet");
    return some;
  }
  const auto id = find_id(run, text);
  if (!id)
    return tl::unexpected(id.error());
  const auto stored = run.s.find_evaluation(*id);
  if (!stored)
    return tl::unexpected(stored.error());
  const auto original = stored->equal_to == 0 ? *id : stored->equal_to;
  const auto found = std::ranges::find(p.all, original, &trained::id);
  if (found == p.all.end())
    return fail(error_kind::corrupt, fmt::format("{}: nothing says where #{} was trained",
                                                 run.file.string(), original));
  if (!found->repeats)
    return fail(
        error_kind::invalid_input,
        fmt::format("{} {}{}: what was cut or failed by time, failed by memory or with "
                    "its process is not trained again",
                    numbered(*id), to_text(stored->outcome),
                    stored->reason.empty() ? "" : fmt::format(" ({})", stored->reason)));
  some.push_back(*found);
  return some;
}

bool on_gpu(const std::string& slot) {
  return device_kind_of(slot) == "cuda";
}

/// Trains in this process, which has a slot's environment.
class retrainer {
public:
  retrainer(const opened_run& run, const past& p, std::string device)
      : run_(run),
        past_(p),
        device_(std::move(device)) {}

  expected<retraining> train(const trained& t) {
    if (auto ready = prepare(t.experiment); !ready)
      return tl::unexpected(ready.error());
    const auto born = run_.s.find_candidate(t.id);
    const auto stored = run_.s.find_evaluation(t.id);
    if (!born || !stored)
      return tl::unexpected(!born ? born.error() : stored.error());
    auto start = trace_lineage(
        *born,
        {.candidate_of = [&](candidate_id id) { return run_.s.find_candidate(id); },
         .checkpoint_of =
             [&](candidate_id id) {
               return checkpoints_[{t.experiment, id}];
             }});
    if (!start)
      return tl::unexpected(start.error());
    std::vector<job> before;
    for (const auto& c : start->before)
      before.push_back(job_of(c));
    auto last = job_of(*born);
    last.start_epoch = start->start_epoch;
    last.checkpoint = std::move(start->checkpoint);
    if (past_.starts.contains(t.id))
      last.keep_checkpoint = checkpointing::whole;
    return compare(*stored, again(t.experiment, std::move(before), std::move(last)));
  }

  /// Whether this process gives other last bits than the slot that trained it.
  [[nodiscard]] bool rounds_otherwise(const trained& t) const {
    const auto work = works_.find(t.experiment);
    return t.rounding != 0 && work != works_.end()
           && work->second.rounding() != t.rounding;
  }

private:
  /// Trains it after those that it starts from.
  evaluation again(std::size_t experiment, std::vector<job> before, job last) {
    unheard_progress nobody;
    return evaluate_lineage(
               std::move(before), std::move(last),
               [&](job j) {
                 const auto id = j.id;
                 if (const auto e = run_.s.find_evaluation(id); e && e->updates)
                   j.updates.assign(e->updates->begin(), e->updates->end());
                 auto done = works_.at(experiment).evaluate(j.id, 0, j, nobody);
                 if (past_.starts.contains(id))
                   checkpoints_[{experiment, id}] = done.checkpoint;
                 return done;
               })
        .evaluation;
  }

  /// Time and memory were the limits of another machine.
  expected<void> prepare(std::size_t experiment) {
    if (works_.contains(experiment))
      return {};
    auto e = parse_resolved(past_.experiments.at(experiment), run_.file.string());
    if (!e)
      return tl::unexpected(e.error());
    e->limits = {.evaluation_time = {}, .evaluation_memory = 0, .wall_time = {}};
    return works_[experiment].prepare(*e, device_);
  }

  const opened_run& run_;
  const past& past_;
  std::string device_;
  std::map<std::size_t, node_work> works_;
  /// The checkpoints that were made again and that others start from, by experiment;
  /// nothing of the run's own is trusted.
  std::map<std::pair<std::size_t, candidate_id>, blob> checkpoints_;
};

json to_json(const retraining& r) {
  json largest = json::object();
  for (const auto& m : r.largest)
    largest[m.name] = m.value;
  return {{"id", r.id},
          {"equal", r.equal()},
          {"epochs", r.epochs},
          {"largest_difference", std::move(largest)},
          {"other", r.other}};
}

int retrain_here(const opened_run& run, const past& p, const std::vector<trained>& some,
                 const std::string& device, bool as_json) {
  retrainer again(run, p, device);
  std::size_t equal = 0, epochs = 0;
  bool same_kind = true, same_rounding = true;
  for (const auto& t : some) {
    const auto r = again.train(t);
    if (!r)
      return report(r.error());
    equal += r->equal() ? 1 : 0;
    epochs += r->epochs;
    same_kind = same_kind && on_gpu(t.slot) == on_gpu(device);
    same_rounding = same_rounding && !again.rounds_otherwise(t);
    std::cout << (as_json ? to_json(*r).dump() : clade::to_text(*r)) << std::endl;
  }
  if (!as_json)
    std::cout << (equal == some.size() ? "all " : fmt::format("{} of ", equal))
              << some.size() << " trained again on " << device << " equal, " << epochs
              << (epochs == 1 ? " epoch" : " epochs")
              << (!same_kind       ? "; they were trained on another kind of device"
                  : !same_rounding ? "; they were trained on a processor that rounds "
                                     "otherwise"
                                   : "")
              << std::endl;
  return equal == some.size() || !same_kind || !same_rounding ? 0 : 1;
}

/// Starts this command again in the slot's environment; returns only if it cannot.
error start_again(const slot& s) {
  enter_environment(s);
  ::setenv(device_variable, s.device.c_str(), 1);
  auto words = words_of(::getpid());
  std::vector<char*> arguments;
  for (auto& word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(own_program().c_str(), arguments.data());
  return {error_kind::io, fmt::format("cannot start {}: {}", own_program().string(),
                                      std::strerror(errno))};
}

/// A slot of the kind that the candidates were trained on, if there is one.
expected<slot> slot_for(const std::vector<trained>& some, const std::string& wanted) {
  const auto text = !wanted.empty()                                     ? wanted
                    : std::ranges::any_of(some, on_gpu, &trained::slot) ? "cuda:0"
                                                                        : "cpu:1";
  auto slots = parse_slots(text);
  if (!slots)
    return fail(slots.error().kind,
                slots.error().message
                    + (wanted.empty() ? "; --slots cpu:1 trains them on a core" : ""));
  if (slots->empty())
    return fail(error_kind::invalid_input, "--slots none: nothing can be trained there");
  return slots->front();
}

} // namespace

int retrain_run(const opened_run& run, const retrain_options& options) {
  const auto p = read_past(run.s);
  if (!p)
    return report(p.error());
  const auto some = chosen(run, *p, options.which);
  if (!some)
    return report(some.error());
  if (const char* device = std::getenv(device_variable))
    return retrain_here(run, *p, *some, device, options.json);
  for (const auto& text : p->experiments) {
    const auto e = parse_resolved(text, run.file.string());
    if (!e)
      return report(e.error());
    if (!e->traits().repeatable)
      return report(
          {error_kind::invalid_input,
           fmt::format("{}: {} is not evaluated again: the seed alone does not decide it",
                       run.file.string(), e->traits().run)});
    if (auto able = check_machine(*e); !able)
      return report(able.error());
  }
  const auto s = slot_for(*some, options.slots);
  return report(s ? start_again(*s) : s.error());
}

} // namespace clade
