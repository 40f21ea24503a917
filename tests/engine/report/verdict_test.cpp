#include "engine/report/view/verdict.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

struct told_end {
  std::vector<compared> comparison{
      {.subject = "linear model", .validation = 0.80, .test = 0.79, .parameters = 10},
      {.subject = "best random candidate",
       .id = 3,
       .validation = 0.85,
       .test = 0.84,
       .parameters = 300},
      {.subject = "champion",
       .id = 9,
       .validation = 0.95,
       .test = 0.93,
       .parameters = 2000}};
  end_facts facts{.metric = "validation.accuracy",
                  .test_metric = "test.accuracy",
                  .validation_examples = 1000,
                  .standard_error = 0.007,
                  .candidates = 240,
                  .as_good = 12};

  std::vector<std::string> verdict() {
    facts.comparison = comparison;
    return clade::verdict(facts);
  }
};

} // namespace

TEST_CASE("verdict: of a search that was worth it there is nothing to say") {
  CHECK(told_end().verdict().empty());
  CHECK(verdict({}).empty());
}

TEST_CASE("verdict: a linear model that is better on the test data is named first") {
  told_end end;
  end.comparison[0].test = 0.94;
  CHECK(
      end.verdict()
      == std::vector<std::string>{
          "The linear model is better than the champion on the test data (test.accuracy "
          "0.9400 against 0.9300), with 10 parameters instead of 2,000. Use a linear "
          "model (such as scikit-learn's), or give the search more data, generations or "
          "epochs."});
  end.comparison[0].test = 0.93;
  CHECK_THAT(end.verdict().front(),
             Catch::StartsWith("The linear model is as good as the champion on the test "
                               "data"));
}

TEST_CASE("verdict: what is lowered is better when it is lower") {
  told_end end;
  end.facts.metric = "validation.rmse";
  end.facts.test_metric = "test.rmse";
  end.facts.maximize = false;
  end.facts.standard_error = 0;
  // The linear model's errors are the smaller ones.
  CHECK_THAT(
      end.verdict().front(),
      Catch::Contains("better than the champion on the test data (test.rmse 0.7900 "
                      "against 0.9300)"));
}

TEST_CASE("verdict: a champion that wins on the test data alone is told so") {
  told_end end;
  end.comparison[0].validation = 0.96;
  const auto said = end.verdict();
  REQUIRE(!said.empty());
  CHECK_THAT(said.front(),
             Catch::StartsWith("The linear model is better than the champion on the "
                               "validation data (validation.accuracy 0.9600 against "
                               "0.9500)")
                 && Catch::EndsWith("do not count on it."));
}

TEST_CASE("verdict: a validation part that luck outweighs is too small") {
  told_end end;
  end.facts.validation_examples = 96;
  end.facts.standard_error = 0.02;
  end.facts.as_good = 57;
  // 0.02 sqrt(2 ln 240) = 0.0662, and the lead over the best random one is 0.10.
  CHECK(end.verdict().empty());
  end.comparison[1].validation = 0.9;
  CHECK(
      end.verdict()
      == std::vector<std::string>{
          "Validation is too small to tell candidates apart: on 96 examples the "
          "champion's validation.accuracy of 0.9500 has a standard error of 0.0200, and "
          "57 of the 239 other candidates are within it. The best of so many looks "
          "better than it is by up to 0.0662. Trust the test data; give validation more "
          "examples (data.split), or try fewer candidates."});
  // Nobody else is near: it is no matter of luck.
  end.facts.as_good = 0;
  CHECK(end.verdict().empty());
}

TEST_CASE("verdict: a smaller network with the same metric is named") {
  told_end end;
  end.facts.smaller = {.id = 7, .parameters = 500};
  CHECK(end.verdict()
        == std::vector<std::string>{
            "#7 has the same validation.accuracy as the champion with 500 parameters "
            "instead of 2,000; #9 was chosen as the older one."});
  end.facts.smaller->higher_loss = true;
  CHECK_THAT(end.verdict().front(),
             Catch::EndsWith("#9 was chosen for its lower validation.loss."));
  end.facts.smaller->has_weights = true;
  CHECK_THAT(end.verdict().front(),
             Catch::EndsWith("To take the smaller one: clade export RUN 7 --python "
                             "FOLDER."));
}

TEST_CASE("verdict: that a clock decided, and a replay will not differ, is said last") {
  told_end end;
  end.facts.by_the_clock = true;
  CHECK_THAT(end.verdict().back(),
             Catch::Contains("another run of the same seed will differ")
                 && Catch::Contains("clade replay RUN will not"));
}

TEST_CASE("verdict: trainings that evaluation_time shortened are counted") {
  told_end end;
  end.facts.shortened = 3;
  CHECK_THAT(end.verdict().back(),
             Catch::Contains("limits.evaluation_time shortened 3 of ")
                 && Catch::Contains("another run of the same seed will differ"));
}

TEST_CASE("verdict: limits of the objective that nothing keeps are said first") {
  told_end end;
  end.facts.unmet = "parameters 22, at most 3";
  CHECK_THAT(
      end.verdict().front(),
      Catch::StartsWith("No candidate keeps the limits of the objective. The "
                        "champion misses them by least: parameters 22, at most 3."));
}

TEST_CASE("verdict: a final model that is the linear model is not compared with it") {
  told_end end;
  auto same = end.comparison[0];
  CHECK(same.subject == "linear model");
  same.subject = "final model";
  end.comparison.push_back(same);
  CHECK_THAT(end.verdict().front(),
             Catch::StartsWith("The final model is the linear model alone; "));
}

TEST_CASE("verdict: the linear model is compared with what people take away") {
  told_end end;
  end.comparison[0].test = 0.94;
  end.comparison.push_back(
      {.subject = "final model", .validation = 0.97, .test = 0.96, .parameters = 9000});
  CHECK(end.verdict().empty());
  end.comparison.back().test = 0.94;
  CHECK_THAT(
      end.verdict().front(),
      Catch::StartsWith("The linear model is as good as the final model on the test "
                        "data (test.accuracy 0.9400 against 0.9400), with 10 "
                        "parameters instead of 9,000."));
}
