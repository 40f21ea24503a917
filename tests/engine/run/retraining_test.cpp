#include "engine/run/steps/retraining.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

evaluation an_evaluation() {
  evaluation e;
  e.id = 12;
  e.curve = {{.number = 1, .metrics = {{"loss", 0.5}, {"score", 0.25}}, .seconds = 1},
             {.number = 2, .metrics = {{"loss", 0.25}, {"score", 0.5}}, .seconds = 1}};
  e.metrics = e.curve.back().metrics;
  e.parameters = 7;
  e.weights_hash = 9;
  e.seconds = 2;
  e.slot = "cpu:0";
  return e;
}

std::string compared(void (*change)(evaluation&)) {
  auto again = an_evaluation();
  change(again);
  return to_text(compare(an_evaluation(), again));
}

} // namespace

TEST_CASE("retraining: what was observed of time and place makes no difference") {
  CHECK(compared([](evaluation& e) {
          e.seconds = 50;
          e.slot = "cuda:3";
          e.tries = 2;
          e.curve[0].seconds = 3;
        })
        == "#12: equal, 2 epochs");
}

TEST_CASE(
    "retraining: metrics are compared bit for bit, and the largest difference told") {
  CHECK(compared([](evaluation& e) { e.curve[0].metrics[0].value = 0.5000000000000001; })
        == "#12: differs in 2 epochs, loss by at most 1.1102230246251565e-16");
  CHECK(compared([](evaluation& e) {
          e.curve[0].metrics[0].value = 0.75;
          e.curve[1].metrics[0].value = 0.5;
          e.curve[1].metrics[1].value = 1;
        })
        == "#12: differs in 2 epochs, loss by at most 0.25, score by at most 0.5");
  CHECK(compared([](evaluation& e) { e.metrics[1].value = 0; })
        == "#12: differs in 2 epochs, score by at most 0.5");
}

TEST_CASE("retraining: whatever else differs is named") {
  CHECK(compared([](evaluation& e) { e.weights_hash = 8; })
        == "#12: differs in 2 epochs, other weights");
  CHECK(compared([](evaluation& e) { e.parameters = 8; })
        == "#12: differs in 2 epochs, 8 parameters instead of 7");
  CHECK(compared([](evaluation& e) { e.curve.pop_back(); })
        == "#12: differs in 1 epoch, 1 epochs instead of 2");
  CHECK(compared([](evaluation& e) { e.outcome = outcome::diverged; })
        == "#12: differs in 2 epochs, diverged instead of succeeded");
  CHECK(compared([](evaluation& e) { e.curve[0].metrics[1].name = "rank"; })
        == "#12: differs in 2 epochs, rank, which is not stored, no score");
  CHECK(compared([](evaluation& e) {
          e.branches = {{"n3f2a1", "size_5", 0.25}};
        })
        == "#12: differs in 2 epochs, other importances of branches");
}

TEST_CASE(
    "retraining: what failed by time or memory or with its process need not repeat") {
  const auto ended = [](outcome o, std::string reason = {}) {
    evaluation e{.id = 1, .outcome = o};
    e.reason = std::move(reason);
    return e;
  };
  CHECK(repeatable(ended(outcome::succeeded)));
  CHECK(repeatable(ended(outcome::diverged, "validation.loss became no finite number")));
  CHECK_FALSE(repeatable(ended(outcome::succeeded, "cut by its time")));
  auto by_clock = ended(outcome::succeeded, "the rates followed the clock");
  by_clock.updates.emplace(3, std::uint8_t{1});
  CHECK(repeatable(by_clock));
  CHECK_FALSE(repeatable(ended(outcome::timed_out)));
  CHECK_FALSE(repeatable(ended(outcome::out_of_memory)));
  CHECK_FALSE(repeatable(ended(outcome::crashed)));
  CHECK_FALSE(repeatable(ended(outcome::dropped)));
}
