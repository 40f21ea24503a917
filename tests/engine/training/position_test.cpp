// Trainings whose process is lost, and that go on from what lies on the disk.
#include "engine/training/position_files.hpp"
#include "tests/engine/training/team_bench.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>

using namespace clade;

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t epochs = 6;

/// A process that is lost while its training reports an epoch.
class lost_process final : public progress {
public:
  bool report(const epoch& e) override {
    if (e.number == epochs / 2)
      throw std::runtime_error("this process was lost");
    return true;
  }
};

struct kept_bench : team_bench {
  explicit kept_bench(const std::string& distribution) {
    share(distribution, distribution == "one_device" ? 1 : 2);
    setup.training.checkpoint_every = std::chrono::milliseconds(0);
  }
};

job a_kept_job(const fs::path& folder) {
  auto j = a_team_job();
  j.budget = {.epochs = epochs, .horizon = epochs};
  j.positions = folder;
  return j;
}

void flip_last_byte(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(in), {}};
  REQUIRE_FALSE(content.empty());
  content.back() = static_cast<char>(content.back() ^ 1);
  std::ofstream(file, std::ios::binary) << content;
}

fs::path file_with(const fs::path& folder, const std::string& extension) {
  for (const auto& f : fs::directory_iterator(folder))
    if (f.path().extension() == extension)
      return f.path();
  FAIL("no file with " << extension);
  return {};
}

} // namespace

TEST_CASE("position: a training whose process was lost goes on, bit for bit") {
  for (const auto* distribution :
       {"one_device", "mirrored", "multi_worker_mirrored", "parameter_server"}) {
    INFO(distribution);
    const kept_bench bench(distribution);
    const scratch_folder scratch;
    listener all;
    auto j = a_kept_job({});
    const auto undisturbed = bench.trainer()->evaluate(j, all);
    REQUIRE(undisturbed.evaluation.outcome == outcome::succeeded);
    REQUIRE(all.heard.size() == epochs);

    j.positions = scratch.path() / "positions";
    for (const bool damaged : {false, true}) {
      INFO("damaged " << damaged);
      lost_process lost;
      CHECK(bench.trainer()->evaluate(j, lost).evaluation.outcome != outcome::succeeded);
      if (damaged)
        flip_last_byte(file_with(j.positions, ".last"));
      listener rest;
      const auto went_on = bench.trainer()->evaluate(j, rest);
      CHECK(went_on.checkpoint == undisturbed.checkpoint);
      CHECK((went_on.evaluation.metrics == undisturbed.evaluation.metrics));
      CHECK(went_on.evaluation.curve.size() == epochs);
      CHECK(rest.heard.size() < epochs);
      CHECK(fs::is_empty(j.positions));
    }
  }
}

TEST_CASE("position: that of another training is not taken for it") {
  const kept_bench bench("one_device");
  const scratch_folder scratch;
  auto j = a_kept_job(scratch.path() / "positions");
  lost_process lost;
  static_cast<void>(bench.trainer()->evaluate(j, lost));
  j.id = 2;
  listener all;
  CHECK(bench.trainer()->evaluate(j, all).evaluation.outcome == outcome::succeeded);
  CHECK(all.heard.size() == epochs);
}

TEST_CASE("position: what cannot be kept costs no training") {
  const kept_bench bench("one_device");
  const scratch_folder scratch;
  std::ofstream(scratch.path() / "file") << "in the way";
  listener all;
  const auto done =
      bench.trainer()->evaluate(a_kept_job(scratch.path() / "file" / "folder"), all);
  CHECK(done.evaluation.outcome == outcome::succeeded);
}
