#include "engine/run/steps/run_course.hpp"

#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

const char* to_text(run_stage stage) {
  switch (stage) {
  case run_stage::searching:
    return "searching";
  case run_stage::ending:
    return "ending";
  case run_stage::finishing:
    return "finishing";
  case run_stage::pausing:
    return "pausing";
  case run_stage::over:
    break;
  }
  return "over";
}

run_stage stage_before_end(const run_state& run) {
  return run.plan ? run_stage::ending : run_stage::searching;
}

bool closes(const run_state& run, const under_way& present) {
  return present.closed > run.generations.size();
}

} // namespace

std::string to_text(const run_course& course) {
  std::string text = to_text(course.stage);
  if (course.stop == stop_wish::pause)
    text += ", to pause";
  else if (course.stop == stop_wish::end_if_complete)
    text += ", to pause unless complete";
  if (course.withdrawal == withdrawal::asked)
    text += ", withdrawal asked";
  if (course.handing_out == handing_out::held)
    text += ", held";
  return text;
}

run_course course_of(const run_state& run) {
  return {.stage = stage_before_end(run)};
}

under_way nothing_under_way(const run_state& run) {
  return {.ordered = run.born,
          .accepted = run.born,
          .closed = run.generations.size(),
          .copying = {}};
}

bool may_resolve(const run_state& run, const run_course& course,
                 const under_way& present) {
  return course.breeds() && present.accepted <= run.born;
}

next_steps due_steps(const run_state& run, const run_course& course,
                     const under_way& present) {
  if (course.stage == run_stage::pausing || course.over()
      || course.stop == stop_wish::pause)
    return {};
  auto next = next_step(run, present.ordered);
  if (!course.breeds())
    next.breed.clear();
  std::erase_if(next.copy,
                [&](const copying& c) { return present.copying.contains(c.id); });
  if (closes(run, present))
    next.close.reset();
  next.plan = next.plan && course.stage == run_stage::searching;
  if (course.stopping())
    next.finals.clear();
  next.finish = next.finish && !course.finishing();
  return next;
}

stop_answer told_to_stop(run_course& course, const run_state& run, bool end_if_complete,
                         bool hands_back) {
  // A run that is at its end anyway is let end.
  if (course.over() || (end_if_complete && (course.stopping() || course.finishing())))
    return stop_answer::passed_over;
  const bool first = !course.stopping();
  course.stop = end_if_complete ? stop_wish::end_if_complete : stop_wish::pause;
  if (course.finishing())
    course.stage = stage_before_end(run);
  if (!first && !hands_back)
    return stop_answer::noted;
  course.withdrawal = withdrawal::asked;
  return stop_answer::withdraws;
}

end_answer told_to_end(const run_course& course, const run_state& run,
                       bool trainings_too) {
  if (course.over() || course.stopping() || !run.rules.final_stage.wanted())
    return end_answer::passed_over;
  if (run.plan)
    return trainings_too ? end_answer::drops_trainings : end_answer::passed_over;
  return run.best.empty() ? end_answer::waits_for_success : end_answer::plans;
}

bool may_pause(const run_state& run, const run_course& course, const under_way& present,
               const std::set<candidate_id>& withdrawn) {
  const bool waits_for_word =
      !course.stopping() || course.withdrawal == withdrawal::asked;
  const bool ends =
      course.stage != run_stage::searching && course.stage != run_stage::ending;
  if (waits_for_word || ends || closes(run, present))
    return false;
  return std::ranges::all_of(run.open, [&](const auto& o) {
    return o.second.equal_to != 0 || withdrawn.contains(o.first);
  });
}

std::optional<std::string> why_stop_after(const run_state& run, std::uint64_t generation,
                                          const std::string& stop_after) {
  if (!stop_after.empty())
    return fmt::format("stopped by {} after generation {}", stop_after, generation);
  return run.hopeless() ? std::optional(run.failures.text()) : std::nullopt;
}

std::string why_not(const run_state& run, const run_course& course,
                    const instruction& order) {
  if (course.over())
    return "the run is at its end";
  if (annotates(order)) {
    const auto right = check_annotation(order, run.annotated, run.born);
    return right ? std::string() : right.error().message;
  }
  if (course.stopping() || run.finished)
    return "the run is at its end";
  const bool held = course.handing_out == handing_out::held;
  switch (order.kind) {
  case instruction_kind::hold:
    return held ? "the run is held already" : "";
  case instruction_kind::go_on:
    return held ? "" : "the run is not held";
  case instruction_kind::begin_with:
    return "the search has begun";
  case instruction_kind::drop: {
    const auto found = run.open.find(order.number);
    const bool open = found != run.open.end() && found->second.equal_to == 0;
    return open ? "" : numbered(order.number) + " is not open";
  }
  case instruction_kind::extend:
    if (course.finishing())
      return "the search is over";
    return order.number == 0 ? "extend it by at least one generation" : "";
  case instruction_kind::add:
    return run.search->generation() + 1 >= run.rules.evolution.generations
               ? "no generation is left that the genome could be in: extend the run first"
               : "";
  default:
    return {};
  }
}

std::vector<candidate_id> weights_to_keep(const run_state& run) {
  std::vector<candidate_id> keep;
  for (const auto& i : run.best)
    keep.push_back(i.id);
  for (const auto& f : run.finals)
    keep.push_back(f.who.id);
  if (run.best_random)
    keep.push_back(run.best_random->id);
  if (run.interim)
    for (const auto& m : run.interim->members)
      if (m.id != 0)
        keep.push_back(m.id);
  return keep;
}

kept_checkpoints checkpoints_to_keep(const run_state& run) {
  if (run.search->finished())
    return {.of = {}, .last = run.born};
  const auto recent = 2 * run.rules.evolution.population;
  kept_checkpoints kept{.of = {}, .last = run.born > recent ? run.born - recent : 0};
  for (const auto& i : run.search->population())
    kept.of.push_back(i.trained != 0 ? i.trained : i.id);
  for (const auto& [id, c] : run.open)
    if (c.start != 0)
      kept.of.push_back(c.start);
  return kept;
}

std::vector<candidate_id> open_to_drop(const run_state& run, bool planned) {
  std::vector<candidate_id> ids;
  for (const auto& [id, c] : run.open)
    if ((planned || c.fold.of == 0) && c.equal_to == 0)
      ids.push_back(id);
  return ids;
}

std::size_t open_trainings(const run_state& run) {
  if (!run.plan)
    return 0;
  return run.plan->trainings.size() - run.planned_born
         + static_cast<std::size_t>(std::ranges::count_if(
             run.open, [](const auto& o) { return o.second.fold.of != 0; }));
}

std::optional<std::chrono::milliseconds>
interim_course::begin(const run_state& run, const run_course& course,
                      std::chrono::milliseconds left) {
  using namespace std::chrono_literals;
  constexpr std::chrono::milliseconds least = 1s, most = 30s;
  constexpr auto parts = 50; // One has this part of the time that is left.
  const auto done = run.generations.size() + run.finals.size();
  const bool pays = course.stage == run_stage::searching || open_trainings(run) > 0;
  const bool late = left.count() != 0 && left <= least * parts / 2;
  if (under_way_ || done < due_ || !pays || late || course.stopping() || course.over()
      || course.finishing() || run.best.empty()
      || run.rules.final_stage.model != "ensemble")
    return std::nullopt;
  due_ = std::max<std::size_t>(1, 2 * done);
  under_way_ = true;
  return left.count() == 0 ? most : std::clamp(left / parts, least, most);
}

std::vector<examined_model> models_to_examine(const run_state& run) {
  std::vector<examined_model> models;
  if (run.best.empty())
    return models;
  models.push_back({"champion", run.best.front()});
  if (run.best_random && run.best_random->id != run.best.front().id)
    models.push_back({"best random candidate", *run.best_random});
  return models;
}

} // namespace clade
