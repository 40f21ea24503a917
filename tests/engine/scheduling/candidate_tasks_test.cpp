#include "engine/scheduling/candidate_tasks.hpp"
#include "tests/engine/scheduling/schedule_fixture.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace clade;
using namespace clade::test;

namespace {

candidate of_work(candidate_id id, double work) {
  return {.id = id, .work = work};
}

std::string firsts(const std::vector<task>& tasks) {
  std::string text;
  for (const auto& t : tasks)
    text += (t.first ? "!" : "") + to_text(t.id) + " ";
  return text;
}

} // namespace

TEST_CASE(
    "candidate tasks: the lightest of the first candidates goes before all others") {
  const std::vector<candidate> born{of_work(1, 3), of_work(2, 1), of_work(3, 2)};
  CHECK(firsts(tasks_of(born, {}, true)) == "#1 !#2 #3 ");
  CHECK(firsts(tasks_of(born, {}, false)) == "#1 #2 #3 ");
  CHECK(tasks_of({}, {}, true).empty());
}

TEST_CASE(
    "candidate tasks: work counts for each epoch that is left, and needs are asked") {
  const std::vector<candidate> born{{.id = 1, .work = 2, .epochs = 9, .start_epoch = 3},
                                    of_work(2, 5)};
  const auto tasks = tasks_of(
      born,
      {.needs_of = [](const candidate& c) { return task_needs{.memory_bytes = c.id}; },
       .alone = true},
      false);
  REQUIRE(tasks.size() == 2);
  CHECK(tasks[0].work == 12);
  CHECK(tasks[1].work == 5);
  CHECK(tasks[1].needs.memory_bytes == 2);
  CHECK(tasks[1].alone);
  CHECK(tasks_of(born, {}, false)[0].needs.slots == 1);
}

TEST_CASE("candidate tasks: checkpoints are left where others may start from them") {
  const candidate plain{.id = 1}, by_epochs{.id = 2, .epochs = 4},
      at_end{.id = 3, .epochs = 4, .fold = {0, 1}};
  CHECK(checkpoint_left_by(plain, true) == checkpointing::weights);
  CHECK(checkpoint_left_by(by_epochs, true) == checkpointing::whole);
  CHECK(checkpoint_left_by(at_end, true) == checkpointing::none);
  CHECK(checkpoint_left_by(by_epochs, false) == checkpointing::none);
}

TEST_CASE(
    "candidate tasks: what is trained at the end of a run always sends its weights") {
  CHECK(weights_wanted_above({.id = 1}, 0.5) == 0.5);
  CHECK(weights_wanted_above({.id = 1, .fold = {0, 1}}, 0.5)
        == -std::numeric_limits<double>::infinity());
}

TEST_CASE(
    "candidate tasks: what is not trained to its end has an evaluation with a reason") {
  const auto dropped = dropped_evaluation(7, "ada");
  CHECK(dropped.outcome == outcome::dropped);
  CHECK(dropped.reason == "dropped by ada");
  const auto refused = refused_evaluation(7, "9 GiB");
  CHECK(refused.outcome == outcome::out_of_memory);
  CHECK(refused.reason
        == "it needs about 9 GiB, more than any slot has; it was not tried");
  const auto crashed = crashed_evaluation({.id = 7, .attempt = 3}, "cpu:1", "killed");
  CHECK(crashed.outcome == outcome::crashed);
  CHECK(crashed.reason
        == "two node processes ended while they trained it, the last killed");
  CHECK(crashed.slot == "cpu:1");
  CHECK(crashed.tries == 3);
}

TEST_CASE("candidate tasks: those are elsewhere that a node has, and none of here") {
  auto s = with_nodes(2);
  for (const candidate_id id : {1, 2, 3})
    s.submit({.id = id, .alone = true});
  REQUIRE(s.hand_out(start).size() == 2);
  const auto here = s.leases_of(1).front().id.candidate;
  const auto elsewhere = s.leases_of(2).front().id.candidate;
  const std::vector<candidate_id> open{1, 2, 3};
  CHECK(only_elsewhere(open, s, [](node_id n) { return n == 1; })
        == std::vector<candidate_id>{elsewhere});
  CHECK(only_elsewhere(open, s, [](node_id n) { return n == 2; })
        == std::vector<candidate_id>{here});
  CHECK(only_elsewhere(open, s, [](node_id) { return true; }).empty());
}
