#include "engine/report/view/front_view.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace clade::test;

namespace {

struct told {
  candidate_id id = 0;
  double accuracy = 0;
  std::uint64_t parameters = 0;
};

/// The front after these, three to a generation.
std::optional<front_view> front_of(const objective& goal, const std::vector<told>& all) {
  const scratch_folder folder;
  auto s = store::create(folder.path() / "run.db", goal).value();
  for (const auto& one : all) {
    auto c = a_candidate(one.id);
    c.generation = (one.id - 1) / 3;
    auto e = an_evaluation(one.id, one.accuracy);
    e.parameters = one.parameters;
    for (const auto& entry : {born(c), evaluated(e)})
      REQUIRE(s.append({&entry, 1}));
  }
  return view_front(s).value();
}

const objective small{.others = {{"parameters", false}}};

} // namespace

TEST_CASE("front view: none where there is one objective") {
  CHECK_FALSE(front_of({}, {{1, 0.5, 10}}).has_value());
}

TEST_CASE("front view: it has what none dominates, and says how it grew") {
  const auto v = front_of(small, {{1, 0.5, 100},
                                  {2, 0.7, 300},
                                  {3, 0.6, 400},
                                  {4, 0.7, 200},
                                  {5, 0.4, 500},
                                  {6, 0.9, 1'000}});
  REQUIRE(v.has_value());
  CHECK(front_rows(*v)
        == std::vector<std::vector<std::string>>{
            {"id", "generation", "validation.accuracy", "parameters"},
            {"#6", "1", "0.9000", "1,000"},
            {"#4", "1", "0.7000", "200"},
            {"#1", "0", "0.5000", "100"}});
  // From 0.5 and 400, in units of 0.2 and 300: #2 has 1 x 1/3; #4 has 1 x 2/3.
  REQUIRE(v->steps.size() == 2);
  CHECK(v->steps[0].front.members == 2);
  CHECK(v->steps[0].front.hypervolume == Approx(1.0 / 3));
  CHECK(v->steps[1].front.members == 3);
  CHECK(v->steps[1].front.hypervolume == Approx(2.0 / 3));
  CHECK(
      front_words(*v)
      == "3 networks are on the front of validation.accuracy raised, parameters "
         "lowered; hypervolume 0.6667 (1 is the best of the first generation in each at "
         "once)");
  CHECK(step_rows(*v, 1).size() == 2);
  CHECK(step_rows(*v, 1)[1][0] == "1");
}

TEST_CASE("front view: the infeasible are not on it") {
  auto held = small;
  held.constraints = {{.metric = "parameters", .limit = 50}};
  const auto none = front_of(held, {{1, 0.5, 100}, {2, 0.7, 300}});
  REQUIRE(none.has_value());
  CHECK(none->members.empty());
  CHECK(none->steps[0].front.hypervolume == 0);
  CHECK(to_text(*none).starts_with("no network is on the front of "));
}
