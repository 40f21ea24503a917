// Trainings whose process is lost, and that go on from what lies on the disk.
#include "engine/training/parallel/parted/kept_position.hpp"
#include "engine/training/weights/position_files.hpp"
#include "tests/engine/training/team_bench.hpp"

#include <catch2/catch.hpp>
#include <fcntl.h>

#include <atomic>
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

/// A process that is told to leave, after an epoch or so many steps.
class leaving_process final : public progress {
public:
  explicit leaving_process(std::size_t steps) : steps_(steps) {}

  bool report(const epoch& e) override {
    if (e.number == epochs / 2)
      steps_ = 0;
    return steps_ > 0;
  }
  [[nodiscard]] bool wanted() const override { return steps_ > 0 && --steps_ > 0; }
  [[nodiscard]] bool goes_on_later() const override { return true; }

private:
  mutable std::size_t steps_;
};

/// A process that is told to leave after an epoch, and lost while it may still finish.
class lost_while_leaving final : public progress {
public:
  bool report(const epoch& e) override {
    leaves_ = true;
    if (e.number == epochs / 2)
      throw std::runtime_error("this process was lost");
    return true;
  }
  [[nodiscard]] bool goes_on_later() const override { return leaves_; }

private:
  std::atomic<bool> leaves_ = false;
};

struct kept_bench : team_bench {
  explicit kept_bench(const std::string& distribution) {
    share(distribution, distribution == "one_device" ? 1 : 2);
    setup.training.checkpoint_every = std::chrono::milliseconds(0);
    setup.training.distribution.micro_batches = 2;
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
  for (const auto* distribution : {"one_device", "mirrored", "multi_worker_mirrored",
                                   "parameter_server", "sharded", "pipeline"}) {
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

TEST_CASE("position: one that is told to leave goes on where it stood, bit for bit") {
  for (const auto* distribution :
       {"one_device", "mirrored", "multi_worker_mirrored", "local_sgd",
        "parameter_server", "sharded", "pipeline"}) {
    INFO(distribution);
    kept_bench bench(distribution);
    bench.setup.training.checkpoint_every = std::chrono::hours(1);
    const scratch_folder scratch;
    auto j = a_kept_job({});
    listener all;
    const auto undisturbed = bench.trainer()->evaluate(j, all);
    j.positions = scratch.path() / "positions";
    for (const std::size_t steps : {std::size_t{15}, std::size_t{1000}}) {
      leaving_process leaves(steps);
      CHECK(bench.trainer()->evaluate(j, leaves).evaluation.outcome
            != outcome::succeeded);
      listener rest;
      const auto went_on = bench.trainer()->evaluate(j, rest);
      CHECK(went_on.checkpoint == undisturbed.checkpoint);
      CHECK(went_on.evaluation.curve.size() == epochs);
      CHECK(rest.heard.size() < epochs);
      CHECK(fs::is_empty(j.positions));
    }
  }
}

TEST_CASE(
    "position: one that is told to leave keeps it at once, and not at its end alone") {
  for (const auto* distribution :
       {"one_device", "mirrored", "multi_worker_mirrored", "local_sgd"}) {
    INFO(distribution);
    kept_bench bench(distribution);
    bench.setup.training.checkpoint_every = std::chrono::hours(1);
    const scratch_folder scratch;
    auto j = a_kept_job({});
    listener all;
    const auto undisturbed = bench.trainer()->evaluate(j, all);
    j.positions = scratch.path() / "positions";
    lost_while_leaving lost;
    CHECK(bench.trainer()->evaluate(j, lost).evaluation.outcome != outcome::succeeded);
    listener rest;
    CHECK(bench.trainer()->evaluate(j, rest).checkpoint == undisturbed.checkpoint);
    CHECK(rest.heard.size() < epochs);
  }
}

TEST_CASE("position: of parts, the last that is whole and of this network is taken") {
  const kept_bench bench("sharded");
  const scratch_folder scratch;
  auto j = a_kept_job({});
  listener all;
  const auto undisturbed = bench.trainer()->evaluate(j, all);
  j.positions = scratch.path() / "positions";
  const auto lose = [&] {
    lost_process lost;
    static_cast<void>(bench.trainer()->evaluate(j, lost));
    return file_with(j.positions, ".last");
  };
  const auto check_goes_on = [&](std::size_t most_epochs) {
    listener rest;
    CHECK(bench.trainer()->evaluate(j, rest).checkpoint == undisturbed.checkpoint);
    CHECK(rest.heard.size() <= most_epochs);
  };
  fs::remove(lose());
  check_goes_on(epochs - 1);
  const auto torn = lose();
  fs::resize_file(torn, fs::file_size(torn) / 2);
  check_goes_on(epochs - 1);
  lose();
  for (const auto* which : {".last", ".before"})
    std::ofstream(file_with(j.positions, which)) << "something else";
  check_goes_on(epochs);
}

TEST_CASE("position: what is stored of parts is read as it was, or refused") {
  const scratch_folder scratch;
  const auto file = scratch.path() / "position";
  kept_position kept({.version = 7, .steps = 9, .present = 0b00101}, {'r'}, 5);
  const std::vector<float> weights{1, 2, 3, 4, 5}, average{6, 7, 8, 9, 10};
  kept.write(kept_position::weights, 0, weights);
  kept.write(kept_position::average, 0, average);
  {
    const unique_fd out(::open(file.c_str(), O_WRONLY | O_CREAT, 0600));
    REQUIRE(kept.store(out.get()) == 0);
  }
  const auto loaded = kept_position::load(file, 5);
  REQUIRE(loaded);
  CHECK((*loaded)->about() == kept.about());
  CHECK((*loaded)->rest() == kept.rest());
  std::vector<float> read(5);
  (*loaded)->read(kept_position::average, 0, read);
  CHECK(read == average);
  CHECK_FALSE(kept_position::load(file, 6));
  CHECK_FALSE(kept_position::load(scratch.path() / "none", 5));
  std::ifstream in(file, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    std::ofstream(file, std::ios::binary) << damaged;
    CHECK_FALSE(kept_position::load(file, 5));
    std::ofstream(file, std::ios::binary) << whole.substr(0, at);
    CHECK_FALSE(kept_position::load(file, 5));
  }
}

TEST_CASE("position: of those that do the same training one keeps it") {
  const scratch_folder scratch;
  auto one = std::make_optional<position_files>(scratch.path(), 7);
  position_files other(scratch.path(), 7);
  CHECK(one->is_keeper());
  CHECK_FALSE(other.is_keeper());
  one.reset();
  CHECK(other.is_keeper());
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
