#include "engine/store/sqlite/schema.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

#include <sstream>

using namespace clade;
using namespace clade::test;

namespace {

struct told_store {
  scratch_folder folder;
  std::filesystem::path file = folder.path() / "run.db";

  told_store() { write_store(file, a_history()); }

  [[nodiscard]] std::string rows(const std::string& sql) const {
    return query(file, sql);
  }
};

struct example {
  std::string title;
  std::string sql;
};

/// Returns the examples that follow "Examples" in the schema: titles, and queries
/// indented by five spaces.
std::vector<example> examples() {
  std::istringstream lines(schema_sql);
  std::string line;
  while (std::getline(lines, line) && !line.starts_with("-- Examples"))
    ;
  std::vector<example> found;
  while (std::getline(lines, line)) {
    if (line.starts_with("--     "))
      found.back().sql += line.substr(7) + "\n";
    else if (line.size() > 3)
      found.push_back({line.substr(3), ""});
  }
  return found;
}

} // namespace

TEST_CASE("schema: a fork has its seed and experiment, which says where it comes from") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  write_store(file, {a_history().front(),
                     {run_forked{.origin = "x-20260131-140500\n",
                                 .identity = 5,
                                 .sequence = 1,
                                 .generation = 0,
                                 .changes = {"experiment.seed=9"},
                                 .experiment = "[experiment]\nname = \"y\"\n",
                                 .seed = 9,
                                 .search = {4, 5}},
                      {}}});
  CHECK(query(file, "select version, seed, search, experiment from runs")
        == "0.1.0|9|" + to_text(genome_hash{4, 5})
               + "|# forked from x-20260131-140500  at generation 0: experiment.seed=9\n"
                 "[experiment]\nname = \"y\"\n\n");
  CHECK(query(file, "select sequence from records where kind = 10") == "2\n");
}

TEST_CASE("schema: the tables say what the records do") {
  const told_store s;
  CHECK(s.rows("select metric, maximize, version, seed, experiment from runs")
        == "validation.accuracy|1|0.1.0|-1|[experiment]\nname = \"x\"\n\n");
  CHECK(
      s.rows(
          "select records, state, generation, born, evaluated, failed, training_seconds, "
          "best, best_fitness, champion from progress")
      == "23|finished|1|6|6|2|2.5|5|0.9|5\n");
  CHECK(
      s.rows("select id, generation, place, origin, equal_to, nodes, edges from genomes")
      == "1|0|0|random||4|4\n"
         "2|0|1|random||4|4\n"
         "3|0|2|random||4|4\n"
         "4|1|0|add dense(units=8)||4|4\n"
         "5|1|1|widen n2 16 -> 32||4|4\n"
         "6|1|2|change nothing|1|4|4\n");
  CHECK(s.rows("select * from parents") == "4|0|2\n5|0|2\n5|1|1\n6|0|1\n");
  CHECK(s.rows("select id, outcome, fitness, parameters, weights_hash, equal_to, reason, "
               "seconds, "
               "slot, tries from evaluations")
        == "1|succeeded|0.5|100|-2|||0.5|node1/cpu:0|1\n"
           "2|succeeded|0.7|200|-3|||0.5|node1/cpu:0|1\n"
           "3|diverged||300|-4||the loss is \"NaN\"|0.5|node1/cpu:0|1\n"
           "4|crashed||400|-5||killed two node processes|0.5|node1/cpu:0|1\n"
           "5|succeeded|0.9|500|-6|||0.5|node1/cpu:0|1\n"
           "6|succeeded|0.5|100|-2|1||0.0||0\n");
  CHECK(
      s.rows("select generation, born, evaluated, failed, best, best_fitness, survivors, "
             "closed_ms >= born_ms from generations")
      == "0|3|3|1|2|0.7|[2,1,3]|1\n1|3|3|1|5|0.9|[5,2,1]|1\n");
  CHECK(s.rows("select id, attempt, slot, reason from attempts")
        == "4|1|node3/cpu:0|killed by signal 9\n");
  CHECK(s.rows("select subject, id, metrics, parameters from examinations")
        == "champion|5|{\"test.accuracy\":0.875}|500\n"
           "best random candidate|2|{\"test.accuracy\":0.75}|200\n"
           "linear model||{\"test.accuracy\":0.625}|10\n");
  CHECK(s.rows("select id, number, metrics from epochs where id = 2")
        == "2|1|{\"validation.loss\":0.6000000000000001}\n"
           "2|2|{\"validation.accuracy\":0.7,\"validation.loss\":0.30000000000000004}\n");
  CHECK(s.rows("select id, length(bytes) from weights") == "5|16\n");
}

TEST_CASE("schema: nodes that a killed run left are closed when it is resumed") {
  const told_store s;
  CHECK(s.rows("select slot, left_ms is not null, reason from nodes")
        == "node1/cpu:0|1|the run stopped\n"
           "node2/cpu:1|1|the run stopped\n"
           "node3/cpu:0|1|connection lost\n");
}

TEST_CASE("schema: metrics are rows too") {
  const told_store s;
  CHECK(
      s.rows(
          "select id, value from metrics where name = 'validation.accuracy' order by id")
      == "1|0.5\n2|0.7\n5|0.9\n6|0.5\n");
}

TEST_CASE("schema: names of metrics may hold anything") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  auto e = an_evaluation(1, 0.5);
  e.metrics = {{"a\"b\\c\nd", 0.25}};
  write_store(file, {evaluated(e)});
  CHECK(query(file, "select name, value from metrics") == "a\"b\\c\nd|0.25\n");
}

TEST_CASE("schema: every example query runs and finds something") {
  const told_store s;
  const auto all = examples();
  REQUIRE(all.size() == 7);
  for (const auto& one : all) {
    INFO(one.title << "\n" << one.sql);
    REQUIRE_FALSE(one.sql.empty());
    CHECK_FALSE(s.rows(one.sql).empty());
  }
}

TEST_CASE("schema: the example queries say what their titles promise") {
  const told_store s;
  const auto all = examples();
  REQUIRE(all.size() == 7);
  CHECK(all[0].title == "The ten best:");
  CHECK(s.rows("select id from (" + all[0].sql.substr(0, all[0].sql.rfind(';')) + ")")
        == "5\n2\n1\n6\n");
  CHECK(all[1].title == "Best and median of each generation:");
  CHECK(s.rows(all[1].sql) == "0|0.7|0.6\n1|0.9|0.7\n");
  CHECK(all[3].title == "Where the best comes from, along the fitter parents:");
  CHECK(s.rows(all[3].sql) == "5|1|widen n2 16 -> 32|0.9\n2|0|random|0.7\n");
  CHECK(all[5].title == "How well the slots were used:");
  CHECK(s.rows(all[5].sql) == "node1/cpu:0|5|2.5\n");
}

TEST_CASE("schema: what is read along a run uses no scan") {
  const told_store s;
  for (const char* sql : {"select sequence from genomes where id = 3",
                          "select sequence from evaluations where id = 3",
                          "select parent from parents where child = 3 order by position",
                          "select id from genomes where generation = 1",
                          "select bytes from weights where id = 5"}) {
    INFO(sql);
    CHECK_THAT(s.rows(std::string("explain query plan ") + sql),
               Catch::Contains("SEARCH"));
  }
}
