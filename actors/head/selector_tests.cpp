// The champion meets the test data, and so do what it is compared with: the best of the
// random candidates of generation 0 and the linear model.
#include "actors/head/selector.hpp"
#include "genome/codec/codec.hpp"

#include <algorithm>

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
  // Whoever put the final model together has tested the linear model too, as far as there
  // was time. The others are added before its answer can come.
  const bool linear_tested = composed.has_value();
  tests_out = linear_tested ? 0 : 1;
  std::vector<std::pair<std::string, individual>> subjects{
      {"champion", run.best.front()}};
  if (run.best_random && run.best_random->id != final_record.champion)
    subjects.emplace_back("best random candidate", *run.best_random);
  tests_out += subjects.size();
  for (const auto& [subject, who] : subjects)
    test(subject, who);
  if (!linear_tested)
    request_test("linear model", {.id = {0, task_type::test}});
}

// Without its weights it is trained again, from what it started from.
void selector_state::test(const std::string& subject, const individual& who) {
  assignment what{.id = {who.id, task_type::test},
                  .genome = encode(*who.genome),
                  .epochs = who.epochs};
  self->request(params.archive, caf::infinite, fetch_weights{who.id})
      .then([this, subject, what](const fetched_weights& fetched) mutable {
        if (!fetched.found)
          return fail(fetched.found.error());
        what.weights = *fetched.found;
        if (!what.weights.empty())
          return request_test(subject, std::move(what));
        self->request(params.archive, caf::infinite, fetch_lineages{{what.id.candidate}})
            .then([this, subject, what](const fetched_lineages& traced) mutable {
              if (!traced.found)
                return fail(traced.found.error());
              const auto& start = traced.found->front();
              what.start = start.start;
              what.start_epoch = start.start_epoch;
              what.before = ancestors_of(start);
              what.checkpoint = start.checkpoint;
              request_test(subject, std::move(what));
            });
      });
}

// If the champion is the final model, its test is that of the final model.
void selector_state::add_test_of_champion() {
  auto& all = final_record.examinations;
  const auto champion = std::ranges::find(all, "champion", &examination::subject);
  if (!composed || champion == all.end()
      || std::ranges::find(all, composed->tested.subject, &examination::subject)
             != all.end())
    return;
  auto same = *champion;
  same.id = 0;
  same.subject = composed->tested.subject;
  same.metrics.insert(same.metrics.end(), composed->model.metrics.begin(),
                      composed->model.metrics.end());
  all.push_back(std::move(same));
}

void selector_state::request_test(std::string subject, assignment what) {
  self->request(params.dispatcher, caf::infinite, test_request{std::move(what)})
      .then([this, subject = std::move(subject)](const test_answer& answer) {
        if (over || !finishing)
          return;
        auto& all = final_record.examinations;
        if (!answer.measured) {
          const auto why = "the test of the " + subject
                           + " failed: " + answer.measured.error().message;
          if (!composed)
            return fail({answer.measured.error().kind, why});
          composed->model.left_out.push_back(why); // The model is there nevertheless.
        } else if (const auto& measured = *answer.measured) {
          all.push_back(*measured);
          all.back().subject = subject;
        }
        if (--tests_out > 0)
          return;
        add_test_of_champion();
        std::ranges::sort(all, {}, &examination::subject); // They came in any order.
        if (composed)
          note(composed->model, composed->fitted_weights.empty()
                                    ? blob()
                                    : blob(composed->fitted_weights));
        note(final_record);
        advance();
      });
}

} // namespace clade
