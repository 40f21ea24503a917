#include "engine/report/view/decision_diff.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace clade;
using namespace clade::test;

namespace {

using settings = std::map<std::string, std::string>;

candidate_records records_of(const candidate& c, const std::optional<evaluation>& e) {
  return {.id = c.id,
          .generation = c.generation,
          .born = encode(record(candidate_born{c})),
          .evaluated = e ? encode(record(candidate_evaluated{*e})) : bytes()};
}

/// Three candidates as one run has them.
std::vector<candidate_records> three() {
  std::vector<candidate_records> all;
  for (candidate_id id = 1; id <= 3; ++id)
    all.push_back(records_of(a_candidate(id), an_evaluation(id, 0.5)));
  return all;
}

/// Stores of runs, in a folder.
struct runs {
  scratch_folder folder;
  std::vector<opened_run> opened;

  void add(const std::vector<entry>& entries) {
    const auto file = folder.path() / ("run" + std::to_string(opened.size()) + ".db");
    write_store(file, entries);
    opened.push_back({.s = store::open_to_read(file).value(), .file = file});
  }

  [[nodiscard]] run_diff diff() const {
    const std::span all(opened);
    return diff_runs(all.first(opened.size() / 2), all.subspan(opened.size() / 2))
        .value();
  }
};

std::vector<entry> a_history_of(std::uint64_t seed, double best) {
  auto entries = a_history();
  std::get<run_started>(entries.front().record).seed = seed;
  std::get<candidate_evaluated>(entries[16].record).evaluated.metrics[0].value = best;
  return entries;
}

} // namespace

TEST_CASE("diff: settings that differ key by key") {
  const std::vector<settings> a{{{"population", "48"}, {"seed", "1"}, {"only_a", "x"}},
                                {{"population", "48"}, {"seed", "2"}, {"only_a", "x"}}};
  const std::vector<settings> b{{{"population", "24"}, {"seed", "1"}},
                                {{"population", "24"}, {"seed", "2"}}};
  const auto d = diff_settings(a, b);
  REQUIRE(d.size() == 2);
  CHECK(d[0].key == "only_a");
  CHECK(d[0].b == std::vector<std::string>{"-"});
  CHECK(d[1].key == "population");
  CHECK(d[1].a == std::vector<std::string>{"48"});
  CHECK(diff_settings(a, a).empty());
}

TEST_CASE("diff: what was observed is no difference") {
  auto other = three();
  auto e = an_evaluation(2, 0.5);
  e.seconds = 99;
  e.slot = "elsewhere";
  e.tries = 3;
  other[1] = records_of(a_candidate(2), e);
  const auto d = diff_candidates(three(), other).value();
  CHECK_FALSE(d.first.has_value());
  CHECK(d.equal == 3);
}

TEST_CASE("diff: the first candidate that differs with both sides") {
  auto other = three();
  other[1] = records_of(a_candidate(2), an_evaluation(2, 0.75));
  auto later = a_candidate(3);
  later.changes = {{.after = "something else"}};
  other[2] = records_of(later, std::nullopt);
  const auto d = diff_candidates(three(), other).value();
  REQUIRE(d.first);
  CHECK(d.first->what == "the evaluation of #2");
  CHECK_THAT(d.first->a, Catch::Contains("validation.accuracy=0.5 "));
  CHECK_THAT(d.first->b, Catch::Contains("validation.accuracy=0.75 "));
  CHECK(d.equal == 1);
}

TEST_CASE("diff: a candidate that one side has not evaluated yet is no difference") {
  auto other = three();
  other[2].evaluated.clear();
  CHECK_FALSE(diff_candidates(three(), other)->first.has_value());
  other.pop_back();
  CHECK(diff_candidates(three(), other)->equal == 2);
}

TEST_CASE("diff: bytes that are no record are an error") {
  auto other = three();
  other[0].born = "junk";
  CHECK_FALSE(diff_candidates(three(), other));
}

TEST_CASE("diff: the order in which evaluations arrived leaves no trace") {
  auto shuffled = a_history();
  std::swap(shuffled[6], shuffled[8]);
  runs two;
  two.add(a_history());
  two.add(shuffled);
  const auto d = two.diff();
  CHECK(d.a[0].run.digest == d.b[0].run.digest);
  CHECK_FALSE(d.pairs[0].first.has_value());
  CHECK_THAT(to_text(d), Catch::Contains("all decisions are equal"));
}

TEST_CASE("diff: a run that stopped earlier is equal as far as it went") {
  auto part = a_history();
  part.resize(8);
  runs two;
  two.add(a_history());
  two.add(part);
  const auto d = two.diff();
  CHECK_FALSE(d.pairs[0].first.has_value());
  CHECK(d.pairs[0].same_start);
  CHECK_THAT(to_text(d), Catch::Contains("all decisions that both recorded are equal; A "
                                         "went on further\n"));
}

TEST_CASE("diff: survivors and the end are compared too") {
  auto other = a_history();
  std::get<generation_closed>(other[9].record).survivors = {1, 2, 3};
  runs two;
  two.add(a_history());
  two.add(other);
  CHECK(two.diff().pairs[0].first->what == "the survivors of generation 0");

  auto end = a_history();
  std::get<run_finished>(end.back().record).examinations[2].metrics[0].value = 0.5;
  runs others;
  others.add(a_history());
  others.add(end);
  const auto text = to_text(others.diff());
  CHECK_THAT(text, Catch::Contains("first difference: the end"));
  CHECK_THAT(text, Catch::Contains("A  linear model: test.accuracy=0.625\n"));
  CHECK_THAT(text, Catch::Contains("B  linear model: test.accuracy=0.5\n"));
}

TEST_CASE("diff: several runs on each side are paired by seed") {
  runs six;
  for (const auto& [seed, best] :
       {std::pair(1, 0.9), std::pair(2, 0.8), std::pair(3, 0.9), std::pair(3, 0.7),
        std::pair(4, 0.9), std::pair(1, 0.8)})
    six.add(a_history_of(static_cast<std::uint64_t>(seed), best));
  const auto d = six.diff();
  REQUIRE(d.pairs.size() == 2);
  CHECK(d.pairs[0].a == 0);
  CHECK(d.pairs[0].b == 2);
  CHECK(d.unpaired == std::vector<std::uint64_t>{2, 4});
  REQUIRE(d.efforts.size() == 3);
  CHECK(d.efforts[0].marks.back().effort == 6);
  CHECK(d.efforts[0].signs->first == 2);
  CHECK_THAT(to_text(d), Catch::Contains("after 6 evaluations: A better 2, B better 0, "
                                         "equal 0; p = 0.5000, n = 2"));
  const auto json = nlohmann::json::parse(to_json(d));
  CHECK(json["best"][0]["sign_test"]["p"] == 0.5);
  CHECK(json["best"][0]["marks"].back()["a"][1] == 0.8);
  CHECK(json["pairs"][0]["first_difference"]["what"] == "the evaluation of #5");
}

TEST_CASE("diff: a seed twice on one side is refused") {
  runs three_runs;
  for (const double best : {0.9, 0.8, 0.7})
    three_runs.add(a_history_of(1, best));
  const std::span all(three_runs.opened);
  const auto d = diff_runs(all.first(1), all.subspan(1));
  REQUIRE_FALSE(d);
  CHECK(d.error().kind == error_kind::invalid_input);
}

TEST_CASE("diff: a run without a success is worse than any with one") {
  const std::vector<run_pair> pairs{{.a = 0, .b = 0}, {.a = 1, .b = 1}, {.a = 2, .b = 2}};
  const effort_mark mark{.effort = 1,
                         .a = {0.5, std::nullopt, std::nullopt},
                         .b = {std::nullopt, std::nullopt, 0.9}};
  const auto signs = count_signs(mark, pairs, false);
  CHECK(signs.first == 1);
  CHECK(signs.second == 1);
  CHECK(signs.equal == 1);
}
