// The end of a run with [final]: trainings to the end are planned from the speed that the
// search had, and the final model is put together from all models there are.
#include "actors/head/selector.hpp"
#include "genome/codec/codec.hpp"

#include <algorithm>
#include <chrono>

namespace clade {

using namespace std::chrono_literals;

void selector_state::take(const clade::end_search& message) {
  if (over || stopping || !run.rules.final_stage.wanted())
    return;
  if (!run.plan && run.best.empty())
    end_wanted = message.reason; // There is nothing to train to its end yet.
  else if (!run.plan)
    plan_end(message.reason);
  else if (message.trainings_too)
    drop_open(/*planned=*/true);
}

void selector_state::plan_end(const std::string& reason) {
  if (std::exchange(planning, true))
    return;
  self->request(params.dispatcher, caf::infinite, slots_query{})
      .then([this, reason](const slots_view& view) {
        auto plan = plan_final_stage(
            run.rules.final_stage, run.best,
            {.slots = std::max<std::size_t>(1, view.slots.size() / params.devices),
             .time = params.time_left ? params.time_left() : std::chrono::milliseconds(0),
             .epochs = params.epochs});
        plan.reason = reason;
        note(std::move(plan));
        advance();
      });
}

// Nobody needs the open candidates of the search any more, nor, when the time of the run is
// nearly used, those that were planned.
void selector_state::drop_open(bool planned) {
  for (const auto& [id, c] : run.open)
    if ((planned || c.fold.of == 0) && c.equal_to == 0)
      self->send(params.dispatcher,
                 drop_candidate{.id = id,
                                .who = planned ? "the end of its time"
                                               : "the end of the search"});
}

// In an order that does not depend on who was ready first: answers of folds are added up.
// The champion comes first, unless it is one fold of several.
std::vector<trained_member> selector_state::members() const {
  std::vector<trained_member> all;
  for (const auto& f : run.finals)
    all.push_back(
        {.id = f.who.id, .genome = *f.who.genome, .fold = f.fold, .bag = f.bag});
  std::ranges::sort(all, {}, &trained_member::id);
  for (const auto& i : run.best)
    if (std::ranges::find(all, i.id, &trained_member::id) == all.end())
      all.push_back({.id = i.id, .genome = *i.genome, .bag = i.id});
  const auto champion = std::ranges::find(all, run.best.front().id, &trained_member::id);
  if (champion->fold.of < 2)
    std::rotate(all.begin(), champion, champion + 1);
  return all;
}

void selector_state::compose() {
  collect_weights(std::make_shared<std::vector<trained_member>>(members()), 0);
}

void selector_state::collect_weights(std::shared_ptr<std::vector<trained_member>> all,
                                     std::size_t next) {
  if (next == all->size())
    return request_composition(all);
  self->request(params.archive, caf::infinite, fetch_weights{(*all)[next].id})
      .then([this, all, next](const fetched_weights& fetched) {
        // Damaged ones are left out by whoever puts the model together, and named.
        const auto whole =
            fetched.found ? fetched.found->load()
                          : expected<shared_bytes>(tl::unexpected(fetched.found.error()));
        if (whole)
          (*all)[next].weights = **whole;
        collect_weights(all, next + 1);
      });
}

void selector_state::request_composition(std::shared_ptr<std::vector<trained_member>> all,
                                         const std::string& why) {
  const auto left = params.time_left ? params.time_left() : std::chrono::milliseconds(0);
  assignment what{.id = {0, task_type::compose},
                  .time_ms = static_cast<std::uint64_t>(left.count()),
                  .weights = blob(encode(*all))};
  self->request(params.dispatcher, caf::infinite, test_request{std::move(what)})
      .then([this, all, why](const test_answer& answer) {
        if (over || !finishing)
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
        for (const auto& fitted : {composed->linear, composed->trees})
          if (fitted)
            final_record.examinations.push_back(*fitted);
        test_champion();
      });
}

// Half of the models may have a chance where all have none; the champion is among them.
void selector_state::compose_fewer(
    const std::shared_ptr<std::vector<trained_member>>& all, const std::string& why) {
  const auto left = params.time_left ? params.time_left() : std::chrono::milliseconds(0);
  const bool in_time = !params.time_left || left.count() == 0 || left > 1s;
  if (all->size() < 2 || !in_time)
    return compose_champion(why);
  all->resize(all->size() / 2);
  request_composition(all, why);
}

// Its weights are there, so nothing has to be computed.
void selector_state::compose_champion(const std::string& why) {
  self->request(params.archive, caf::infinite, fetch_evaluation{final_record.champion})
      .then([this, why](const fetched_evaluation& fetched) {
        if (over || !finishing)
          return;
        if (!fetched.found)
          return fail(fetched.found.error());
        composed =
            lone_composition(*fetched.found, "they could not be put together: " + why);
        test_champion();
      });
}

} // namespace clade
