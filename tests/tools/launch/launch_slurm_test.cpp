#include "tools/launch/launch_slurm.hpp"
#include "tools/launch/sbatch_text.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

slurm_job a_job() {
  return {.name = "digits-20260101-120000",
          .folder = "/home/anna/runs/digits-20260101-120000",
          .program = "/home/anna/clade/bin/clade",
          .connect = "login1:7411",
          .keys = "/home/anna/runs/digits-20260101-120000/keys/worker"};
}

} // namespace

TEST_CASE("launch slurm: the script has one worker on each node with its devices") {
  auto job = a_job();
  job.nodes = 2;
  job.gpus_per_node = 4;
  job.cpus_per_node = 16;
  job.options = {"partition=gpu", "--time=01:00:00", "exclusive"};
  CHECK(*slurm_script(job) == R"(#!/bin/sh
# One worker on each node. Submitted again, it adds as many.
#SBATCH --job-name="digits-20260101-120000"
#SBATCH --chdir="/home/anna/runs/digits-20260101-120000"
#SBATCH --output="/home/anna/runs/digits-20260101-120000/slurm-%j.log"
#SBATCH --open-mode=append
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=16
#SBATCH --requeue
#SBATCH --no-kill
#SBATCH --signal=TERM@60
#SBATCH --partition="gpu"
#SBATCH --time="01:00:00"
#SBATCH --exclusive
exec srun --no-kill --kill-on-bad-exit=0 --wait=0 --cpu-bind=none \
  /bin/sh -c 'exec "$1" worker --connect "$2" --keys "$3" --slots "$4" \
    --name "slurm-$SLURM_JOB_ID-$SLURMD_NODENAME"' \
  worker /home/anna/clade/bin/clade login1:7411 /home/anna/runs/digits-20260101-120000/keys/worker auto
)");
}

TEST_CASE("launch slurm: no GPU or core is asked for that nobody wanted") {
  const auto script = *slurm_script(a_job());
  CHECK(script.find("gpus") == std::string::npos);
  CHECK(script.find("cpus") == std::string::npos);
}

TEST_CASE("launch slurm: values stay one word for sbatch and for the shell") {
  auto job = a_job();
  job.name = "a \"b\" \\c #d";
  job.folder = "/tmp/it's 100% #1/run";
  job.program = "/opt/my clade";
  job.slots = "$(reboot)";
  job.options = {"comment=\"; rm -rf /"};
  const auto script = *slurm_script(job);
  CHECK(script.find("#SBATCH --job-name=\"a \\\"b\\\" \\\\c #d\"\n")
        != std::string::npos);
  CHECK(script.find("#SBATCH --chdir=\"/tmp/it's 100% #1/run\"\n") != std::string::npos);
  CHECK(script.find("#SBATCH --output=\"/tmp/it's 100%% #1/run/slurm-%j.log\"\n")
        != std::string::npos);
  CHECK(script.find("#SBATCH --comment=\"\\\"; rm -rf /\"\n") != std::string::npos);
  CHECK(script.find("  worker '/opt/my clade' login1:7411 ") != std::string::npos);
  CHECK(script.ends_with(" '$(reboot)'\n"));
}

TEST_CASE("launch slurm: what sbatch cannot be told is refused") {
  const auto refusal = [](auto change) {
    auto job = a_job();
    change(job);
    const auto script = slurm_script(job);
    REQUIRE_FALSE(script);
    CHECK(script.error().kind == error_kind::invalid_input);
    return script.error().message;
  };
  CHECK(refusal([](auto& j) { j.nodes = 0; }) == "--nodes: there must be one at least");
  CHECK(refusal([](auto& j) { j.folder = "/tmp/a\\b"; })
        == "/tmp/a\\b: SLURM cannot write a log in a folder whose name has a backslash; "
           "name another one with --runs");
  CHECK(refusal([](auto& j) { j.folder = "/tmp/a\n#SBATCH --uid=0"; })
        == "the folder has a line break or another control character, which no "
           "option "
           "of sbatch can");
  CHECK(refusal([](auto& j) { j.options = {"comment=a\nreboot"}; })
        == "--sbatch has a line break or another control character, which no option of "
           "sbatch can");
  for (const char* wrong :
       {"", "--", "-p gpu", "---time=1", "partition gpu", "time:1", "A=1"})
    CHECK(refusal([&](auto& j) {
            j.options = {wrong};
          }).ends_with("no option of sbatch; write it as in --sbatch partition=gpu"));
}

TEST_CASE("launch slurm: the job's number is read from what sbatch says") {
  CHECK(*read_slurm_job_id("17\n") == "17");
  CHECK(*read_slurm_job_id("17;cluster\n") == "17");
  CHECK(*read_slurm_job_id("a site's greeting\n17\n") == "17");
  CHECK(read_slurm_job_id("Submitted\n").error().message
        == "sbatch did not name the job; it said: Submitted");
  CHECK_FALSE(read_slurm_job_id(""));
}
