#include "tests/engine/store/history.hpp"

#include "genome/genes/hash.hpp"
#include "genome/variation/old_change_text.hpp"
#include "tests/support/genomes.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <limits>

namespace clade::test {

candidate a_candidate(candidate_id id) {
  candidate c;
  c.id = id;
  c.index = id - 1;
  auto g = a_genome();
  assign(g.hyperparameters, "learning_rate", 0.001 * static_cast<double>(id));
  c.network = canonical_hash(g);
  c.genome = std::make_shared<const genome>(std::move(g));
  c.changes = {{.after = "random"}};
  c.work = 1000;
  return c;
}

evaluation an_evaluation(candidate_id id, double accuracy) {
  evaluation e;
  e.id = id;
  e.metrics = {{"validation.accuracy", accuracy}, {"validation.loss", 1 - accuracy}};
  e.parameters = 100 * id;
  e.weights_hash = ~id;
  e.curve = {{1, {{"validation.loss", 2 * (1 - accuracy)}}, 0.25}, {2, e.metrics, 0.25}};
  e.seconds = 0.5;
  e.slot = "node1/cpu:0";
  return e;
}

entry born(candidate c) {
  return {candidate_born{std::move(c)}, {}};
}

entry evaluated(evaluation e, bytes weights) {
  return {candidate_evaluated{std::move(e)}, std::move(weights)};
}

namespace {

candidate a_child(candidate_id id, std::vector<candidate_id> parents,
                  const char* origin) {
  auto c = a_candidate(id);
  c.generation = 1;
  c.index = id - 4;
  c.parents = std::move(parents);
  c.changes = parse_old_change_text(origin);
  return c;
}

evaluation a_failure(candidate_id id, outcome o, std::string reason) {
  auto e = an_evaluation(id, 0);
  e.outcome = o;
  e.metrics.clear();
  e.curve.clear();
  e.reason = std::move(reason);
  return e;
}

} // namespace

std::vector<entry> a_history() {
  const auto original = an_evaluation(1, 0.5);
  auto copy = a_child(6, {1}, "change nothing");
  copy.equal_to = 1;
  copy.network = a_candidate(1).network;
  return {
      {run_started{"0.1.0", "[experiment]\nname = \"x\"\n", ~0ULL, {1, 2}}, {}},
      {slot_changed{"node1/cpu:0", true, ""}, {}},
      {slot_changed{"node2/cpu:1", true, ""}, {}},
      born(a_candidate(1)),
      born(a_candidate(2)),
      born(a_candidate(3)),
      evaluated(an_evaluation(2, 0.7)),
      evaluated(original),
      evaluated(a_failure(3, outcome::diverged, "the loss is \"NaN\"")),
      {generation_closed{0, {2, 1, 3}}, {}},
      {run_paused{"interrupted"}, {}},
      {run_resumed{"0.1.1"}, {}},
      {slot_changed{"node3/cpu:0", true, ""}, {}},
      born(a_child(4, {2}, "add dense(units=8)")),
      born(a_child(5, {2, 1}, "widen n2 16 -> 32")),
      born(copy),
      evaluated(an_evaluation(5, 0.9), "the weights of 5"),
      evaluated(copy_for(6, original)),
      {attempt_failed{4, 1, "node3/cpu:0", "killed by signal 9"}, {}},
      {slot_changed{"node3/cpu:0", false, "connection lost"}, {}},
      evaluated(a_failure(4, outcome::crashed, "killed two node processes")),
      {generation_closed{1, {5, 2, 1}}, {}},
      {run_finished{5,
                    {{"champion", 5, {{"test.accuracy", 0.875}}, 500},
                     {"best random candidate", 2, {{"test.accuracy", 0.75}}, 200},
                     {"linear model", 0, {{"test.accuracy", 0.625}}, 10}}},
       {}},
  };
}

namespace {

std::string any_text() {
  return *rc::gen::container<std::string>(
      rc::gen::element('a', 'b', ' ', '\'', '"', '\\', '\n', '\0', '\xc3', '\xff'));
}

double any_number() {
  return *rc::gen::element(0.0, -1.5, 1e300, 1.0 / 3, 5e-324);
}

std::uint64_t any_natural() {
  return *rc::gen::element<std::uint64_t>(0, 1, 255, 1ULL << 40, ~0ULL);
}

std::vector<metric> any_metrics() {
  std::vector<metric> metrics;
  for (int n = *rc::gen::inRange(0, 4); n > 0; --n)
    metrics.push_back({any_text(), any_number()});
  return metrics;
}

candidate any_candidate() {
  auto c = a_candidate(*rc::gen::inRange<candidate_id>(1, 9));
  c.generation = any_natural();
  c.index = any_natural();
  c.attempt = any_natural();
  c.network = {any_natural(), any_natural()};
  c.parents = *rc::gen::container<std::vector<candidate_id>>(
      rc::gen::element<candidate_id>(1, 2, ~0ULL));
  c.changes = {{.after = any_text()}};
  c.work = any_number();
  c.equal_to = any_natural();
  return c;
}

evaluation any_evaluation() {
  evaluation e;
  e.id = *rc::gen::inRange<candidate_id>(1, 9);
  e.outcome = static_cast<outcome>(*rc::gen::inRange(0, 7));
  e.metrics = any_metrics();
  e.parameters = any_natural();
  e.weights_hash = any_natural();
  e.equal_to = any_natural();
  e.reason = any_text();
  for (std::uint32_t n = *rc::gen::inRange(0, 3); n > 0; --n)
    e.curve.push_back({n, any_metrics(), any_number()});
  e.seconds = any_number();
  e.slot = any_text();
  e.tries = *rc::gen::arbitrary<std::uint32_t>();
  return e;
}

} // namespace

record any_record() {
  const auto small = *rc::gen::inRange<candidate_id>(0, 9);
  switch (*rc::gen::inRange(0, 12)) {
  case 0:
    return run_started{
        any_text(), any_text(), any_natural(), {any_natural(), any_natural()}};
  case 1:
    return candidate_born{any_candidate()};
  case 2:
    return candidate_evaluated{any_evaluation()};
  case 3:
    return generation_closed{any_natural(), {small, any_natural()}};
  case 4:
    return run_finished{small, {{any_text(), small, any_metrics(), any_natural()}}};
  case 5:
    return run_paused{any_text()};
  case 6:
    return run_resumed{any_text()};
  case 7:
    return attempt_failed{small, 3, any_text(), any_text()};
  case 8:
    return run_forked{
        any_text(),   any_natural(), any_natural(), small,
        {any_text()}, any_text(),    any_natural(), {any_natural(), any_natural()}};
  case 9:
    return operator_command{{instruction_kind::drop, small, any_text()}, any_text()};
  case 10:
    return operator_command{
        {*rc::gen::element(instruction_kind::note, instruction_kind::tag,
                           instruction_kind::untag),
         small, any_text()},
        any_text()};
  default:
    return slot_changed{any_text(), *rc::gen::arbitrary<bool>(), any_text()};
  }
}

void write_store(const std::filesystem::path& file, const std::vector<entry>& entries,
                 std::size_t batch) {
  auto made = store::create(file);
  REQUIRE(made);
  for (std::size_t i = 0; i < entries.size(); i += batch) {
    const auto appended =
        made->append(std::span(entries).subspan(i, std::min(batch, entries.size() - i)));
    INFO((appended ? "" : appended.error().message));
    REQUIRE(appended);
  }
}

contents read_all(const store& s) {
  contents all;
  const auto read = s.for_each(
      [&](std::uint64_t sequence, std::int64_t, const record& r) -> expected<void> {
        if (sequence != all.records.size() + 1)
          return fail(error_kind::internal, "out of order");
        all.records.push_back(encode(r));
        return {};
      });
  if (!read)
    all.failure = read.error();
  return all;
}

std::vector<bytes> encoded(const std::vector<entry>& entries) {
  std::vector<bytes> all;
  for (const auto& e : entries)
    all.push_back(encode(e.record));
  return all;
}

std::string query(const std::filesystem::path& file, const std::string& sql) {
  SQLite::Database db(file.string(), SQLite::OPEN_READONLY);
  SQLite::Statement rows(db, sql);
  std::string text;
  while (rows.executeStep()) {
    for (int i = 0; i < rows.getColumnCount(); ++i)
      text += (i == 0 ? "" : "|") + rows.getColumn(i).getString();
    text += "\n";
  }
  return text;
}

void execute(const std::filesystem::path& file, const std::string& sql) {
  SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
  db.exec(sql);
}

} // namespace clade::test
