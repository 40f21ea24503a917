#include "engine/evaluation/lineage.hpp"

#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

expected<candidate> trained_one(candidate_id id, const lineage_source& from) {
  auto found = from.candidate_of(id);
  return found && found->equal_to != 0 ? from.candidate_of(found->equal_to)
                                       : std::move(found);
}

/// It goes on with the other's training if both say how many epochs they have.
std::uint32_t epoch_between(const candidate& c, const candidate& start) {
  return c.epochs == 0 ? 0 : start.epochs;
}

} // namespace

expected<lineage> trace_lineage(const candidate& c, const lineage_source& from) {
  lineage found{.start = c.start};
  auto* next_start_epoch = &found.start_epoch;
  std::vector<candidate> back; // The last first.
  for (auto one = c; one.start != 0;) {
    if (one.start >= one.id)
      return fail(error_kind::corrupt,
                  fmt::format("{} starts from #{}, which comes after it",
                              numbered(one.id), one.start));
    auto start = trained_one(one.start, from);
    if (!start)
      return tl::unexpected(start.error());
    *next_start_epoch = epoch_between(one, *start);
    found.checkpoint = from.checkpoint_of(start->id);
    if (!found.checkpoint.empty())
      break;
    back.push_back(*start);
    next_start_epoch = &back.back().start_epoch;
    one = std::move(*start);
  }
  std::ranges::reverse(back);
  found.before = std::move(back);
  return found;
}

job job_of(const candidate& c) {
  return {.id = c.id,
          .genome = *c.genome,
          .budget = {.epochs = c.epochs, .threads = c.threads},
          .start = c.start,
          .start_epoch = c.start_epoch,
          .fold = c.fold};
}

evaluated_job evaluate_lineage(std::vector<job> before, job last,
                               const std::function<evaluated_job(job)>& evaluate) {
  auto checkpoint = std::move(last.checkpoint);
  for (auto& j : before) {
    j.checkpoint = std::move(checkpoint);
    j.keep_checkpoint = checkpointing::whole;
    const auto id = j.id;
    auto done = evaluate(std::move(j));
    if (done.evaluation.outcome != outcome::succeeded) {
      evaluated_job none{.evaluation = {.id = last.id, .outcome = outcome::invalid}};
      none.evaluation.reason =
          fmt::format("{}, from which it starts, {} when trained again: {}", numbered(id),
                      to_text(done.evaluation.outcome), done.evaluation.reason);
      none.machine_failed = done.machine_failed;
      return none;
    }
    checkpoint = std::move(done.checkpoint);
  }
  last.checkpoint = std::move(checkpoint);
  return evaluate(std::move(last));
}

} // namespace clade
