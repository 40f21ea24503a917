#include "engine/evaluation/table/table_fitness.hpp"
#include "search_spaces/operators/variation.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/small_table.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

/// A folder with a small table, its description and an experiment on it.
class table_files {
public:
  table_files() {
    write_text(folder_.path() / "x.csv", small_rows);
    write_text(folder_.path() / "t.toml",
               with(small_description, "x.csv", (folder_.path() / "x.csv").string()));
  }

  [[nodiscard]] expected<experiment>
  load(const std::string& more = "",
       const std::vector<std::string>& overrides = {}) const {
    const auto file = folder_.path() / "e.toml";
    write_text(file, "[experiment]\nname = \"e\"\nfitness = \"table\"\n[table]\nfile = "
                     "\"t.toml\"\n"
                         + more);
    return load_experiment(file, overrides);
  }

  [[nodiscard]] std::string
  error_of(const std::string& more,
           const std::vector<std::string>& overrides = {}) const {
    const auto e = load(more, overrides);
    if (e)
      return "no error";
    auto message = e.error().message;
    const auto prefix = folder_.path().string() + "/";
    for (auto at = message.find(prefix); at != std::string::npos;
         at = message.find(prefix))
      message.erase(at, prefix.size());
    return message;
  }

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

private:
  scratch_folder folder_;
};

} // namespace

TEST_CASE("table experiment: space and objective are the description's") {
  const table_files files;
  const auto e = files.load();
  if (!e)
    FAIL(e.error().message);
  CHECK(e->evaluator->file() == files.folder() / "t.toml");
  CHECK(e->objective.metric == "validation.accuracy");
  CHECK(e->space.rules.hyperparameters.size() == 2);
  CHECK(problem_of(*e, nullptr));
  const auto t = load_table(*e);
  REQUIRE(t);
  CHECK((*t)->rows() == 5);
}

TEST_CASE("table experiment: the resolved one is the same without its files") {
  const table_files files;
  const auto e = files.load("[objective]\nminimize = \"seconds\"\n");
  if (!e)
    FAIL(e.error().message);
  std::filesystem::remove(files.folder() / "t.toml");
  const auto again = parse_resolved(to_toml(*e), "resolved");
  if (!again)
    FAIL(again.error().message);
  CHECK(to_toml(*again) == to_toml(*e));
  CHECK(again->objective.metric == "seconds");
  CHECK(search_hash(*again, {1, 2}) == search_hash(*e, {1, 2}));
  CHECK(search_hash(*again, {1, 3}) != search_hash(*e, {1, 2}));
}

TEST_CASE("table experiment: where the description lies does not change the search") {
  const table_files here, there;
  const auto a = here.load(), b = there.load();
  REQUIRE((a && b));
  CHECK(search_hash(*a, {}) == search_hash(*b, {}));
}

TEST_CASE("table experiment: what is wrong is said with its line") {
  const table_files files;
  CHECK(files.error_of("[search_space]\nfile = \"x.toml\"\n")
        == "e.toml:6: [search_space] says nothing to an experiment on a table, whose "
           "description gives the space; remove it");
  CHECK(files.error_of("[data]\nfile = \"x.csv\"\n")
        == "e.toml:6: [data] says nothing to an experiment on a table; remove it");
  CHECK(files.error_of("[objective]\nmaximize = \"test.accuracy\"\n")
        == "e.toml:7: the table has no metric \"test.accuracy\"; it has "
           "validation.accuracy, seconds");
  CHECK(files.error_of("[objective]\nminimize = \"validation.accuracy\"\n")
        == "e.toml:7: validation.accuracy is better when it is higher; write maximize = "
           "[\"validation.accuracy\"]");
  CHECK(files.error_of("", {"table.epochs=9"})
        == "--set table.epochs is 9, but the table has nothing below 10 "
           "epochs");
  CHECK(files.error_of("", {"table.file=u.toml"})
        == "--set table.file: u.toml is not there");
  CHECK(files.error_of("", {"experiment.fitness=synthetic"})
        == "e.toml:4: [table] says nothing to a synthetic experiment; add fitness = "
           "\"table\" to [experiment], or remove it");
}

TEST_CASE("table experiment: a description that has changed is refused") {
  const table_files files;
  const auto e = files.load();
  REQUIRE(e);
  const auto changed = [&](const std::string& from, const std::string& to) {
    write_text(files.folder() / "t.toml", with(small_description, from, to));
    const auto t = load_table(*e);
    return t ? "no error" : t.error().message.substr(t.error().message.find(": ") + 2);
  };
  CHECK(changed("[8, 16, 32]", "[8, 16, 64]")
        == "the description no longer has the parameters that this experiment searches "
           "by: put it back, or start a new run");
}

TEST_CASE("table experiment: genomes without layers vary within the space") {
  const table_files files;
  const auto e = files.load();
  REQUIRE(e);
  const auto p = table_problem();
  REQUIRE(check(e->space, p));
  auto random = derive(3, purpose::mutation, 0, 0);
  auto a = sample(e->space, p, random)->child;
  std::size_t moved = 0;
  for (int i = 0; i < 200; ++i) {
    const auto b = mutate(e->space, p, a, {.again = 0}, random).child;
    CHECK(check(e->space.rules, b));
    CHECK(decode(e->space, b, p));
    CHECK(b.nodes.size() == 2);
    std::size_t differ = 0;
    for (const auto& s : a.hyperparameters)
      differ += *find(b.hyperparameters, s.name) != s.value ? 1u : 0u;
    CHECK(differ == 1);
    moved += differ;
    const auto c = cross(e->space, p, a, b, random).child;
    CHECK(check(e->space.rules, c));
    for (const auto& s : c.hyperparameters)
      CHECK((*find(a.hyperparameters, s.name) == s.value
             || *find(b.hyperparameters, s.name) == s.value));
    a = b;
  }
  CHECK(moved == 200);
}
