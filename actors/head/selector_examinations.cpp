// The champion meets the test data, and so do what it is compared with: the best of the
// random candidates of generation 0 and the linear model.
#include "actors/head/selector.hpp"
#include "genome/codec.hpp"

#include <algorithm>

namespace clade {

void selector_state::finish() {
  examinations_out = 1; // The baseline; the others are added before its answer can come.
  if (run.best.empty()) {
    final_record.champion = 0;
    examinations_out = 0;
    note(final_record);
    return;
  }
  final_record.champion = run.best.front().id;
  std::vector<std::pair<std::string, individual>> subjects{
      {"champion", run.best.front()}};
  if (run.best_random && run.best_random->id != final_record.champion)
    subjects.emplace_back("best random candidate", *run.best_random);
  examinations_out += subjects.size();
  for (const auto& [subject, who] : subjects)
    test(subject, who);
  examine_one({.subject = "linear model"});
}

// Without its weights it is trained again, from what it started from.
void selector_state::test(const std::string& subject, const individual& who) {
  examine request{.subject = subject,
                  .id = who.id,
                  .genome = encode(*who.genome),
                  .epochs = who.epochs};
  self->request(params.archive, caf::infinite, fetch_weights{who.id})
      .then([this, request](const fetched_weights& fetched) mutable {
        if (!fetched.found)
          return fail(fetched.found.error());
        request.weights = *fetched.found;
        if (!request.weights.empty())
          return examine_one(std::move(request));
        self->request(params.archive, caf::infinite, fetch_lineages{{request.id}})
            .then([this, request](const fetched_lineages& traced) mutable {
              if (!traced.found)
                return fail(traced.found.error());
              const auto& start = traced.found->front();
              request.start = start.start;
              request.start_epoch = start.start_epoch;
              request.before = ancestors_of(start);
              request.checkpoint = start.checkpoint;
              examine_one(std::move(request));
            });
      });
}

void selector_state::examine_one(examine request) {
  const auto subject = request.subject;
  self->request(params.dispatcher, caf::infinite, std::move(request))
      .then([this, subject](const examined& answer) {
        if (over || !finishing)
          return;
        if (!answer.failure.empty())
          return fail({error_kind::internal,
                       "the test of the " + subject + " failed: " + answer.failure});
        auto decoded = decode_record(answer.record);
        auto* one = decoded ? std::get_if<run_finished>(&*decoded) : nullptr;
        if (one == nullptr)
          return fail({error_kind::corrupt,
                       "the test of the " + subject + " sent no examination"});
        auto& all = final_record.examinations;
        all.insert(all.end(), one->examinations.begin(), one->examinations.end());
        if (--examinations_out > 0)
          return;
        std::ranges::sort(all, {}, &examination::subject); // They came in any order.
        note(final_record);
        advance();
      });
}

} // namespace clade
