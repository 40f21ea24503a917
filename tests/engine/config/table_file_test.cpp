#include "engine/evaluation/table/table_fitness.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/small_table.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdlib>

using namespace clade;

namespace {

std::string wrong(const std::string& from, const std::string& to) {
  const auto d = parse_table_description(with(small_description, from, to), "t.toml");
  return d ? "no error" : d.error().message;
}

std::filesystem::path tables() {
  return std::filesystem::path(CLADE_ROOT) / "experiments/tables";
}

} // namespace

TEST_CASE("table file: its space has the parameters and no layers") {
  const auto d = parse_table_description(small_description, "t.toml");
  REQUIRE(d);
  CHECK(d->space.name == "t.toml");
  CHECK(d->space.rules.max_nodes == 0);
  CHECK(d->fidelities == std::vector<std::uint32_t>{10, 40});
  CHECK_FALSE(d->separate);
  CHECK(d->objective.metric == "validation.accuracy");
  CHECK(d->truth == "test.accuracy");
  const auto again = parse_search_space(to_toml(d->space), "t.toml");
  REQUIRE(again);
  CHECK(to_toml(*again) == to_toml(d->space));
}

TEST_CASE("table file: what is wrong is said with its line") {
  CHECK(wrong("[10, 40]", "[40, 10]")
        == "t.toml:2: fidelities must rise, but 10 follows 40");
  CHECK(wrong("[10, 40]", "[10, 10]")
        == "t.toml:2: fidelities must rise, but 10 follows 10");
  CHECK(wrong("[10, 40]", "[0, 40]")
        == "t.toml:2: fidelities has \"0\", which is no number of epochs from 1 to "
           "4294967295");
  CHECK(
      wrong("[10, 40]\nseeds = [0, 1]",
            "{first = 1, last = 100000}\nseeds = [0,1,2,3,4,5,6,7,8,9,10]")
      == "t.toml:15: metrics.test.accuracy: metrics, fidelities and seeds make more than "
         "1,000,000 columns");
  CHECK(wrong("[10, 40]", "{first = 9, last = 8}")
        == "t.toml:2: fidelities must go from first, at least 1, up to last, at most "
           "100,000 of them");
  CHECK(wrong("seeds", "seds")
        == "t.toml:3: unknown key \"seds\"; did you mean \"seeds\"?");
  CHECK(wrong("seeds = [0, 1]\n", "")
        == "t.toml:13: metrics.validation.accuracy speaks of {seed}, but there are none: "
           "seeds = [0, 1]");
  CHECK(wrong("cost", "coast")
        == "t.toml:4: unknown key \"coast\"; did you mean \"cost\"?");
  CHECK(wrong("digits = [", "digit = [")
        == "t.toml:7: unknown key \"digit\" in [key]; did you mean \"digits\"?");
  CHECK(wrong("\"width\"]", "\"wide\"]")
        == "t.toml:7: digits names \"wide\", which is none of [hyperparameters]");
  CHECK(wrong("[8, 16, 32]", "{low = 1, high = 3}")
        == "t.toml:7: digits names width, which is no list that a digit could index");
  CHECK(wrong("maximize = \"validation", "maximize = \"validtion")
        == "t.toml:12: objective.maximize: \"validtion.accuracy\" is none of [metrics]");
  CHECK(
      wrong("maximize = \"validation", "maximize = \"test")
      == "t.toml:12: objective.maximize: \"test.accuracy\" is kept for the end; a search "
         "sees none of test");
  CHECK(wrong("[\"acc10\", ", "[\"acc10\", \"acc20\", ")
        == "t.toml:14: metrics.validation.accuracy names columns for 3 fidelities of 2");
  CHECK(wrong("files = [\"x.csv\"]\n", "")
        == "t.toml:1: files is missing: it says what holds the table, files = "
           "[\"x.csv.gz\"]");
  CHECK(wrong("[8, 16, 32]", "[8, 8]") == "t.toml:10: hyperparameters.width has 8 twice");
  CHECK(wrong("fidelities = [10, 40]", "lookup = \"near\"")
        == "t.toml:2: lookup must be \"exact\" or \"nearest\", not \"near\"");
}

TEST_CASE("table file: one takes over what another says") {
  const scratch_folder folder;
  std::filesystem::create_directories(folder.path() / "below");
  write_text(folder.path() / "below/base.toml",
             "folder = \"data\"\n" + with(small_description, "[10, 40]", "[40, 10]"));
  write_text(folder.path() / "t.toml",
             "include = \"below/base.toml\"\nfiles = [\"z.csv\"]\nfidelities = [5, 6]\n"
             "[hyperparameters]\nwidth = [1, 2, 3]\n");
  const char* elsewhere = std::getenv("CLADE_BENCHMARKS");
  const std::string kept = elsewhere == nullptr ? "" : elsewhere;
  ::unsetenv("CLADE_BENCHMARKS");
  const auto d = load_table_description(folder.path() / "t.toml");
  REQUIRE(d);
  CHECK(d->fidelities == std::vector<std::uint32_t>{5, 6});
  CHECK(d->files
        == std::vector<std::filesystem::path>{folder.path() / "below/data/z.csv"});
  // Each in the file in which it stands.
  CHECK(d->places
        == std::vector<std::string>{(folder.path() / "below/base.toml").string() + ":10",
                                    (folder.path() / "t.toml").string() + ":5"});
  const auto none = load_table(*d);
  REQUIRE(!none);
  CHECK(none.error().message
        == (folder.path() / "t.toml").string()
               + ":2: " + (folder.path() / "below/data/z.csv").string()
               + " is not there; set CLADE_BENCHMARKS to the folder that holds z.csv");
  ::setenv("CLADE_BENCHMARKS", "/else/where", 1);
  const auto moved = load_table_description(folder.path() / "t.toml");
  REQUIRE(moved);
  CHECK(moved->files == std::vector<std::filesystem::path>{"/else/where/z.csv"});
  if (kept.empty())
    ::unsetenv("CLADE_BENCHMARKS");
  else
    ::setenv("CLADE_BENCHMARKS", kept.c_str(), 1);
}

// The tables are not part of the repository; where they lie, they are read whole.
TEST_CASE("table file: those of the repository describe their tables") {
  std::size_t described = 0;
  for (const auto& entry : std::filesystem::directory_iterator(tables())) {
    if (!entry.is_regular_file())
      continue;
    INFO(entry.path());
    const auto d = load_table_description(entry.path());
    if (!d)
      FAIL(d.error().message);
    ++described;
    if (!std::filesystem::exists(d->files.front()))
      continue;
    const auto start = std::chrono::steady_clock::now();
    const auto t = load_table(*d);
    if (!t)
      FAIL(t.error().message);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    UNSCOPED_INFO(spent.count());
    std::size_t finite = 0;
    for (std::uint32_t row = 0; row < (*t)->rows(); ++row)
      finite += (*t)->truth(row).has_value() ? 1u : 0u;
    CHECK(finite == (*t)->rows());
    auto random = derive(1, purpose::sample, 0, 0);
    for (int i = 0; i < 100; ++i) {
      const auto sampled = sample(d->space, table_problem(), random);
      REQUIRE(sampled);
      CHECK((*t)->find(sampled->child));
    }
  }
  CHECK(described == 16);
}
