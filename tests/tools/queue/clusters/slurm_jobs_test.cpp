#include "tools/queue/clusters/slurm_jobs.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <ctime>

using namespace clade;

namespace {

cluster_job a_job() {
  return {.what = {.user = "ann",
                   .words = {"python3", "train it.py"},
                   .directory = "/home/ann"},
          .program = "/opt/clade"};
}

} // namespace

TEST_CASE("SLURM: an entry is a script") {
  CHECK(*slurm_entry_script(a_job())
        == "#!/bin/sh\n"
           "#SBATCH --job-name=\"python3\"\n"
           "#SBATCH --chdir=\"/home/ann\"\n"
           "#SBATCH --output=\"/home/ann/slurm-%j.out\"\n"
           "#SBATCH --open-mode=append\n"
           "#SBATCH --nodes=1\n"
           "#SBATCH --ntasks=1\n"
           "#SBATCH --cpus-per-task=1\n"
           "#SBATCH --no-requeue\n"
           "exec python3 'train it.py'\n");
}

TEST_CASE("SLURM: what is wanted of a queue is wanted of sbatch") {
  auto job = a_job();
  job.what = {.user = "ann",
              .kind = entry_kind::run,
              .words = {"digits.toml", "--seed", "3"},
              .directory = "/home/ann",
              .name = "a \"b\" #c",
              .priority = -5,
              .slots = 2,
              .device = "cuda",
              .time = std::chrono::seconds(7325),
              .after = {7, 8}};
  job.options = {"--partition=gpu"};
  CHECK(*slurm_entry_script(job)
        == "#!/bin/sh\n"
           "#SBATCH --job-name=\"a \\\"b\\\" #c\"\n"
           "#SBATCH --chdir=\"/home/ann\"\n"
           "#SBATCH --output=\"/home/ann/slurm-%j.out\"\n"
           "#SBATCH --open-mode=append\n"
           "#SBATCH --nodes=1\n"
           "#SBATCH --ntasks=1\n"
           "#SBATCH --gres=gpu:2\n"
           "#SBATCH --time=2:02:05\n"
           "#SBATCH --nice=5\n"
           "#SBATCH --dependency=afterok:7:8\n"
           "#SBATCH --no-requeue\n"
           "#SBATCH --partition=\"gpu\"\n"
           "exec /opt/clade run digits.toml --seed 3 --slots cuda:0,cuda:1\n");
}

TEST_CASE("SLURM: what sbatch cannot be told is refused") {
  const auto refusal = [](auto change) {
    auto job = a_job();
    change(job);
    const auto script = slurm_entry_script(job);
    REQUIRE_FALSE(script);
    CHECK(script.error().kind == error_kind::invalid_input);
    return script.error().message;
  };
  CHECK(refusal([](cluster_job& j) { j.what.slots = 0; })
        == "--slots: there must be one at least");
  CHECK(refusal([](cluster_job& j) { j.what.name = "a\nb"; })
        == "the name has a line break or another control character, which no option of "
           "sbatch can");
  CHECK_THAT(refusal([](cluster_job& j) { j.what.directory = "/a\\b"; }),
             Catch::EndsWith("submit it in another one"));
  CHECK_THAT(refusal([](cluster_job& j) { j.options = {"= x"}; }),
             Catch::StartsWith("--sbatch \"= x\": no option of sbatch"));
  CHECK_THAT(refusal([](cluster_job& j) {
               j.what.kind = entry_kind::train;
               j.what.requeue = true;
             }),
             Catch::StartsWith("--requeue: "));
}

TEST_CASE("SLURM: what squeue says is read") {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  CHECK(
      text_of(read_squeue(
          "17|ann|RUNNING|2|2026-01-31T14:05:00|2026-01-31T14:05:01|None|a|b\n"
          "18|bob|PENDING|1|2026-01-31T14:05:00|N/A|Resources|wait\n"
          "19|bob|PENDING|1|N/A|N/A|DependencyNeverSatisfied|never\n"
          "a warning\n"))
      == R"([{"id":"17","user":"ann","name":"a|b","state":"running","reason":null,"slots":2,)"
         R"("submitted":1769868300000,"started":1769868301000},)"
         R"({"id":"18","user":"bob","name":"wait","state":"waiting","reason":"Resources",)"
         R"("slots":1,"submitted":1769868300000},)"
         R"({"id":"19","user":"bob","name":"never","state":"held",)"
         R"("reason":"DependencyNeverSatisfied","slots":1,"submitted":null}])");
}

TEST_CASE("SLURM: what sacct says is read") {
  const auto all = read_sacct(
      "1|ann|COMPLETED|2|2026-01-31T14:05:00|2026-01-31T14:05:01|2026-01-31T14:06:01|0:0|"
      "/a|x\n"
      "2|ann|FAILED|1|2026-01-31T14:05:00|2026-01-31T14:05:01|2026-01-31T14:06:01|3:0|/"
      "a|x\n"
      "3|ann|FAILED|1|2026-01-31T14:05:00|2026-01-31T14:05:01|2026-01-31T14:06:01|0:9|/"
      "a|x\n"
      "4|ann|TIMEOUT|1|2026-01-31T14:05:00|2026-01-31T14:05:01|2026-01-31T14:06:01|0:0|/"
      "a|x\n"
      "5|ann|CANCELLED by 0|1|2026-01-31T14:05:00|None|2026-01-31T14:06:01|0:0|/a|x\n");
  std::string said;
  for (const auto& e : all)
    said += e["id"].get<std::string>() + " " + e["state"].get<std::string>() + " "
            + (e["reason"].is_null() ? "-" : e["reason"].get<std::string>()) + "\n";
  CHECK(said
        == "1 succeeded -\n2 failed ended with status 3\n3 failed killed by signal 9\n"
           "4 failed TIMEOUT\n5 cancelled -\n");
  CHECK(all[0]["directory"] == "/a");
  CHECK(all[0]["ended"].get<std::int64_t>() - all[0]["started"].get<std::int64_t>()
        == 60'000);
}

TEST_CASE("SLURM: what scontrol says is read") {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  CHECK(text_of(read_scontrol(
            "JobId=4 JobName=my job x=y\n"
            "   UserId=ann(1000) GroupId=ann(1000) MCS_label=N/A\n"
            "   Priority=1 Nice=0 Account=(null) QOS=(null)\n"
            "   JobState=FAILED Reason=NonZeroExitCode Dependency=(null)\n"
            "   Requeue=0 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=3:0\n"
            "   SubmitTime=2026-01-31T14:05:00 EligibleTime=2026-01-31T14:05:00\n"
            "   StartTime=2026-01-31T14:05:01 EndTime=2026-01-31T14:06:01 Deadline=N/A\n"
            "   NumNodes=1 NumCPUs=2 NumTasks=1 CPUs/Task=2 ReqB:S:C:T=0:0:*:*\n"
            "   Command=(null)\n"
            "   WorkDir=/home/ann/my work\n"
            "   StdOut=/home/ann/my work/slurm-4.out\n"))
        == R"({"id":"4","user":"ann","name":"my job x=y","state":"failed",)"
           R"("reason":"ended with status 3","slots":2,"submitted":1769868300000,)"
           R"("started":1769868301000,"ended":1769868361000,)"
           R"("directory":"/home/ann/my work","log":"/home/ann/my work/slurm-4.out"})");
  CHECK(read_scontrol("slurm_load_jobs error: Invalid job id specified\n").is_null());
}

TEST_CASE("SLURM: ranks are tasks of srun, with what PyTorch wants to know") {
  auto job = a_job();
  job.what.slots = 4;
  job.what.ranks = 2;
  const auto script = *slurm_entry_script(job);
  CHECK_THAT(script, Catch::Contains("#SBATCH --ntasks=2\n#SBATCH --cpus-per-task=2\n"));
  CHECK_THAT(script, Catch::EndsWith("; exec \"$@\"' sh python3 'train it.py'\n"));
  job.what.slots = 3;
  CHECK_FALSE(slurm_entry_script(job));
}

TEST_CASE("SLURM: machines are told once, whatever partitions they are in") {
  CHECK(text_of(read_sinfo("n1|idle|0/4/0/4\nn1|idle|0/4/0/4\nn2|mixed|3/5/0/8\nwrong\n"))
        == R"([{"machine":"n1","state":"idle","device":"cpu","slots":4,"used":0},)"
           R"({"machine":"n2","state":"mixed","device":"cpu","slots":8,"used":3}])");
}
