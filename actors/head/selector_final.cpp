// The end of a run with [final]: trainings to the end are planned from the speed that the
// search had, and the final model is put together from all models there are.
#include "actors/head/selector.hpp"
#include "engine/evaluation/final_members.hpp"
#include "genome/codec/codec.hpp"

#include <algorithm>
#include <chrono>

namespace clade {

using namespace std::chrono_literals;

void selector_state::take(const clade::end_search& message) {
  switch (told_to_end(course, run, message.trainings_too)) {
  case end_answer::passed_over:
    break;
  case end_answer::waits_for_success:
    end_wanted = message.reason;
    break;
  case end_answer::plans:
    plan_end(message.reason);
    break;
  case end_answer::drops_trainings:
    drop_open(/*planned=*/true);
    break;
  }
}

std::chrono::milliseconds selector_state::time_left() const {
  return params.time_left ? params.time_left() : std::chrono::milliseconds(0);
}

bool selector_state::late(std::chrono::milliseconds needed) const {
  const auto left = time_left();
  return left.count() != 0 && left <= needed;
}

/// How many slots are cores of this machine, if all are and each trains alone; else 1.
std::size_t selector_state::cores_of(const slots_view& view) const {
  const bool all = std::ranges::all_of(
      view.slots, [](const slot_view& s) { return s.name.starts_with("cpu:"); });
  return all && params.devices == 1
             ? std::clamp<std::size_t>(view.slots.size(), 1, most_threads)
             : 1;
}

void selector_state::plan_end(const std::string& reason) {
  if (course.stage != run_stage::searching)
    return; // It is planned already.
  course.stage = run_stage::ending;
  self->request(params.dispatcher, caf::infinite, slots_query{})
      .then([this, reason](const slots_view& view) {
        auto plan = plan_final_stage(
            run.rules.final_stage, run.for_the_end(),
            {.slots = std::max<std::size_t>(1, view.slots.size() / params.devices),
             .time = time_left(),
             .epochs = params.epochs,
             .cores = cores_of(view),
             .lone = params.devices == 1,
             .with_trees = params.with_trees});
        plan.reason = reason;
        note(std::move(plan));
        advance();
      });
}

void selector_state::drop_open(bool planned) {
  for (const auto id : open_to_drop(run, planned))
    self->send(
        params.dispatcher,
        drop_candidate{.id = id,
                       .who = planned ? "the end of its time" : "the end of the search"});
}

void selector_state::compose() {
  if (interim.under_way())
    return; // It is a task of the same name; this goes on when it is recorded.
  collect_weights(std::make_shared<std::vector<trained_member>>(members_of(run)), 0,
                  [this](const auto& all) { request_composition(all); });
}

void selector_state::compose_interim() {
  const auto time = interim.begin(run, course, time_left());
  if (!time)
    return;
  auto members = std::make_shared<std::vector<trained_member>>(members_of(run));
  for (const auto& m : *members)
    interim_members.push_back(m.id);
  collect_weights(std::move(members), 0, [this, time = *time](const auto& all) {
    assignment what{
        .id = {0, task_type::compose},
        .what = composition_task{.members = blob(encode(*all)),
                                 .time_ms = static_cast<std::uint64_t>(time.count()),
                                 .interim = true}};
    self->request(params.dispatcher, caf::infinite, test_request{std::move(what)})
        .then([this](const test_answer& answer) { take_interim(answer); });
  });
}

void selector_state::take_interim(const test_answer& answer) {
  if (answer.measured && answer.composed) {
    const auto& made = *answer.composed;
    note(interim_composed{made.model},
         made.fitted_weights.empty() ? blob() : blob(made.fitted_weights));
  } else {
    // The one before stays; the record says why there is no newer one.
    interim_composed same{run.interim.value_or(model_composed())};
    same.model.left_out = {answer.measured ? "the model did not come"
                                           : answer.measured.error().message};
    note(std::move(same));
  }
  advance();
}

void selector_state::collect_weights(std::shared_ptr<std::vector<trained_member>> all,
                                     std::size_t next, const members_handler& then) {
  if (next == all->size())
    return then(all);
  self->request(params.archive, caf::infinite, fetch_weights{(*all)[next].id})
      .then([this, all, next, then](const fetched_weights& fetched) {
        // Damaged ones are left out by whoever puts the model together, and named.
        const auto whole =
            fetched.found ? fetched.found->load()
                          : expected<shared_bytes>(tl::unexpected(fetched.found.error()));
        if (whole)
          (*all)[next].weights = **whole;
        collect_weights(all, next + 1, then);
      });
}

// No other slot has anything to do then.
void selector_state::request_composition(std::shared_ptr<std::vector<trained_member>> all,
                                         const std::string& why) {
  self->request(params.dispatcher, caf::infinite, slots_query{})
      .then([this, all, why](const slots_view& view) {
        request_composition(all, why, cores_of(view));
      });
}

void selector_state::request_composition(std::shared_ptr<std::vector<trained_member>> all,
                                         const std::string& why, std::size_t cores) {
  assignment what{
      .id = {0, task_type::compose},
      .what = composition_task{.members = blob(encode(*all)),
                               .time_ms = static_cast<std::uint64_t>(time_left().count()),
                               .threads = static_cast<std::uint32_t>(cores)}};
  self->request(params.dispatcher, caf::infinite, test_request{std::move(what)})
      .then([this, all, why](const test_answer& answer) {
        if (!course.finishing())
          return;
        if (!answer.measured)
          return compose_fewer(all, answer.measured.error().message);
        if (!answer.composed)
          return fail({error_kind::internal, "the final model did not come"});
        composed = *answer.composed;
        if (!why.empty())
          composed->model.left_out.push_back(
              "models of the run: with them it could not be "
              "put together: "
              + why);
        final_record.examinations.push_back(composed->tested);
        std::ranges::copy(composed->compared,
                          std::back_inserter(final_record.examinations));
        test_champion();
      });
}

// Half of the models may have a chance where all have none; the champion is among them.
void selector_state::compose_fewer(
    const std::shared_ptr<std::vector<trained_member>>& all, const std::string& why) {
  if (all->size() < 2 || late(1s))
    return compose_champion(why);
  all->resize(all->size() / 2);
  request_composition(all, why);
}

// Its weights are there, so nothing has to be computed.
void selector_state::compose_champion(const std::string& why) {
  self->request(params.archive, caf::infinite, fetch_evaluation{final_record.champion})
      .then([this, why](const fetched_evaluation& fetched) {
        if (!course.finishing())
          return;
        if (!fetched.found)
          return fail(fetched.found.error());
        composed =
            lone_composition(*fetched.found, "they could not be put together: " + why);
        test_champion();
      });
}

} // namespace clade
