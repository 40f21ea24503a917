// The champion meets the test data, and so do what it is compared with: the best of the
// random candidates of generation 0 and the linear model.
#include "actors/head/selector.hpp"
#include "engine/evaluation/final_members.hpp"
#include "genome/codec/codec.hpp"

#include <fmt/format.h>

namespace clade {

void selector_state::finish() {
  final_record = {};
  composed.reset();
  if (run.best.empty()) {
    note(final_record);
    return;
  }
  final_record.champion = run.best.front().id;
  if (run.rules.final_stage.model == "ensemble")
    compose();
  else
    test_champion();
}

void selector_state::test_champion() {
  constexpr std::chrono::seconds time_for_a_test{5};
  // Whoever put the final model together has tested the linear model too, as far as there
  // was time. The others are added before its answer can come.
  const bool linear_tested = composed.has_value();
  auto models = models_to_examine(run);
  if (composed
      && late(time_for_a_test)) // The comparison is not worth more time than there is.
    models.resize(std::min<std::size_t>(models.size(), 1));
  tests_out = models.size() + (linear_tested ? 0 : 1);
  for (const auto& [subject, who] : models)
    test(subject, who);
  if (!linear_tested)
    request_test("linear model",
                 {.id = {0, task_type::test}, .what = linear_model_task{}});
}

// Without its weights it is trained again, from what it started from.
void selector_state::test(const std::string& subject, const individual& who) {
  test_task what{.network = {.genome = encode(*who.genome), .epochs = who.epochs}};
  self->request(params.archive, caf::infinite, fetch_weights{who.id})
      .then([this, subject, id = who.id, what](const fetched_weights& fetched) mutable {
        if (!fetched.found)
          return fail(fetched.found.error());
        what.weights = *fetched.found;
        if (!what.weights.empty())
          return request_test(subject, {.id = {id, task_type::test}, .what = what});
        self->request(params.archive, caf::infinite, fetch_lineages{{id}})
            .then([this, subject, id, what](const fetched_lineages& traced) mutable {
              if (!traced.found)
                return fail(traced.found.error());
              const auto& start = traced.found->front();
              what.network.start = start.start;
              what.network.start_epoch = start.start_epoch;
              what.network.before = ancestors_of(start);
              what.network.checkpoint = start.checkpoint;
              request_test(subject, {.id = {id, task_type::test}, .what = what});
            });
      });
}

void selector_state::request_test(std::string subject, assignment what) {
  self->request(params.dispatcher, caf::infinite, test_request{std::move(what)})
      .then([this, subject = std::move(subject)](const test_answer& answer) {
        if (!course.finishing())
          return;
        auto& all = final_record.examinations;
        if (!answer.measured) {
          const auto why = fmt::format("the test of the {} failed: {}", subject,
                                       answer.measured.error().message);
          if (!composed)
            return fail({answer.measured.error().kind, why});
          composed->model.left_out.push_back(why); // The model is there nevertheless.
        } else if (const auto& measured = *answer.measured) {
          all.push_back(*measured);
          all.back().subject = subject;
        }
        if (--tests_out > 0)
          return;
        all = complete_examinations(std::move(all), composed ? &*composed : nullptr);
        if (composed)
          note(composed->model, composed->fitted_weights.empty()
                                    ? blob()
                                    : blob(composed->fitted_weights));
        note(final_record);
        advance();
      });
}

} // namespace clade
