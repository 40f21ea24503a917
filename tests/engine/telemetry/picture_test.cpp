#include "engine/telemetry/picture/picture.hpp"
#include "engine/telemetry/picture/stored_picture.hpp"
#include "engine/telemetry/picture/wire.hpp"
#include "tests/engine/telemetry/watched_run.hpp"
#include "tests/support/scratch.hpp"

#include <algorithm>

using namespace clade;

namespace {

run_picture picture_of(const std::vector<record>& records) {
  run_picture p;
  for (std::size_t i = 0; i < records.size(); ++i)
    REQUIRE(apply(p, static_cast<std::int64_t>(i), records[i]));
  return p;
}

bytes encoded(const run_picture& p) {
  encoder out;
  encode(out, p);
  return out.take();
}

void check_best(const run_picture& p, const run_state& state) {
  REQUIRE(p.best.size() == state.best.size());
  for (std::size_t i = 0; i < p.best.size(); ++i)
    CHECK(p.best[i].id == state.best[i].id);
}

struct variety {
  const char *strategy, *tell_order;
};
constexpr variety varieties[] = {{"generational", "asked"},
                                 {"regularized", "asked"},
                                 {"regularized", "arrived"},
                                 {"random", "asked"}};

} // namespace

TEST_CASE("picture: it counts and ranks as the engine's fold does") {
  for (const auto& v : varieties)
    for (std::uint64_t order = 1; order <= 5; ++order) {
      INFO(v.strategy << " " << v.tell_order << " " << order);
      const auto run = test::watched_run(v.strategy, order, v.tell_order);
      const auto p = picture_of(run.records);
      const auto& state = run.state;
      CHECK(p.sequence == run.records.size());
      CHECK(p.born == state.born);
      CHECK(p.evaluated == state.evaluated);
      CHECK(p.failed == state.failed);
      CHECK(p.failed > 0);
      CHECK(p.open.empty());
      CHECK(p.state == picture_state::finished);
      CHECK(p.training_seconds == state.training_seconds);
      CHECK(p.digest == state.digest);
      check_best(p, state);
      REQUIRE(p.generations.size() == state.generations.size());
      for (std::size_t i = 0; i < p.generations.size(); ++i) {
        const auto& shown = p.generations[i].summary;
        const auto& folded = state.generations[i];
        CHECK(shown.generation == folded.generation);
        CHECK(shown.best == folded.best);
        CHECK(shown.median_fitness == folded.median_fitness);
        CHECK(shown.lower_quartile == folded.lower_quartile);
        CHECK(shown.failed == folded.failed);
      }
    }
}

TEST_CASE(
    "picture: a network that is trained on is among the best once, as in the state") {
  std::size_t trained_on = 0;
  for (std::uint64_t order = 1; order <= 5; ++order) {
    const auto run = test::watched_run("asha", order, "asked",
                                       {"synthetic.epochs=2", "evolution.rungs=[1, 2]"});
    std::map<candidate_id, std::shared_ptr<const genome>> genomes;
    std::vector<std::shared_ptr<const genome>> succeeded;
    for (const auto& r : run.records)
      if (const auto* b = std::get_if<candidate_born>(&r))
        genomes[b->born.id] = b->born.genome;
      else if (const auto* e = std::get_if<candidate_evaluated>(&r);
               e != nullptr && e->evaluated.outcome == outcome::succeeded
               && e->evaluated.equal_to == 0) {
        const auto& g = genomes.at(e->evaluated.id);
        trained_on += static_cast<std::size_t>(std::ranges::any_of(
            succeeded, [&](const auto& other) { return *other == *g; }));
        succeeded.push_back(g);
      }
    check_best(picture_of(run.records), run.state);
  }
  CHECK(trained_on > 0);
}

TEST_CASE("picture: folds that are judged apart are none of the best, as in the state") {
  run_picture p;
  REQUIRE(apply(p, 1, final_planned{.trainings = {}, .folds_apart = true}));
  REQUIRE(
      apply(p, 2,
            candidate_born{
                {.id = 1, .genome = std::make_shared<const genome>(), .fold = {0, 2}}}));
  REQUIRE(apply(
      p, 3, candidate_evaluated{{.id = 1, .metrics = {{"validation.accuracy", 0.5}}}}));
  CHECK(p.evaluated == 1);
  CHECK(p.best.empty());
}

TEST_CASE("picture: what was put together last is there, the final model in the end") {
  run_picture p;
  CHECK_FALSE(p.composed);
  REQUIRE(apply(p, 1, interim_composed{{.members = {{1, 1}}}}));
  REQUIRE(apply(p, 2, interim_composed{{.members = {{2, 1}}}}));
  REQUIRE(p.composed);
  CHECK(p.composed->members.front().id == 2);
  CHECK(p.composed_interim);
  const auto data = encoded(p);
  decoder in(data);
  const auto again = decode_picture(in);
  REQUIRE(in.finish());
  CHECK(again.composed->members == p.composed->members);
  CHECK(again.composed_interim);
  REQUIRE(apply(p, 3, model_composed{.members = {{3, 1}}}));
  CHECK(p.composed->members.front().id == 3);
  CHECK_FALSE(p.composed_interim);
}

TEST_CASE("picture: along the front both parameters and fitness rise, and none is left") {
  const auto run = test::watched_run("generational", 3);
  const auto p = picture_of(run.records);
  REQUIRE(!p.front.empty());
  for (std::size_t i = 1; i < p.front.size(); ++i) {
    CHECK(p.front[i - 1].parameters < p.front[i].parameters);
    CHECK(*p.front[i - 1].fitness < *p.front[i].fitness);
  }
  for (const auto& r : run.records)
    if (const auto* e = std::get_if<candidate_evaluated>(&r)) {
      const auto f = fitness_of(e->evaluated, p.rules.objective);
      if (!f.ok)
        continue;
      CHECK(std::ranges::any_of(p.front, [&](const candidate_line& l) {
        return l.parameters <= e->evaluated.parameters && *l.fitness >= f.primary;
      }));
    }
}

TEST_CASE("picture: what is sent of it at any record is what it was") {
  const auto run = test::watched_run("generational", 2);
  run_picture p;
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    REQUIRE(apply(p, 1000 + static_cast<std::int64_t>(i), run.records[i]));
    const auto sent = encode_snapshot("x", p);
    auto read = decode_snapshot(sent);
    REQUIRE(read);
    CHECK(read->name == "x");
    CHECK(encoded(read->picture) == encoded(p));
    CHECK(read->picture.rules.evolution.population == 8);
  }
}

TEST_CASE("picture: each state is sent by its text, and another one is refused") {
  for (const auto* text : {"created", "running", "held", "paused", "finished"}) {
    run_picture p;
    p.state = parse_picture_state(text).value();
    auto sent = encode_snapshot("x", p);
    const std::string_view bytes_sent(sent.data(), sent.size());
    const auto at = bytes_sent.find(text, bytes_sent.find("state"));
    REQUIRE(at != bytes_sent.npos);
    CHECK(decode_snapshot(sent).value().picture.state == p.state);
    sent[at] = 'X';
    CHECK_FALSE(decode_snapshot(sent));
  }
  CHECK_FALSE(parse_picture_state(""));
}

TEST_CASE("picture: what people write is in it, and does not move its time") {
  const auto run = test::watched_run("generational", 2);
  auto p = picture_of(run.records);
  const auto ended = p.unix_ms;
  REQUIRE(
      apply(p, ended + 1000,
            operator_command{{.kind = instruction_kind::note, .number = 2, .text = "odd"},
                             "ada"}));
  REQUIRE(apply(p, ended + 2000,
                operator_command{
                    {.kind = instruction_kind::tag, .number = 0, .text = "old"}, "bob"}));
  CHECK(p.unix_ms == ended);
  CHECK(p.state == picture_state::finished);
  CHECK(p.annotated.at(2)
        == annotation{.note = "odd", .who = "ada", .unix_ms = ended + 1000});
  const auto read = decode_snapshot(encode_snapshot("x", p));
  REQUIRE(read);
  CHECK(read->picture.annotated == p.annotated);
}

TEST_CASE("picture: an evaluation of a candidate that is not open does not fit") {
  run_picture p;
  CHECK_FALSE(apply(p, 0, candidate_evaluated{evaluation{.id = 3}}));
  CHECK(p.sequence == 0);
}

TEST_CASE("picture: slots come and go") {
  run_picture p;
  REQUIRE(apply(p, 1, slot_changed{.slot = "a", .joined = true, .reason = ""}));
  REQUIRE(apply(p, 2, slot_changed{.slot = "a", .joined = false, .reason = "killed"}));
  REQUIRE(apply(p, 3, slot_changed{.slot = "a", .joined = true, .reason = ""}));
  REQUIRE(p.slots.size() == 2);
  CHECK(p.slots[0].left_ms == 2);
  CHECK(p.slots[0].reason == "killed");
  CHECK_FALSE(p.slots[1].left_ms);
  REQUIRE(apply(p, 4, run_resumed{.version = "0"}));
  CHECK(p.slots[1].left_ms == 4);
  for (int i = 0; i < 200; ++i) {
    REQUIRE(apply(p, i, slot_changed{.slot = "b", .joined = true, .reason = ""}));
    REQUIRE(apply(p, i, slot_changed{.slot = "b", .joined = false, .reason = ""}));
  }
  CHECK(p.slots.size() == run_picture::kept_gone);
}

namespace {

/// A store of a run, in one transaction.
struct stored_run {
  scratch_folder folder;
  simulated run = test::watched_run("generational", 4);
  store s = *store::create(folder.path() / "run.db");
  bytes whole;

  stored_run() {
    REQUIRE(s.append(test::entries_of(run.records)));
    whole = encoded(*fold_records(s));
  }

  /// Returns the picture as it was after so many records.
  [[nodiscard]] kept_picture after(std::size_t count) const {
    run_picture p;
    const auto unix_ms = fold_records(s)->unix_ms;
    for (std::size_t i = 0; i < count; ++i)
      REQUIRE(apply(p, unix_ms, run.records[i]));
    return to_keep(p);
  }

  /// Returns the bytes that are read where that is kept.
  bytes read_from(kept_picture p) {
    s.keep_picture(std::move(p));
    REQUIRE(s.write_picture());
    return encoded(*read_picture(s));
  }
};

} // namespace

TEST_CASE("stored picture: it is the same from one kept after any record") {
  stored_run r;
  CHECK(encoded(*read_picture(r.s)) == r.whole);
  for (std::size_t i = 1; i <= r.run.records.size(); i += 5) {
    REQUIRE(r.read_from(r.after(i)) == r.whole);
    REQUIRE(r.s.find_picture()->value().sequence == i);
  }
}

TEST_CASE("stored picture: what fits is not folded anew") {
  stored_run r;
  auto told = *fold_records(r.s);
  told.born = 12345;
  CHECK(r.read_from(to_keep(told)) == encoded(told));
}

TEST_CASE("stored picture: what cannot be read or is of other records is passed over") {
  stored_run r;
  const auto good = r.after(r.run.records.size() / 2);
  auto no_record = good, longer = good, other_format = good;
  no_record.sequence = r.run.records.size() + 1;
  longer.data.push_back('\0');
  other_format.data[1] = static_cast<char>(other_format.data[1] + 1);
  CHECK(r.read_from({.sequence = good.sequence, .data = {}}) == r.whole);
  CHECK(r.read_from({.sequence = good.sequence + 1, .data = good.data}) == r.whole);
  CHECK(r.read_from(no_record) == r.whole);
  CHECK(r.read_from(longer) == r.whole);
  CHECK(r.read_from(other_format) == r.whole);
  for (std::size_t i = 0; i < good.data.size(); i += 7)
    REQUIRE(r.read_from({.sequence = good.sequence, .data = good.data.substr(0, i)})
            == r.whole);
}

TEST_CASE("picture: of several objectives the front is what none dominates") {
  const auto run =
      test::watched_run("nsga2", 4, "asked",
                        {"objective.maximize=[\"validation.accuracy\"]",
                         "objective.minimize=[\"parameters\", \"multiply_adds\"]",
                         "objective.at_most.parameters=2000"});
  const auto p = picture_of(run.records);
  REQUIRE(p.rules.objective.others.size() == 2);
  REQUIRE(p.front.size() > 1);
  for (const auto& a : p.front)
    for (const auto& b : p.front)
      CHECK_FALSE(dominates(a.rank, b.rank));
  for (const auto& r : run.records)
    if (const auto* e = std::get_if<candidate_evaluated>(&r)) {
      const auto f = fitness_of(e->evaluated, p.rules.objective);
      if (f.ok && f.violation == 0)
        CHECK(std::ranges::any_of(p.front, [&](const candidate_line& l) {
          return l.rank.objectives == f.objectives || dominates(l.rank, f);
        }));
    }
  // Nothing that is found is lost again.
  for (std::size_t i = 1; i < p.generations.size(); ++i)
    CHECK(p.generations[i].summary.front.hypervolume
          >= p.generations[i - 1].summary.front.hypervolume);
  CHECK(p.generations.back().summary.front.members == p.front.size());
  CHECK(p.generations.back().summary.front.hypervolume > 0);
  const auto sent = encode_snapshot("x", p);
  const auto read = decode_snapshot(sent);
  REQUIRE(read);
  CHECK(encoded(read->picture) == encoded(p));
  CHECK(read->picture.box == p.box);
}
