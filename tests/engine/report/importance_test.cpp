#include "engine/report/base/forest.hpp"
#include "engine/report/page/importance.hpp"
#include "engine/report/page/run_report.hpp"
#include "engine/report/text/text.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <numeric>

using namespace clade;
using namespace clade::test;

namespace {

/// Examples whose target follows the first feature, and a little the word; the third says
/// nothing.
struct examples {
  std::vector<std::vector<feature_value>> features{3};
  std::vector<double> targets;

  explicit examples(int count) {
    for (int i = 0; i < count; ++i) {
      const double x = (i * 37 % 101) / 101.0;
      const bool adam = i % 3 == 0;
      features[0].emplace_back(x);
      features[1].emplace_back(adam ? "adam" : "sgd");
      if (i % 5 == 0)
        features[2].emplace_back();
      else
        features[2].emplace_back(static_cast<double>(i % 7));
      targets.push_back(3 * x + (adam ? 0.4 : 0));
    }
  }
};

/// Accuracy rises with the id, and so does the learning rate.
std::vector<entry> a_rising_history(candidate_id candidates) {
  std::vector<entry> entries{a_history().front()};
  for (candidate_id id = 1; id <= candidates; ++id)
    entries.push_back(born(a_candidate(id)));
  for (candidate_id id = 1; id <= candidates; ++id)
    entries.push_back(evaluated(an_evaluation(id, 0.01 * static_cast<double>(id))));
  return entries;
}

expected<std::optional<importance>> measured(const std::vector<entry>& entries) {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  write_store(file, entries);
  return measure_importance(store::open_to_read(file).value());
}

} // namespace

TEST_CASE("forest: the feature that the target follows matters most") {
  const examples e(200);
  const auto found = measure_features(e.features, e.targets);
  REQUIRE(found.shares.size() == 3);
  CHECK(std::accumulate(found.shares.begin(), found.shares.end(), 0.0) == Approx(1));
  CHECK(found.shares[0] > 0.8);
  CHECK(found.shares[1] > found.shares[2]);
  CHECK(found.explained > 0.7);
  CHECK(measure_features(e.features, e.targets).shares == found.shares);
}

TEST_CASE("forest: where the target is the same for all nothing matters") {
  examples e(40);
  std::ranges::fill(e.targets, 0.5);
  const auto found = measure_features(e.features, e.targets);
  CHECK(found.shares == std::vector<double>{0, 0, 0});
  CHECK(found.explained == 0);
}

TEST_CASE("importance: it is measured where enough candidates succeeded") {
  CHECK_FALSE(measured(a_rising_history(11)).value());
  const auto found = measured(a_rising_history(40)).value();
  REQUIRE(found);
  CHECK(found->metric == "validation.accuracy");
  CHECK(found->candidates == 40);
  REQUIRE_FALSE(found->order.empty());
  CHECK(found->order.front().name == "learning_rate");
  const auto told = nlohmann::json::parse(to_json(*found));
  CHECK(told["order"][0]["kind"] == "hyperparameter");
  CHECK(to_text(*found).starts_with("importance for validation.accuracy\n"));
}

TEST_CASE("text: what people wrote cannot steer a terminal") {
  const annotations all{
      {0, {.note = {}, .tags = {"baseline", "old"}}},
      {12,
       {.note = "\x1b[2Jgone\nsecond", .who = "ada\r", .unix_ms = 1, .tags = {"\x9b"}}}};
  const auto text = to_text(all);
  CHECK(text.starts_with("notes and tags\n  the run\n    tags baseline old\n  #12\n"
                         "    tags ?\n    note of ada?, "));
  CHECK(text.ends_with("\n      ?[2Jgone\n      second\n"));
  CHECK(to_text(annotations{}).empty());
}
