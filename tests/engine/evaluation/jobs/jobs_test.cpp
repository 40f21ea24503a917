#include "engine/evaluation/jobs/jobs.hpp"
#include "tests/support/listener.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

/// The candidate that is the job of that name.
job a_job(const std::string& name, budget limits = {}) {
  clade::genome g;
  g.hyperparameters = {{std::string(job_hyperparameter), name}};
  return {.id = 7, .genome = std::move(g), .budget = limits};
}

/// Returns the outcome of a shell that does this, as the job "one".
evaluation of_shell(const std::string& text, jobs_params params = {},
                    budget limits = {}) {
  params.commands = {{"one", {"sh", "-c", text}}};
  if (params.directory.empty())
    params.directory = "/";
  unheard_progress nobody;
  return make_jobs({.params = params})->evaluate(a_job("one", limits), nobody).evaluation;
}

std::string told(const evaluation& e) {
  return std::string(to_text(e.outcome)) + ": " + reason_of("one", e.reason);
}

} // namespace

TEST_CASE("jobs: a program that ends with status 0 has succeeded") {
  const auto e = of_shell("echo trains");
  CHECK(told(e) == "succeeded: ");
  CHECK(find(e.metrics, tries_metric) == 1);
  CHECK(find(e.metrics, seconds_metric) == e.seconds);
  REQUIRE(e.curve.size() == 1);
  CHECK(find(e.curve[0].metrics, exit_status_metric) == 0);
  CHECK(find(e.curve[0].metrics, started_metric) > 1.6e9);
}

TEST_CASE("jobs: a program that fails says its last line") {
  CHECK(told(of_shell("echo one; echo 'ValueError: no data' >&2; exit 3"))
        == "crashed: ended with status 3: ValueError: no data");
  CHECK(told(of_shell("echo 'the last words'; exit 1"))
        == "crashed: ended with status 1: the last words");
  const auto killed = of_shell("kill -9 $$");
  CHECK_THAT(told(killed), StartsWith("crashed: was killed (Killed)"));
  CHECK(find(killed.curve[0].metrics, exit_status_metric) == 137);
}

TEST_CASE("jobs: a reason names its job for those who know candidates by numbers") {
  CHECK(of_shell("exit 3").reason == "one: ended with status 3");
}

TEST_CASE("jobs: one that fails is tried again") {
  const scratch_folder folder;
  jobs_params params{.directory = folder.path(), .retries = 2};
  params.commands = {{"one", {"sh", "-c", "echo x >> tries; test $CLADE_TRY = 2"}}};
  listener seen;
  const auto e = make_jobs({.params = params})->evaluate(a_job("one"), seen).evaluation;
  CHECK(told(e) == "succeeded: ");
  CHECK(read_text(folder.path() / "tries") == "x\nx\n");
  CHECK(find(e.metrics, tries_metric) == 2);
  REQUIRE(seen.heard.size() == 1);
  CHECK(seen.heard[0].number == 1);
  const auto never = of_shell("exit 4", {.retries = 2});
  CHECK(told(never) == "crashed: ended with status 4 (after 3 tries)");
  CHECK(never.curve.size() == 3);
}

TEST_CASE("jobs: one that takes too long or too much is not tried again") {
  const auto slow = of_shell("sleep 100", {.timeout = 100ms, .retries = 3});
  CHECK(told(slow) == "timed out: took longer than 0.1 s");
  CHECK(slow.curve.size() == 1);
  const auto large = of_shell("exec python3 -c 'x = bytes([1]) * (1 << 28); import time; "
                              "time.sleep(100)'",
                              {.retries = 3}, {.memory_bytes = 64 << 20});
  CHECK(told(large) == "out of memory: took more than 64 MiB");
  CHECK(large.curve.size() == 1);
}

TEST_CASE("jobs: each try has a log") {
  const scratch_folder folder;
  const auto e = of_shell("echo out; echo err >&2; exit 1",
                          {.logs = folder.path() / "logs", .retries = 1});
  REQUIRE(e.curve.size() == 2);
  const auto started = std::chrono::seconds(
      static_cast<std::int64_t>(*find(e.curve[0].metrics, started_metric)));
  for (const std::uint32_t attempt : {1U, 2U}) {
    const auto log = read_text(job_log(folder.path() / "logs", "one", started, attempt));
    CHECK_THAT(log, Contains("out\n"));
    CHECK_THAT(log, Contains("err\n"));
  }
  write_text(folder.path() / "file", "");
  CHECK_THAT(told(of_shell("true", {.logs = folder.path() / "file"})),
             StartsWith("invalid: its log ") && Contains("cannot be written"));
}

TEST_CASE("jobs: a program knows its job, and may use the cores of its slot") {
  const scratch_folder folder;
  CHECK(told(of_shell("echo $CLADE_JOB $CLADE_TRY $((OMP_NUM_THREADS > 0)) > said",
                      {.directory = folder.path()}))
        == "succeeded: ");
  CHECK(read_text(folder.path() / "said") == "one 1 1\n");
}

TEST_CASE("jobs: a candidate that is no job is refused") {
  unheard_progress nobody;
  const auto all =
      make_jobs({.params = {.commands = {{"one", {"true"}}}, .directory = "/"}});
  CHECK(told(all->evaluate(a_job("two"), nobody).evaluation)
        == "invalid: there is no job \"two\"");
  CHECK(told(of_shell("true", {.directory = "/no/such/folder"}))
        == "invalid: /no/such/folder is no folder here");
}

TEST_CASE("jobs: what cannot be run is refused before") {
  const auto refusal = [](const std::map<std::string, std::vector<std::string>>& c) {
    const auto sound = validate(jobs_params{.commands = c});
    return sound ? std::string() : sound.error().message;
  };
  CHECK(refusal({{"a/b", {"true"}}}).empty());
  CHECK_THAT(refusal({}), StartsWith("commands is missing"));
  CHECK_THAT(refusal({{"a", {}}}), Contains("the job a has no program"));
  for (const char* name : {"", "/etc", "../x", "a/../../x", "a\nb"})
    CHECK_THAT(refusal({{name, {"true"}}}), Contains("is no name of a job"));
}
