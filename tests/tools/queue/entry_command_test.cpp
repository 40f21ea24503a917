#include "tests/support/scratch.hpp"
#include "tools/queue/processes/entry_command.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace clade;

namespace {

slot core(unsigned number) {
  return {.name = "cpu:" + std::to_string(number),
          .device = "cpu",
          .environment = {"OMP_NUM_THREADS=1", "CUDA_VISIBLE_DEVICES="},
          .cores = {2 * number, 2 * number + 1}};
}

slot card(const std::string& name, const std::string& uuid) {
  return {.name = name,
          .device = "cuda:0",
          .environment = {"OMP_NUM_THREADS=1", "CUDA_VISIBLE_DEVICES=" + uuid},
          .cores = {}};
}

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

} // namespace

TEST_CASE("entry command: slots are said as the process counts what it sees") {
  const auto a = card("cuda:1/0", "A"), b = card("cuda:1/1", "A"),
             c = card("cuda:3", "C");
  CHECK(slots_text(std::vector{core(1), core(2)}) == "cpu:2");
  CHECK(slots_text(std::vector{a, b, c, core(0)}) == "cuda:0*2,cuda:1,cpu:1");
  const auto said = entry_environment(7, std::vector{a, b, c});
  CHECK(has(said, "CUDA_VISIBLE_DEVICES=A,C"));
  CHECK(has(said, "CLADE_SLOTS=cuda:1/0 cuda:1/1 cuda:3"));
  CHECK(has(said, "CLADE_ENTRY=7"));
  CHECK(has(entry_environment(7, std::vector{core(0), core(1)}), "OMP_NUM_THREADS=4"));
}

TEST_CASE("entry command: a run is begun in its entry's folder, a command as it is") {
  const scratch_folder folder;
  const queue_submission run{.kind = entry_kind::run,
                             .words = {"x.toml", "--seed", "3"},
                             .directory = "/home/ann"};
  const std::vector slots{core(1)};
  const auto started = entry_command("/bin/clade", folder.path(), 4, run, slots);
  REQUIRE(started);
  CHECK(started->command
        == std::vector<std::string>{"/bin/clade", "run", "x.toml", "--seed", "3",
                                    "--runs", (folder.path() / "runs").string(),
                                    "--slots", "cpu:1"});
  CHECK(started->cores == std::vector<unsigned>{2, 3});
  CHECK(started->directory == "/home/ann");
  const queue_submission command{.words = {"sh", "-c", "true"}, .directory = "/"};
  const auto sh = entry_command("/bin/clade", folder.path(), 4, command, slots);
  REQUIRE(sh);
  CHECK(sh->command.front().ends_with("/sh"));
}

TEST_CASE("entry command: ranks have equal shares of the cores, and see all GPUs") {
  const std::vector cores{core(0), core(1), core(2), core(3)};
  const auto ranks = rank_processes(7, 2, cores);
  REQUIRE(ranks.size() == 2);
  CHECK(ranks[1].cores == std::vector<unsigned>{4, 5, 6, 7});
  CHECK(has(ranks[1].environment, "CLADE_SLOTS=cpu:2 cpu:3"));
  CHECK(has(ranks[1].environment, "OMP_NUM_THREADS=4"));
  const auto cards =
      rank_processes(7, 2, std::vector{card("cuda:0", "A"), card("cuda:1", "B")});
  CHECK(has(cards[0].environment, "CLADE_SLOTS=cuda:0"));
  for (const auto& variable : cards[0].environment)
    CHECK_FALSE(variable.starts_with("CUDA_VISIBLE_DEVICES="));
  for (const auto& r : ranks) {
    const auto words = ranks_words("clade", {r});
    const auto read = read_rank(words.at(3));
    REQUIRE(read);
    CHECK(*read == r);
  }
  for (const char* wrong : {"", "{}", R"({"environment": [1], "cores": []})",
                            R"({"environment": [], "cores": ["0"]})"})
    CHECK_FALSE(read_rank(wrong));
}

TEST_CASE("entry command: a command with ranks is started by clade") {
  const scratch_folder folder;
  const queue_submission two{
      .words = {"sh", "-c", "true"}, .directory = "/", .slots = 2, .ranks = 2};
  const auto started =
      entry_command("/bin/clade", folder.path(), 4, two, std::vector{core(0), core(1)});
  REQUIRE(started);
  const auto& words = started->command;
  REQUIRE(words.size() == 10);
  CHECK(words[0] == "/bin/clade");
  CHECK(words[1] == "ranks");
  CHECK(words[6] == "--");
  CHECK(words[7].ends_with("/sh"));
  CHECK(words[9] == "true");
}

TEST_CASE("entry command: ranks are of commands, and share slots evenly") {
  CHECK(check_ranks({.slots = 3, .ranks = 3}));
  CHECK(check_ranks({.kind = entry_kind::run, .slots = 3}));
  CHECK_FALSE(check_ranks({.kind = entry_kind::run, .slots = 2, .ranks = 2}));
  CHECK_FALSE(check_ranks({.slots = 3, .ranks = 2}));
  CHECK_FALSE(check_ranks({.slots = 3, .ranks = 0}));
}
