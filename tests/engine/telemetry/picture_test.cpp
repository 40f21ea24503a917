#include "engine/telemetry/picture.hpp"
#include "engine/telemetry/stored_picture.hpp"
#include "engine/telemetry/wire.hpp"
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

struct variety {
  const char *strategy, *tell_order;
};
constexpr variety varieties[] = {{"generational", "asked"},
                                 {"regularised", "asked"},
                                 {"regularised", "arrived"},
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
      CHECK(p.state == "finished");
      CHECK(p.training_seconds == state.training_seconds);
      CHECK(p.digest == state.digest);
      REQUIRE(p.best.size() == state.best.size());
      for (std::size_t i = 0; i < p.best.size(); ++i)
        CHECK(p.best[i].id == state.best[i].id);
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

TEST_CASE("picture: along the front both parameters and fitness rise, and none is left") {
  const auto run = test::watched_run("generational", 3);
  const auto p = picture_of(run.records);
  REQUIRE(!p.front.empty());
  for (std::size_t i = 1; i < p.front.size(); ++i) {
    CHECK(p.front[i - 1].parameters <= p.front[i].parameters);
    CHECK(*p.front[i - 1].fitness <= *p.front[i].fitness);
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

TEST_CASE("stored picture: it is the same from any kept one, and without a good one") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  const auto run = test::watched_run("generational", 4);
  auto s = store::create(file);
  REQUIRE(s);
  REQUIRE(s->append(test::entries_of(run.records)));
  const auto kept = picture_file(file);
  const auto whole = read_picture(*s, kept);
  REQUIRE(whole);
  CHECK(whole->sequence == run.records.size());
  const auto identity = *s->identity();
  run_picture part;
  for (std::size_t i = 0; i < run.records.size() / 2; ++i)
    REQUIRE(apply(part, whole->unix_ms, run.records[i]));
  REQUIRE(keep_picture(part, identity, kept));
  CHECK(encoded(*read_picture(*s, kept)) == encoded(*whole));
  auto foreign = part;
  foreign.born = 12345;
  REQUIRE(keep_picture(foreign, identity + 1, kept));
  CHECK(encoded(*read_picture(*s, kept)) == encoded(*whole));
  REQUIRE(keep_picture(part, identity, kept));
  const auto good = read_text(kept);
  for (std::size_t i = 0; i < good.size(); i += 7) {
    auto flipped = good;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    write_text(kept, flipped);
    REQUIRE(encoded(*read_picture(*s, kept)) == encoded(*whole));
  }
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
    CHECK(p.generations[i].hypervolume >= p.generations[i - 1].hypervolume);
  CHECK(p.generations.back().front == p.front.size());
  CHECK(p.generations.back().hypervolume > 0);
  const auto sent = encode_snapshot("x", p);
  const auto read = decode_snapshot(sent);
  REQUIRE(read);
  CHECK(encoded(read->picture) == encoded(p));
  CHECK(read->picture.box == p.box);
}
