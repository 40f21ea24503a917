#include "engine/report/view/explain.hpp"
#include "genome/variation/old_change_text.hpp"
#include "tests/engine/store/history.hpp"
#include "tests/support/genomes.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <sstream>

using namespace clade;
using namespace clade::test;

namespace {

/// A lineage of literals.
struct family {
  std::map<candidate_id, candidate> members;
  std::map<candidate_id, double> fitness;

  void add(candidate_id id, genome g, std::vector<candidate_id> parents,
           const std::string& origin, double value) {
    auto c = a_candidate(id);
    c.generation = parents.empty() ? 0 : members.at(parents.front()).generation + 1;
    c.genome = std::make_shared<const genome>(std::move(g));
    c.parents = std::move(parents);
    c.changes = parse_old_change_text(origin);
    members[id] = std::move(c);
    fitness[id] = value;
  }

  [[nodiscard]] ancestry ancestors() const {
    return {.find_candidate = [this](candidate_id id) -> expected<candidate> {
              return members.at(id);
            },
            .find_overview = [this](candidate_id id) -> expected<candidate_overview> {
              const auto& c = members.at(id);
              return candidate_overview{.id = id,
                                        .generation = c.generation,
                                        .origin = to_text(c.changes),
                                        .parents = c.parents,
                                        .result = outcome::succeeded,
                                        .fitness = fitness.at(id),
                                        .parameters = 100};
            }};
  }
};

node_gene conv(std::int64_t filters) {
  return {{}, "conv", {{"filters", filters}, {"kernel", std::int64_t{3}}}};
}

genome chain(std::vector<node_gene> nodes, double rate, const std::string& optimiser) {
  auto g = a_chain(std::move(nodes));
  g.hyperparameters = {{"learning_rate", rate}, {"optimiser", optimiser}};
  return g;
}

/// #1 and #2 are random; #3 has a relu more than #1; #4 crosses #3 with #2, whose filters
/// and optimiser it takes; #5 learns faster.
family a_family() {
  family f;
  const node_gene relu{{}, "relu", {}};
  f.add(1, chain({conv(8)}, 0.01, "sgd"), {}, "sampled", 0.5);
  f.add(2, chain({conv(32)}, 0.02, "adam"), {}, "sampled", 0.4);
  f.add(3, chain({conv(8), relu}, 0.01, "sgd"), {1}, "add relu on n2..output", 0.7);
  f.add(4, chain({conv(32), relu}, 0.01, "adam"), {3, 2}, "crossed; unchanged", 0.65);
  f.add(5, chain({conv(32), relu}, 0.05, "adam"), {4}, "learning_rate 0.01 -> 0.05", 0.8);
  return f;
}

std::string line_of(const inherited_gene& g) {
  return g.name + (g.value.empty() ? "" : "=" + g.value) + " from "
         + std::to_string(g.from) + " in " + std::to_string(g.introduced) + " since "
         + std::to_string(g.settled);
}

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);)
    widest = std::max(widest, line.size());
  return widest;
}

explanation an_explanation() {
  const auto f = a_family();
  explanation e{.run = "toy", .state = run_standing::finished};
  e.line = explain_line(f.ancestors(), 5).value();
  e.subject = e.line.back().who;
  e.genes = trace_genes(f.ancestors(), 5).value();
  e.others = {f.ancestors().find_overview(2).value()};
  e.ancestors = 4;
  return e;
}

} // namespace

TEST_CASE("explain: the line has the gain of each step and what came from whom") {
  const auto f = a_family();
  const auto line = explain_line(f.ancestors(), 5).value();
  REQUIRE(line.size() == 4);
  CHECK(line[0].who.id == 1);
  CHECK_FALSE(line[0].gain.has_value());
  CHECK(*line[1].gain == Approx(0.2));
  CHECK(to_text(line[1].changes) == "add relu on n2..output");
  CHECK_FALSE(line[1].other.has_value());
  CHECK(line[2].who.id == 4);
  CHECK(*line[2].gain == Approx(-0.05));
  CHECK(line[2].other->id == 2);
  CHECK(line[2].nodes_from_other
        == std::vector<std::string>{"n2 conv(filters=32, kernel=3)"});
  CHECK(line[2].settings_from_other == std::vector<std::string>{"optimiser=adam"});
  CHECK(*line[3].gain == Approx(0.15));
}

TEST_CASE("explain: each gene is followed to who introduced it and who settled it") {
  const auto f = a_family();
  const auto genes = trace_genes(f.ancestors(), 5).value();
  std::vector<std::string> lines;
  for (const auto& g : genes)
    if (g.what != inherited_gene::kind::edge)
      lines.push_back(line_of(g));
  CHECK(lines
        == std::vector<std::string>{
            "n2=conv(filters=32, kernel=3) from 4 in 1 since 2",
            "n3=relu from 4 in 3 since 3",
            "learning_rate=0.05 from 0 in 1 since 5",
            "optimiser=adam from 4 in 1 since 2",
        });
  const auto joint = std::ranges::find(genes, "n2..n3", &inherited_gene::name);
  REQUIRE(joint != genes.end());
  CHECK(joint->introduced == 3);
  CHECK(joint->innovation == to_text(an_edge(innovation{2}, innovation{3}).id));
}

TEST_CASE("explain: what a failed candidate lost is not told") {
  auto f = a_family();
  auto from = f.ancestors();
  from.find_overview = [whole = f.ancestors()](candidate_id id) {
    auto c = whole.find_overview(id);
    if (id == 3) {
      c->fitness.reset();
      c->result = outcome::diverged;
    }
    return c;
  };
  const auto line = explain_line(from, 5).value();
  CHECK_FALSE(line[1].gain.has_value());
  CHECK_FALSE(line[2].gain.has_value());
  CHECK(line[3].gain.has_value());
}

TEST_CASE("explain: damaged parents lead in no circle") {
  auto f = a_family();
  f.members[1].parents = {5};
  CHECK(explain_line(f.ancestors(), 5).value().size() == 4);
  CHECK(trace_genes(f.ancestors(), 5).value().size() == 7);
}

TEST_CASE("explain: people read it in 80 columns") {
  const auto text = to_text(an_explanation());
  INFO(text);
  CHECK_THAT(text,
             Catch::StartsWith(
                 "#5 of toy (finished), generation 3: validation.accuracy 0.8000, "
                 "100 parameters\n"
                 "  3 steps from #1, 1 crossing, 4 ancestors in all; +0.3000 on the "
                 "way\n"));
  CHECK_THAT(text, Catch::Contains("crossed with #2 (0.4000)\n"));
  CHECK_THAT(text, Catch::Contains("from it: n2 conv(filters=32, kernel=3)\n"));
  CHECK_THAT(text, Catch::Contains("  #5    3   0.8000  +0.1500  learning_rate 0.01 -> "
                                   "0.05\n"));
  CHECK(widest_line(text) <= 80);
}

TEST_CASE("explain: a long line loses some of its middle and says how much") {
  auto e = an_explanation();
  const auto step = e.line[1];
  for (candidate_id id = 10; id < 110; ++id) {
    auto one = step;
    one.who.id = id;
    one.who.fitness = 0.7 + 0.001 * static_cast<double>(id);
    one.gain = 0.001;
    e.line.insert(e.line.end() - 1, one);
  }
  const auto text = to_text(e);
  INFO(text);
  CHECK_THAT(text, Catch::Contains("... 72 more steps, +0.0720 in all"));
  CHECK(std::ranges::count(text, '\n') < 70);
  CHECK(nlohmann::json::parse(to_json(e))["line"].size() == 104);
}

TEST_CASE("explain: programs read the same in JSON") {
  const auto json = nlohmann::json::parse(to_json(an_explanation()));
  CHECK(json["line"][2]["other"]["id"] == 2);
  CHECK(json["line"][2]["settings_from_other"][0] == "optimiser=adam");
  CHECK(json["line"][3]["gain"].get<double>() == Approx(0.15));
  CHECK(json["genes"][0]["settled"] == 2);
  CHECK(json["genes"][0]["innovation"] == "n2");
  CHECK(json["others"][0]["id"] == 2);
}

TEST_CASE("explain: branches are told where a training has measured them") {
  auto e = an_explanation();
  CHECK(to_text(e).find("branches") == std::string::npos);
  CHECK(nlohmann::json::parse(to_json(e))["branches"].empty());
  e.branches = {{"n3f2a1", "size_3", 0.25}, {"n3f2a1", "size_7", 0.5e-3}};
  CHECK(to_text(e).find("its branches, by how much the loss would change without each\n"
                        "  gene    branch  importance\n"
                        "  n3f2a1  size_3      0.2500\n"
                        "  n3f2a1  size_7      0.0005\n")
        != std::string::npos);
  CHECK(nlohmann::json::parse(to_json(e))["branches"][1]["branch"] == "size_7");
}

TEST_CASE("explain: a stored run tells of its champion and of each ancestor once") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  write_store(file, a_history());
  const auto s = store::open_to_read(file).value();
  const auto run = view_run(s, file).value();
  const auto e = explain(s, run, 0).value();
  CHECK(e.subject.id == 5);
  CHECK(e.state == run_standing::finished);
  CHECK(e.ancestors == 2);
  REQUIRE(e.line.size() == 2);
  CHECK(e.line[0].who.id == 2);
  CHECK(e.line[1].other->id == 1);
  CHECK(e.others.size() == 1);
  CHECK(explain(s, run, 7).error().kind == error_kind::not_found);
  CHECK(s.ancestors(5).value() == std::vector<candidate_id>{2, 1});
}

TEST_CASE("explain: a run without a success has no champion to explain") {
  const scratch_folder folder;
  const auto file = folder.path() / "run.db";
  write_store(file, {born(a_candidate(1))});
  const auto s = store::open_to_read(file).value();
  const auto none = explain(s, view_run(s, file).value(), 0);
  REQUIRE_FALSE(none);
  CHECK(none.error().kind == error_kind::not_found);
}
