#include "engine/report/page/report_words.hpp"

#include "engine/report/base/format.hpp"
#include "engine/report/page/report_charts.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace clade {

namespace {

/// So many steps are told of the beginning of a long lineage, and of its end.
constexpr std::size_t first_steps = 8, last_steps = 24;

std::string direction(const objective& goal) {
  return goal.maximize ? "" : ", the lower the better";
}

std::string result_words(const candidate_overview& c) {
  if (!c.result)
    return "in work";
  return *c.result == outcome::succeeded && c.fitness ? metric_text(*c.fitness)
                                                      : to_text(*c.result);
}

std::vector<figure> job_figures(const run_report& story) {
  const auto count = [&](auto is) {
    return static_cast<std::uint64_t>(std::ranges::count_if(story.jobs, is));
  };
  const auto good = count([](const told_job& j) { return j.outcome == "succeeded"; });
  const auto open = count([](const told_job& j) { return j.tries == 0; });
  std::string others = "of " + counted(story.jobs.size(), "job");
  if (const auto bad = story.jobs.size() - good - open; bad > 0)
    others += fmt::format(", {} failed", with_commas(bad));
  if (open > 0)
    others += fmt::format(", {} not run", with_commas(open));
  const auto together = story.run.overview.training_seconds;
  std::vector<figure> all{{"succeeded", with_commas(good), others},
                          {"time", duration_text(story.working_seconds),
                           duration_text(together) + " one after another"}};
  if (story.working_seconds > 0)
    all.push_back({"speed-up", metric_text(together / story.working_seconds),
                   "times as fast as one after another"});
  return all;
}

/// The figures of the model that is used: the final one, or else the champion.
std::vector<figure> model_figures(const run_report& story) {
  const auto& o = story.run.overview;
  std::vector<figure> all;
  const auto* used = story.final_model   ? find(story.comparison, "final model")
                     : story.is_champion ? find(story.comparison, "champion")
                                         : nullptr;
  const bool is_final = used != nullptr && story.final_model;
  const auto who = is_final            ? "final model"
                   : story.is_champion ? "champion " + numbered(story.best->born.id)
                                       : "best so far, " + numbered(story.best->born.id);
  all.push_back(
      {o.goal.metric,
       metric_text(is_final && used->validation ? *used->validation : o.best_fitness),
       who + direction(o.goal)});
  if (used != nullptr && used->test)
    all.push_back({story.test_metric, metric_text(*used->test), "on unseen data"});
  if (is_final)
    all.push_back({"parameters", with_commas(used->parameters), "of the final model"});
  else if (story.best->evaluated)
    all.push_back(
        {"parameters", with_commas(story.best->evaluated->parameters), "of its network"});
  return all;
}

} // namespace

std::vector<std::vector<std::string>> annotation_rows(const annotations& annotated) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [id, one] : annotated)
    rows.push_back(
        {id == 0 ? "the run" : numbered(id), tags_text(one), one.note,
         one.note.empty() ? "" : fmt::format("{}, {}", one.who, time_text(one.unix_ms))});
  return rows;
}

std::string percent(double share) {
  char text[32];
  const auto all = share * 100;
  std::snprintf(text, sizeof text, all >= 10 || all == 0 ? "%.0f %%" : "%.1f %%", all);
  return text;
}

double busy_share(const slot_story& s) {
  return s.there_seconds > 0 ? std::min(s.busy_seconds / s.there_seconds, 1.0) : 0;
}

std::string standing_words(const run_report& story) {
  const auto& o = story.run.overview;
  const auto state = story.run.state();
  std::string text = to_text(state);
  if (state == run_standing::stopped && o.state == stored_state::paused)
    text += fmt::format(" ({})", o.reason);
  if (state != run_standing::finished)
    text += ", as of " + time_text(o.updated_ms);
  const auto chosen = story.run.chosen();
  return fmt::format("{} \u00b7 seed {} \u00b7 clade {} \u00b7 started {}{}", text,
                     o.seed, o.version, time_text(o.started_ms),
                     chosen.empty() ? "" : " \u00b7 auto chose " + chosen);
}

std::vector<figure> figures_of(const run_report& story) {
  const auto& o = story.run.overview;
  std::vector<figure> all;
  if (!story.jobs.empty())
    all = job_figures(story);
  if (story.best)
    for (auto& f : model_figures(story))
      all.push_back(std::move(f));
  if (story.jobs.empty()) {
    all.push_back(
        {"candidates", with_commas(o.evaluated),
         fmt::format("in {}{}, {} failed", counted(o.search_generations, "generation"),
                     o.final_trainings == 0
                         ? ""
                         : fmt::format(" and {} to the end",
                                       counted(o.final_trainings, "training")),
                     with_commas(o.failed))});
    all.push_back({"time", duration_text(story.working_seconds),
                   duration_text(o.training_seconds) + " of training"});
  }
  if (!story.slots.empty())
    all.push_back({"slots busy", percent(story.busy_share()),
                   "of " + counted(story.slots.size(), "slot")});
  return all;
}

std::vector<std::string> jobs_head() {
  return {"job", "outcome", "time", "tries", "slot", "why", "command"};
}

std::vector<std::string> cells_of(const told_job& j) {
  const bool ended = j.tries > 0;
  return {j.name,
          j.outcome,
          ended ? duration_text(j.seconds) : "-",
          ended ? std::to_string(j.tries) : "-",
          ended ? j.slot : "-",
          j.reason,
          j.command};
}

std::string fitness_words(const run_report& story) {
  const auto& o = story.run.overview;
  auto text = fmt::format("Best, median and middle half of {}{}.", o.goal.metric,
                          direction(o.goal));
  if (story.generations_in_all > story.generations.size())
    text += fmt::format(" Of {} generations, {} are shown.",
                        with_commas(story.generations_in_all),
                        with_commas(story.generations.size()));
  if (!story.generations.empty() && !story.generations.back().closed_ms)
    text += " The last generation is not complete.";
  return text;
}

std::string test_title(const run_report& story) {
  return fmt::format("What the {} made of the test data",
                     story.final_model ? "final model" : "champion");
}

std::string final_words(const run_report& story) {
  if (!story.final_model)
    return "";
  const auto& members = story.final_model->members;
  return fmt::format("What `clade predict` and `clade export` use: {}{}.",
                     members.size() == 1 ? "" : "the mean of what is said by ",
                     joined(members, ", ", [](const ensemble_member& m) {
                       return clade::to_text(m, 3);
                     }));
}

std::string champion_words(const run_report& story) {
  const auto& c = story.best->born;
  std::string text =
      fmt::format("{}, born in generation {}", numbered(c.id), c.generation);
  if (story.best->evaluated) {
    const auto& e = *story.best->evaluated;
    for (const auto& m : e.metrics)
      text += fmt::format(", {} {}", m.name, metric_text(m.value));
    if (e.seconds > 0)
      text += fmt::format("; trained for {} on {}", duration_text(e.seconds),
                          e.slot.empty() ? "no slot" : e.slot);
  }
  text += ".";
  return story.best->has_weights ? text + " Its trained weights are in the store." : text;
}

std::string lineage_words(const explanation& e) {
  return fmt::format("Along the fitter parents, from {} to {}; {} in all. A gain is the "
                     "change of {} against the fitter parent.",
                     numbered(e.line.front().who.id), numbered(e.subject.id),
                     counted(e.ancestors, "ancestor"), e.goal.metric);
}

std::string changes_words(const run_report& story) {
  return fmt::format(
      "Children compared with their fitter parents, by what changed. A child of several "
      "changes counts for each of them; \u201cimproved\u201d is the share that became "
      "better, failures included; the mean is over those that did not fail. Gains are in "
      "{}{}.",
      story.run.overview.goal.metric, direction(story.run.overview.goal));
}

std::string rates_words() {
  return fmt::format(
      "Mutation rates follow what paid: of the last {} children, those of each kind of "
      "change, the share that was better than its fitter parent, and the weight of the "
      "kind as the experiment has it and as it is now.",
      adaptive_rates::window);
}

std::vector<std::string> rates_head() {
  return {"mutation", "children", "improved", "weight", "now"};
}

std::vector<std::string> cells_of(const adaptive_rates::credit& r) {
  return {mutation_kinds[static_cast<std::size_t>(r.kind)].name, with_commas(r.children),
          r.children == 0
              ? "-"
              : percent(static_cast<double>(r.paid) / static_cast<double>(r.children)),
          metric_text(r.base), metric_text(r.rate)};
}

std::string failures_words(const run_report& story) {
  const auto& o = story.run.overview;
  auto text = fmt::format(
      "{} of {} failed; each is an evaluation with that outcome, ranked last.",
      with_commas(o.failed), counted(o.evaluated, "candidate"));
  if (story.failures.size() == run_report::most_failures)
    text += fmt::format(" The most frequent {} reasons are listed.",
                        run_report::most_failures);
  return text;
}

std::string time_words(const run_report& story) {
  const auto& o = story.run.overview;
  auto text = fmt::format("{} of training and evaluation in {} of wall time",
                          duration_text(o.training_seconds),
                          duration_text(story.working_seconds));
  if (!story.slots.empty())
    text +=
        fmt::format(" on {}, which were busy for {} of the time in which they were there",
                    counted(story.slots.size(), "slot"), percent(story.busy_share()));
  text += ".";
  if (!story.pauses.empty())
    text += fmt::format(" The run stood still, or was without a slot, {}: that time is "
                        "left out, and marked by a dashed line.",
                        counted(story.pauses.size(), "time"));
  return text;
}

std::string again_words(const run_report& story) {
  const auto& o = story.run.overview;
  if (!story.jobs.empty())
    return fmt::format("Clade {}. The commands, and where they ran, are in the store.",
                       o.version);
  auto text = fmt::format(
      "Clade {}, seed {}, digest {}. The same experiment, seed and data give the same "
      "search, bit for bit, for any number of slots of one kind of device",
      o.version, o.seed, to_text(*story.run.digest));
  text += ". The experiment, with all defaults and its search space, is in the store "
          "(column experiment of table runs of run.db).";
  return text;
}

std::vector<command_line> commands_of(const run_report& story) {
  const auto& run = story.shell_word;
  const auto& o = story.run.overview;
  if (!story.jobs.empty())
    return {{"What has not ended", "clade jobs resume " + run},
            {"What did not succeed, as a new run", "clade jobs resume --failed " + run}};
  std::vector<command_line> all{
      {"The same search once more",
       fmt::format("clade show {} --experiment > again.toml\nclade run again.toml", run)},
  };
  if (story.run.state() == run_standing::stopped)
    all.insert(all.begin(), {"To go on where it stopped", "clade resume " + run});
  all.push_back(
      {"Whether two runs decided the same", fmt::format("clade diff {} OTHER", run)});
  if (o.best != 0)
    all.push_back(
        {"Why a network exists", fmt::format("clade explain {} champion", run)});
  return all;
}

std::vector<told_step> told_steps(const explanation& e) {
  std::vector<told_step> told;
  for (std::size_t i = 0; i < e.line.size(); ++i) {
    if (e.line.size() > first_steps + last_steps + 1 && i == first_steps) {
      told_step gap{.hidden = e.line.size() - first_steps - last_steps};
      const auto &before = e.line[i - 1].who, &after = e.line[i + gap.hidden - 1].who;
      if (before.fitness && after.fitness)
        gap.gain = *after.fitness - *before.fitness;
      i += gap.hidden;
      told.push_back(std::move(gap));
    }
    const auto& s = e.line[i];
    told.push_back({.who = &s.who,
                    .result = result_words(s.who),
                    .gain = s.gain,
                    .changes = happenings(s)});
  }
  return told;
}

std::string outcome_words(const failure_row& f) {
  if (!f.outcome)
    return "lost";
  // It reported no value of the objective's metric.
  return *f.outcome == outcome::succeeded ? "no fitness" : to_text(*f.outcome);
}

} // namespace clade
