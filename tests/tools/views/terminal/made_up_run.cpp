#include "tests/tools/views/terminal/made_up_run.hpp"

#include <cstdlib>
#include <ctime>

namespace clade::test {

namespace {

candidate_line a_line(candidate_id id, double fitness) {
  return {.id = id,
          .generation = (id - 1) / 24,
          .origin =
              id % 2 == 0 ? "add conv(filters=16) on n1..n2" : "widen n3f2a1 16 -> 32",
          .born_ms = static_cast<std::int64_t>(id) * 900,
          .evaluated_ms = static_cast<std::int64_t>(id) * 1000,
          .fitness = fitness,
          .rank = {.ok = true, .primary = fitness, .secondary = -0.1},
          .parameters = 1000 + 37 * id,
          .seconds = 2.5,
          .slot = "node1/cpu:0",
          .reason = ""};
}

candidate_line a_failure(candidate_id id, outcome o, std::string reason) {
  auto line = a_line(id, 0);
  line.outcome = o;
  line.fitness.reset();
  line.rank = {};
  line.reason = std::move(reason);
  return line;
}

generation_line a_generation(std::uint64_t number, double best) {
  return {.summary = {.generation = number,
                      .best = 24 * number + 7,
                      .best_fitness = best,
                      .median_fitness = best - 0.1,
                      .lower_quartile = best - 0.25,
                      .upper_quartile = best - 0.04,
                      .succeeded = 23,
                      .failed = 1},
          .born_ms = static_cast<std::int64_t>(number) * 24'000,
          .closed_ms = static_cast<std::int64_t>(number + 1) * 24'000};
}

} // namespace

run_picture a_picture() {
  run_picture p;
  p.sequence = 158;
  p.unix_ms = 75'000;
  p.version = "0.1.0";
  p.state = picture_state::running;
  p.rules.evolution.population = 24;
  p.rules.evolution.generations = 10;
  p.generation = 3;
  p.born = 77;
  p.evaluated = 75;
  p.failed = 3;
  p.training_seconds = 187.5;
  p.outcomes = {{outcome::succeeded, 72}, {outcome::diverged, 2}, {outcome::crashed, 1}};
  p.generations = {a_generation(0, 0.62), a_generation(1, 0.79), a_generation(2, 0.91)};
  p.best = {a_line(55, 0.91), a_line(54, 0.9)};
  p.front = {a_line(9, 0.7), a_line(31, 0.79), a_line(55, 0.91)};
  for (candidate_id id = 60; id <= 75; ++id)
    p.latest.push_back(a_line(id, 0.8 + 0.001 * static_cast<double>(id)));
  p.latest[13] = a_failure(73, outcome::diverged, "the loss became NaN in epoch 2");
  p.open = {
      {76, {.id = 76, .generation = 3, .origin = "widen n2 8 -> 16", .born_ms = 74'000}},
      {77, {.id = 77, .generation = 3, .origin = "drop n4", .born_ms = 74'500}}};
  p.slots = {
      {.slot = "node1/cpu:0", .joined_ms = 1000, .left_ms = std::nullopt, .reason = ""},
      {.slot = "node2/cuda:0",
       .joined_ms = 1500,
       .left_ms = 43'000,
       .reason = "connection lost"}};
  p.attempts = {{40, 1, "node2/cuda:0", "killed by signal 9"}};
  return p;
}

slots_view some_slots() {
  using namespace std::chrono_literals;
  return {
      .slots =
          {{.name = "node1/cpu:0",
            .label = "4 cores",
            .ready = true,
            .training = 76,
            .epoch = 5,
            .epochs = 20,
            .at_work = 1200ms},
           {.name = "node1/cpu:1", .label = "4 cores", .ready = true},
           {.name = "node3/cuda:0",
            .label = "H200",
            .ready = true,
            .away = true,
            .training = 77,
            .epoch = 1,
            .epochs = 20,
            .heard = 12s,
            .at_work = 15s},
           {.name = "node3/cuda:1", .label = "H200", .ready = true, .quarantined = 90s}},
      .failures = {{.slot = "node3/cuda:1", .count = 3, .last = "killed by signal 11"}},
      .waiting = 5};
}

std::vector<candidate_row> some_rows(candidate_id from, std::size_t count) {
  std::vector<candidate_row> rows;
  for (candidate_id id = from; id + count > from && id > 0; --id) {
    candidate_row row{.line = a_line(id, 0.8), .index = (id - 1) % 24, .parents = {}};
    if (id > 24)
      row.parents = {id - 24, id - 20};
    rows.push_back(std::move(row));
  }
  return rows;
}

utc::utc() {
  if (const char* zone = std::getenv("TZ"))
    before_ = zone;
  ::setenv("TZ", "UTC", 1);
  ::tzset();
}

utc::~utc() {
  if (before_)
    ::setenv("TZ", before_->c_str(), 1);
  else
    ::unsetenv("TZ");
  ::tzset();
}

} // namespace clade::test
