#include "engine/export/rows/optuna_study.hpp"
#include "engine/export/rows/run_history.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

#include <sstream>

using namespace clade;
using namespace clade::test;

namespace {

struct told_run {
  scratch_folder folder;
  std::filesystem::path file = folder.path() / "run.db";
  experiment e;

  explicit told_run(const std::vector<entry>& entries = a_history()) {
    write_store(file, entries);
    e.name = "toy";
    e.space.rules.hyperparameters = {
        {"learning_rate",
         real_domain{.low = 0.0001, .high = 0.1, .log = true},
         {},
         false},
        {"batch_size",
         integer_domain{.low = 16, .high = 70, .step = 16, .log = false},
         {},
         false},
        {"optimiser", choice_domain{.options = {"sgd", "adam"}}, {}, false}};
  }

  [[nodiscard]] store opened() const { return store::open_to_read(file).value(); }
};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    lines.push_back(line.substr(0, line.find('\r')));
  return lines;
}

} // namespace

TEST_CASE("csv: each evaluation is a row with its metrics and hyperparameters") {
  const told_run run;
  std::ostringstream out;
  REQUIRE(write_csv(run.opened(), run.e, out));
  const auto lines = lines_of(out.str());
  REQUIRE(lines.size() == 7);
  CHECK(lines[0]
        == "id,generation,place,outcome,parameters,epochs,seconds,slot,tries,born_ms,"
           "evaluated_ms,parents,equal_to,origin,reason,tags,note,validation.accuracy,"
           "validation.loss,test.accuracy,learning_rate,batch_size,optimiser,network");
  CHECK(lines[1].starts_with("2,0,1,succeeded,200,2,0.5,node1/cpu:0,1,"));
  CHECK(lines[1].find(",,,random,,,,0.7,0.30000000000000004,0.75,0.002,64,sgd,")
        != std::string::npos);
  CHECK(lines[3].find(",random,\"the loss is \"\"NaN\"\"\",,,,,,0.003,64,sgd")
        != std::string::npos);
  const auto network = to_text(*a_candidate(2).genome);
  CHECK(lines[1].find(network.substr(0, network.find('\n'))) != std::string::npos);
  CHECK(lines[5].find(",1,1,change nothing,,,,0.5,0.5,") != std::string::npos);
}

TEST_CASE("csv: tags and notes stand in their row") {
  auto entries = a_history();
  for (const auto& [kind, text] : {std::pair{instruction_kind::tag, "small"},
                                   {instruction_kind::tag, "good"},
                                   {instruction_kind::note, "=1+1, \"quoted\"\n<b>"}})
    entries.push_back({operator_command{{kind, 2, text}, "ada"}, {}});
  const told_run run(entries);
  std::ostringstream out;
  REQUIRE(write_csv(run.opened(), run.e, out));
  CHECK(out.str().find(",random,,good small,\"'=1+1, \"\"quoted\"\"\n<b>\",0.7,")
        != std::string::npos);
}

TEST_CASE("csv: a candidate that is not evaluated yet has no row") {
  auto entries = a_history();
  entries.resize(7); // Three are born, and #2 is evaluated.
  const told_run run(entries);
  std::ostringstream out;
  REQUIRE(write_csv(run.opened(), run.e, out));
  CHECK(lines_of(out.str()).size() == 2);
}

TEST_CASE("optuna: each candidate is a trial with its state and its values") {
  const told_run run;
  const auto file = run.folder.path() / "study.db";
  REQUIRE(write_optuna_study(run.opened(), run.e, "toy-1", file));
  CHECK(query(file, "select study_name, direction from studies join study_directions "
                    "using (study_id)")
        == "toy-1|MAXIMIZE\n");
  CHECK(query(file, "select trial_id, number, state, value from trials left join "
                    "trial_values using (trial_id) order by trial_id")
        == "1|0|COMPLETE|0.5\n2|1|COMPLETE|0.7\n3|2|FAIL|\n4|3|FAIL|\n5|4|COMPLETE|0.9\n"
           "6|5|COMPLETE|0.5\n");
  // The highest of integers is one that steps reach.
  CHECK(
      query(file, "select param_name, param_value, distribution_json from trial_params "
                  "where trial_id = 2 order by param_name")
      == R"(batch_size|64.0|{"name":"IntDistribution","attributes":{"log":false,"step":16,"low":16,"high":64}}
learning_rate|0.002|{"name":"FloatDistribution","attributes":{"step":null,"low":0.0001,"high":0.1,"log":true}}
optimiser|0.0|{"name":"CategoricalDistribution","attributes":{"choices":["sgd","adam"]}}
)");
  CHECK(query(file, "select step, intermediate_value, intermediate_value_type from "
                    "trial_intermediate_values where trial_id = 5")
        == "2|0.9|FINITE\n");
  CHECK(query(file, "select value_json from trial_user_attributes where trial_id = 3 and "
                    "\"key\" = 'reason'")
        == "\"the loss is \\\"NaN\\\"\"\n");
}

TEST_CASE("optuna: what is not evaluated yet waits and a file that is there is kept") {
  auto entries = a_history();
  entries.resize(7);
  const told_run run(entries);
  const auto file = run.folder.path() / "study.db";
  REQUIRE(write_optuna_study(run.opened(), run.e, "toy-1", file));
  CHECK(query(file, "select state from trials order by trial_id")
        == "WAITING\nCOMPLETE\nWAITING\n");
  const auto again = write_optuna_study(run.opened(), run.e, "toy-1", file);
  REQUIRE_FALSE(again);
  CHECK(again.error().kind == error_kind::conflict);
}

TEST_CASE("optuna: several objectives are as many directions and values") {
  told_run run;
  run.e.objective.others = {{"parameters", false}};
  const auto file = run.folder.path() / "study.db";
  REQUIRE(write_optuna_study(run.opened(), run.e, "toy-1", file));
  CHECK(
      query(file, "select objective, direction from study_directions order by objective")
      == "0|MAXIMIZE\n1|MINIMIZE\n");
  CHECK(query(file, "select objective, value from trial_values where trial_id = 2 "
                    "order by objective")
        == "0|0.7\n1|200.0\n");
  CHECK(query(file, "select value_json from study_system_attributes")
        == "[\"validation.accuracy\",\"parameters\"]\n");
  CHECK(query(file, "select state from trials where trial_id = 3") == "FAIL\n");
  // Optuna takes intermediate values of a single objective alone.
  CHECK(query(file, "select count(*) from trial_intermediate_values") == "0\n");
}

TEST_CASE("csv: what a spreadsheet would take for a formula is made a text") {
  for (const char* formula : {"=1+1", "@SUM(1)", "+cmd", "-2+3", "\tx", "--", "++1"})
    CHECK(csv_safe_field(formula) == "'" + std::string(formula));
  CHECK(csv_safe_field("\rx") == "\"'\rx\"");
  CHECK(csv_safe_field("=a,b") == "\"'=a,b\"");
  for (const char* text :
       {"", "-", "+", "@", "a=1", "-2.5", "+1e-3", "-inf", "'x", "1-2"})
    CHECK(csv_safe_field(text) == text);
}
