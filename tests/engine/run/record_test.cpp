#include "engine/run/records/record.hpp"
#include "tests/engine/search/toy_world.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

using namespace clade;

namespace {

evaluation a_full_evaluation() {
  evaluation e;
  e.id = 7;
  e.outcome = outcome::out_of_memory;
  e.metrics = {{"validation.accuracy", 0.25}, {"validation.loss", 1e300}};
  e.parameters = 1ULL << 40;
  e.weights_hash = ~0ULL;
  e.equal_to = 3;
  e.reason = "no memory left";
  e.curve = {{1, {{"train.loss", 2.5}}, 0.5}, {2, {}, 0.25}};
  e.seconds = 0.75;
  e.slot = "node1/cpu:0";
  e.tries = 2;
  e.branches = {{"n3f2a1", "size_5", 0.25}, {"n3f2a1", "size_7", 0}};
  return e;
}

candidate a_full_candidate() {
  auto c = a_candidate(12, 34);
  c.generation = 2;
  c.index = 3;
  c.attempt = 1;
  c.network = {.high = ~0ULL, .low = 5};
  c.parents = {3, 1};
  c.changes = {{.kind = change_kind::crossed},
               {.kind = change_kind::widen,
                .gene = "n3f2a1",
                .name = "units",
                .before = "16",
                .after = "32"}};
  c.work = 1.5e9;
  c.equal_to = 2;
  return c;
}

std::vector<record> one_of_each() {
  return {
      run_started{"0.1.0", "[experiment]\nname = \"x\"", 1, {2, 3}},
      candidate_born{a_full_candidate()},
      candidate_evaluated{a_full_evaluation()},
      generation_closed{4, {9, 2, 5}},
      run_finished{
          9, {{"champion", 9, {{"test.accuracy", 0.5}}, 77}, {"linear model", 0, {}, 1}}},
      run_paused{"interrupted"},
      run_resumed{"0.1.1"},
      attempt_failed{7, 1, "node1/cpu:0", "killed by signal 9"},
      slot_changed{"node1/cpu:0", false, "connection lost"},
      run_forked{"x-20260131-140500",
                 ~0ULL,
                 23,
                 4,
                 {"experiment.seed=9", "evolution.population=8"},
                 "[experiment]\nname = \"y\"",
                 9,
                 {4, 5}},
      operator_command{{instruction_kind::slots, 0, "cpu:4"}, "ada"},
      final_planned{"its share of the time is used", 9000, {{3, 40, {1, 5}}}},
      model_composed{
          {{0, 0.25}, {12, 0.75}}, 1.5, {{"validation.loss", 0.5}}, {"#3: damaged"}},
      straggler_seen{7, "node1/cpu:0", 12'000, 60'000, 40, 90},
      interim_composed{{{{0, 0.25}, {12, 0.75}}, 1.5, {{"validation.loss", 0.5}}}}};
}

record changed(const record& r, const std::function<void(evaluation&)>& change) {
  auto e = std::get<candidate_evaluated>(r);
  change(e.evaluated);
  return e;
}

record changed(const record& r, const std::function<void(candidate&)>& change) {
  auto b = std::get<candidate_born>(r);
  change(b.born);
  return b;
}

} // namespace

TEST_CASE("record: every kind is decoded to what was encoded") {
  const auto records = one_of_each();
  REQUIRE(records.size() == std::variant_size_v<record>);
  for (std::size_t kind = 0; kind < records.size(); ++kind) {
    const auto& r = records[kind];
    INFO(to_text(r));
    CHECK(r.index() == kind);
    const auto decoded = decode_record(encode(r));
    REQUIRE(decoded);
    CHECK(decoded->index() == kind);
    CHECK(encode(*decoded) == encode(r));
    CHECK(to_text(*decoded) == to_text(r));
  }
}

TEST_CASE("record: a candidate and an evaluation keep every field") {
  const auto r = decode_record(encode(candidate_born{a_full_candidate()}));
  REQUIRE(r);
  const auto& c = std::get<candidate_born>(*r).born;
  const auto expected = a_full_candidate();
  CHECK(c.id == 12);
  CHECK(c.generation == 2);
  CHECK(c.index == 3);
  CHECK(c.attempt == 1);
  CHECK(*c.genome == *expected.genome);
  CHECK(c.network == expected.network);
  CHECK(c.parents == expected.parents);
  CHECK(c.changes == expected.changes);
  CHECK(c.work == expected.work);
  CHECK(c.equal_to == 2);
  const auto s = decode_record(encode(candidate_evaluated{a_full_evaluation()}));
  REQUIRE(s);
  const auto& e = std::get<candidate_evaluated>(*s).evaluated;
  const auto original = a_full_evaluation();
  CHECK(to_text(e) == to_text(original));
  CHECK(e.metrics == original.metrics);
  CHECK(e.parameters == original.parameters);
  CHECK(e.weights_hash == original.weights_hash);
  CHECK(e.curve == original.curve);
  CHECK(e.seconds == original.seconds);
  CHECK(e.slot == original.slot);
  CHECK(e.tries == original.tries);
  CHECK(e.branches == original.branches);
  CHECK_FALSE(e.updates);
}

TEST_CASE("record: an importance that is no number of 0 or more is refused") {
  for (const double wrong :
       {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    auto e = a_full_evaluation();
    e.branches->front().importance = wrong;
    const auto r = decode_record(encode(candidate_evaluated{e}));
    REQUIRE_FALSE(r);
    INFO(r.error().message);
    CHECK((r.error().message.find("importance") != std::string::npos
           || r.error().message.find("finite") != std::string::npos));
  }
}

TEST_CASE(
    "record: a candidate of an earlier version has the changes that its origin tells") {
  auto c = a_full_candidate();
  const auto written = [&](std::size_t fields, const std::string& origin) {
    encoder out;
    out.array(2).natural(2).array(fields);
    out.natural(c.id).natural(c.generation).natural(c.index).natural(c.attempt);
    out.encode(*c.genome).array(2).natural(c.network.high).natural(c.network.low);
    out.array(0).text(origin).real(c.work).natural(0);
    if (fields >= 12)
      out.natural(9).natural(3);
    if (fields == 13)
      for (int i = 0; i < 2; ++i)
        out.array(i == 0 ? 2 : 1).array(3).nil().nil().nil();
    return out;
  };
  const auto text = to_text(c.changes);
  for (const std::size_t fields : {10, 12, 13}) {
    INFO(fields);
    const record r = decode_record(written(fields, text).take()).value();
    CHECK(std::get<candidate_born>(r).born.changes == c.changes);
    // A record that is written of it today decides the same and reads the same.
    const record again = decode_record(encode(r)).value();
    CHECK(std::get<candidate_born>(again).born.changes == c.changes);
    CHECK(decisive_bytes(again) == decisive_bytes(r));
  }
  // Who falsifies the origin is believed, so that verification finds it.
  const auto with_change_of = [&](std::uint64_t kind) {
    auto out = written(14, "guessed");
    out.nil().array(1).array(5).natural(kind).text("").text("").text("").text("");
    return decode_record(out.take());
  };
  const record r = with_change_of(32).value();
  CHECK(to_text(std::get<candidate_born>(r).born.changes) == "guessed");
  for (const std::uint64_t kind : {11, 31, 40, 1000}) {
    const auto unknown = with_change_of(kind);
    REQUIRE_FALSE(unknown);
    CHECK_THAT(unknown.error().message,
               Catch::Contains("unknown kind of change " + std::to_string(kind)));
  }
}

TEST_CASE("record: where and how far a candidate is trained is kept and decides") {
  candidate_born usual{a_candidate(7, 5)}, further = usual;
  further.born.epochs = 9;
  further.born.start = 3;
  const auto back = decode_record(encode(further));
  REQUIRE(back.has_value());
  const auto& born = std::get<candidate_born>(*back).born;
  CHECK(born.epochs == 9);
  CHECK(born.start == 3);
  CHECK(decisive_bytes(further) != decisive_bytes(usual));
  CHECK(to_text(further.born)
        == "#7 generation 0: random, from the weights of #3, to epoch 9");
  CHECK(training_of(usual.born) == usual.born.network);
  std::set<genome_hash> all{training_of(usual.born), training_of(further.born)};
  further.born.epochs = 8;
  all.insert(training_of(further.born));
  further.born.start = 4;
  all.insert(training_of(further.born));
  CHECK(all.size() == 4);
}

TEST_CASE("record: a text for each kind") {
  std::vector<std::string> lines;
  for (const auto& r : one_of_each())
    lines.push_back(to_text(r));
  CHECK(lines
        == std::vector<std::string>{
            "started with seed 1 by version 0.1.0",
            "born #12 generation 2 from #3 #1: crossed; widen n3f2a1 units 16 -> 32 "
            "(equal to #2)",
            "evaluated #7: out of memory, validation.accuracy=0.25 "
            "validation.loss=1e+300, copied "
            "from #3, no memory left",
            "closed generation 4: #9 #2 #5",
            "finished: champion #9",
            "paused: interrupted",
            "resumed by version 0.1.1",
            "attempt 1 of #7 failed on node1/cpu:0: killed by signal 9",
            "slot node1/cpu:0 left: connection lost",
            "forked from x-20260131-140500 at generation 4: experiment.seed=9, "
            "evolution.population=8",
            "ada ordered: slots cpu:4",
            "the search is over, its share of the time is used: 1 trainings to the end",
            "the final model: 0.25 of the linear model 0.75 of #12; without #3: damaged",
            "slot node1/cpu:0 was slow in #7: the others waited for it for 12000 of "
            "60000 ms: 40 of its 90 gradients were left out",
            "the model so far: 0.25 of the linear model 0.75 of #12",
        });
}

TEST_CASE("record: bytes cut short or with more behind them are errors") {
  for (const auto& r : one_of_each()) {
    INFO(to_text(r));
    const auto whole = encode(r);
    for (std::size_t n = 0; n < whole.size(); ++n)
      REQUIRE_FALSE(decode_record({whole.data(), n}));
    REQUIRE_FALSE(decode_record(whole + '\0'));
  }
}

TEST_CASE("record: unknown kinds and outcomes and wrong sizes are errors that say so") {
  const auto message = [](bytes b) {
    const auto decoded = decode_record(b);
    REQUIRE_FALSE(decoded);
    return decoded.error().message;
  };
  CHECK_THAT(message(encoder().array(2).natural(77).nil().take()),
             Catch::Contains("unknown record kind 77"));
  CHECK_THAT(message(encoder().array(2).natural(0).nil().take()),
             Catch::Contains("unknown record kind 0"));
  CHECK_THAT(message(encoder().array(3).natural(6).text("a").text("b").take()),
             Catch::Contains("kind 6 with 3 fields instead of 2"));
  auto e = a_full_evaluation();
  e.outcome = static_cast<outcome>(7);
  CHECK_THAT(message(encode(candidate_evaluated{e})),
             Catch::Contains("unknown outcome 7"));
  CHECK_THAT(message(encoder()
                         .array(5)
                         .natural(8)
                         .natural(1)
                         .natural(1ULL << 32)
                         .text("")
                         .text("")
                         .take()),
             Catch::Contains("attempt 4294967296 is out of range"));
}

TEST_CASE("record: any bytes give a record or an error") {
  REQUIRE(rc::check("random bytes", [](const std::string& data) {
    const auto decoded = decode_record(data);
    if (decoded)
      RC_ASSERT(decode_record(encode(*decoded)).has_value());
  }));
  const auto records = one_of_each();
  REQUIRE(rc::check("records with a few bytes changed", [&] {
    auto data = encode(*rc::gen::elementOf(records));
    const auto changes = *rc::gen::inRange(1, 4);
    for (int i = 0; i < changes; ++i)
      data[*rc::gen::inRange<std::size_t>(0, data.size())] = *rc::gen::arbitrary<char>();
    const auto decoded = decode_record(data);
    if (decoded)
      RC_ASSERT(decode_record(encode(*decoded)).has_value());
  }));
}

TEST_CASE("record: a slot that joins may say how it rounds") {
  const record with = slot_changed{"node1/cpu:0", true, "", 7};
  const auto read = decode_record(encode(with));
  REQUIRE(read);
  CHECK(std::get<slot_changed>(*read).rounding == 7);
  CHECK(to_text(with) == "slot node1/cpu:0 joined, rounding 7");
  CHECK(decisive_bytes(with).empty());
  const record without = slot_changed{"node1/cpu:0", true, ""};
  CHECK(encode(without).size() < encode(with).size());
  CHECK_FALSE(std::get<slot_changed>(*decode_record(encode(without))).rounding);
}

TEST_CASE("record: observations decide nothing") {
  for (const auto& r : one_of_each()) {
    INFO(to_text(r));
    const bool observation = (r.index() >= 5 && r.index() <= 8)
                             || std::holds_alternative<operator_command>(r)
                             || std::holds_alternative<straggler_seen>(r)
                             || std::holds_alternative<interim_composed>(r);
    CHECK(decisive_bytes(r).empty() == observation);
    digest d;
    d.add(r);
    CHECK((d == digest{}) == observation);
  }
  const auto records = one_of_each();
  const auto same_evaluation = changed(records[2], [](evaluation& e) {
    e.reason = "other";
    e.curve.clear();
    e.seconds = 9;
    e.slot = "elsewhere";
    e.tries = 1;
    e.branches.reset();
  });
  CHECK(decisive_bytes(same_evaluation) == decisive_bytes(records[2]));
  const auto same_birth = changed(records[1], [](candidate& c) { c.work = 0; });
  CHECK(decisive_bytes(same_birth) == decisive_bytes(records[1]));
  CHECK(decisive_bytes(run_started{"9", "other text", 1, {2, 3}})
        == decisive_bytes(records[0]));
  CHECK(decisive_bytes(run_forked{"y", 1, 2, 4, {}, "other text", 9, {4, 5}})
        == decisive_bytes(records[9]));
}

TEST_CASE("record: everything else decides") {
  const auto records = one_of_each();
  const std::vector<std::function<void(evaluation&)>> outcomes{
      [](evaluation& e) { e.id = 8; },
      [](evaluation& e) { e.outcome = outcome::crashed; },
      [](evaluation& e) { e.metrics[0].value += 1e-16; },
      [](evaluation& e) { e.metrics[0].name = "test.accuracy"; },
      [](evaluation& e) { ++e.parameters; },
      [](evaluation& e) { ++e.weights_hash; },
      [](evaluation& e) { e.equal_to = 0; }};
  for (const auto& change : outcomes)
    CHECK(decisive_bytes(changed(records[2], change)) != decisive_bytes(records[2]));
  const std::vector<std::function<void(candidate&)>> births{
      [](candidate& c) { ++c.id; },
      [](candidate& c) { ++c.generation; },
      [](candidate& c) { ++c.index; },
      [](candidate& c) { ++c.attempt; },
      [](candidate& c) { c.genome = toy_genome(35); },
      [](candidate& c) { ++c.network.high; },
      [](candidate& c) {
        c.parents = {1, 3};
      },
      [](candidate& c) { c.changes.pop_back(); }};
  for (const auto& fork : {run_forked{.generation = 5, .seed = 9, .search = {4, 5}},
                           run_forked{.generation = 4, .seed = 8, .search = {4, 5}},
                           run_forked{.generation = 4, .seed = 9, .search = {4, 6}}})
    CHECK(decisive_bytes(fork) != decisive_bytes(records[9]));
  for (const auto& change : births)
    CHECK(decisive_bytes(changed(records[1], change)) != decisive_bytes(records[1]));
}

TEST_CASE("record: the digest does not know the order but knows what there was") {
  auto records = one_of_each();
  digest forward, backward, twice;
  for (const auto& r : records)
    forward.add(r);
  std::reverse(records.begin(), records.end());
  for (const auto& r : records)
    backward.add(r);
  CHECK(forward == backward);
  CHECK(forward.records == 8);
  twice = forward;
  twice.add(records.back());
  CHECK(twice != forward);
  CHECK(to_text(digest{.high = 1, .low = 0xab, .records = 3})
        == "000000000000000100000000000000ab of 3 records");
}
