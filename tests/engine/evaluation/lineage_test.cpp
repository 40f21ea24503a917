#include "engine/evaluation/lineage.hpp"
#include "tests/engine/search/toy_world.hpp"
#include "tests/support/content_of.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <set>

using namespace clade;

namespace {

/// #1, #2 from it, #3 a copy of #2, #4 from #2; #2 goes on after 3 epochs, #4 after 9.
struct past {
  std::map<candidate_id, candidate> all;
  std::map<candidate_id, bytes> checkpoints;

  past() {
    add(1, 0, 3);
    add(2, 1, 9);
    add(3, 1, 9).equal_to = 2;
    add(4, 2, 27);
  }

  candidate& add(candidate_id id, candidate_id start, std::uint32_t epochs) {
    auto c = a_candidate(id, static_cast<std::int64_t>(id));
    c.start = start;
    c.epochs = epochs;
    return all[id] = std::move(c);
  }

  [[nodiscard]] expected<lineage> trace(const candidate& c) const {
    return trace_lineage(
        c, {.candidate_of = [&](candidate_id id) -> expected<candidate> {
              const auto found = all.find(id);
              if (found == all.end())
                return fail(error_kind::not_found, "no #" + std::to_string(id));
              return found->second;
            },
            .checkpoint_of =
                [&](candidate_id id) {
                  const auto found = checkpoints.find(id);
                  return found == checkpoints.end() ? bytes{} : found->second;
                }});
  }
};

std::vector<candidate_id> ids(const lineage& l) {
  std::vector<candidate_id> all;
  for (const auto& c : l.before)
    all.push_back(c.id);
  return all;
}

} // namespace

TEST_CASE("lineage: where the start has a checkpoint, that is all") {
  past p;
  p.checkpoints = {{1, "one"}, {2, "two"}};
  const auto l = p.trace(p.all[4]);
  REQUIRE(l);
  CHECK(l->start == 2);
  CHECK(l->start_epoch == 9);
  CHECK(l->checkpoint == bytes("two"));
  CHECK(l->before.empty());
}

TEST_CASE("lineage: what is lost is trained again, the first one first") {
  past p;
  p.checkpoints = {{1, "one"}};
  auto l = p.trace(p.all[4]);
  REQUIRE(l);
  CHECK(ids(*l) == std::vector<candidate_id>{2});
  CHECK(l->before[0].start_epoch == 3);
  CHECK(l->checkpoint == bytes("one"));
  p.checkpoints.clear();
  l = p.trace(p.all[4]);
  REQUIRE(l);
  CHECK(ids(*l) == std::vector<candidate_id>{1, 2});
  CHECK(l->before[0].start_epoch == 0);
  CHECK(l->before[1].start_epoch == 3);
  CHECK(l->start_epoch == 9);
  CHECK(l->checkpoint.empty());
}

TEST_CASE("lineage: a copy stands for its original") {
  past p;
  const auto l = p.trace(p.add(5, 3, 27));
  REQUIRE(l);
  CHECK(ids(*l) == std::vector<candidate_id>{1, 2});
}

TEST_CASE("lineage: without epochs of its own a candidate takes over weights alone") {
  past p;
  p.checkpoints = {{1, "one"}};
  const auto l = p.trace(p.add(5, 1, 0));
  REQUIRE(l);
  CHECK(l->start_epoch == 0);
}

TEST_CASE("lineage: records that go in a circle, or nowhere, are an error") {
  past p;
  p.all[1].start = 2;
  CHECK(p.trace(p.all[4]).error().kind == error_kind::corrupt);
  p.all.erase(2);
  CHECK(p.trace(p.all[4]).error().kind == error_kind::not_found);
}

TEST_CASE("lineage: each is evaluated with the checkpoint of the one before") {
  past p;
  const auto l = p.trace(p.all[4]);
  REQUIRE(l);
  std::vector<job> before;
  for (const auto& c : l->before)
    before.push_back(job_of(c));
  std::vector<std::string> seen;
  std::set<candidate_id> failing;
  const auto evaluate = [&](job j) {
    seen.push_back(std::to_string(j.id) + " with " + test::content_of(j.checkpoint));
    evaluated_job done{.evaluation = {.id = j.id}};
    if (failing.contains(j.id)) {
      done.evaluation.outcome = outcome::diverged;
      done.evaluation.reason = "NaN";
    } else if (j.keep_checkpoint == checkpointing::whole) {
      done.checkpoint = "of " + std::to_string(j.id);
    }
    return done;
  };
  const auto done = evaluate_lineage(before, job_of(p.all[4]), evaluate);
  CHECK(done.evaluation.id == 4);
  CHECK(seen == std::vector<std::string>{"1 with ", "2 with of 1", "4 with of 2"});
  failing = {2};
  seen.clear();
  const auto failed = evaluate_lineage(before, job_of(p.all[4]), evaluate).evaluation;
  CHECK(seen.size() == 2);
  CHECK(failed.id == 4);
  CHECK(failed.outcome == outcome::invalid);
  CHECK(failed.reason == "#2, from which it starts, diverged when trained again: NaN");
  const auto on_full_disk = evaluate_lineage(before, job_of(p.all[4]), [](job j) {
    evaluated_job none{.evaluation = {.id = j.id, .outcome = outcome::invalid}};
    none.machine_failed = true;
    return none;
  });
  CHECK(on_full_disk.machine_failed);
}
