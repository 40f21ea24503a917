#include "tests/support/scratch.hpp"
#include "tools/queue/entry_command.hpp"

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
