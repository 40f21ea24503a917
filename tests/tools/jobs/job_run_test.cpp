#include "tests/support/scratch.hpp"
#include "tools/jobs/job_run.hpp"
#include "tools/jobs/jobs_options.hpp"
#include "tools/jobs/jobs_summary.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace clade;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

namespace {

job_run_params some_jobs() {
  job_run_params params{.jobs = {.directory = "/work", .logs = "/work/logs"},
                        .order = {"slow", "sub/quick \"one\"", "a"},
                        .slots = "cpu:2"};
  for (const auto& name : params.order)
    params.jobs.commands.emplace(name,
                                 std::vector<std::string>{"python3", "/x/" + name, "-é"});
  params.jobs.timeout = 90s;
  params.jobs.retries = 2;
  return params;
}

candidate_born born(candidate_id id, const std::string& job) {
  clade::genome g;
  g.hyperparameters = {{std::string(job_hyperparameter), job}};
  return {{.id = id, .genome = std::make_shared<const clade::genome>(std::move(g))}};
}

candidate_evaluated ended(candidate_id id, outcome how, double seconds,
                          std::string reason = "") {
  evaluation e{.id = id, .outcome = how, .reason = std::move(reason), .seconds = seconds};
  e.slot = "cpu:0";
  e.curve.push_back(
      {1,
       {{std::string(exit_status_metric), how == outcome::succeeded ? 0. : 3.},
        {std::string(started_metric), 1.7e9}},
       seconds});
  return {std::move(e)};
}

jobs_summary a_summary() {
  job_records records;
  std::int64_t at = 0;
  for (const record& r :
       {record{born(1, "a")}, record{born(2, "b")}, record{born(3, "c")},
        record{ended(2, outcome::succeeded, 6)},
        record{ended(1, outcome::crashed, 2, "ended with status 3: no data")}})
    records.take(++at, r);
  jobs_summary s{.run = "/runs/jobs-1",
                 .started_ms = 1,
                 .wall_seconds = 6.4,
                 .workers = 2,
                 .logs = "/logs",
                 .directory = "/work"};
  for (const auto& [id, job] : records.all()) {
    s.jobs.push_back(job);
    s.commands.emplace(job.name, std::vector<std::string>{"python3", job.name});
  }
  return s;
}

} // namespace

TEST_CASE("job runs: an experiment has each job once, in the order given") {
  const auto e = experiment_of(some_jobs());
  if (!e)
    FAIL(e.error().message);
  const auto read = parse_resolved(to_toml(*e), "resolved");
  if (!read)
    FAIL(read.error().message);
  CHECK(to_toml(*read) == to_toml(*e));
  CHECK(problem_of(*e, nullptr).has_value());
  CHECK(problem_of(*read, nullptr).has_value());
  const auto* jobs = jobs_of(*read);
  REQUIRE(jobs != nullptr);
  CHECK(jobs->commands == some_jobs().jobs.commands);
  CHECK(jobs->timeout == 90s);
  CHECK(jobs->retries == 2);
  REQUIRE(read->space.seeds.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    clade::genome g;
    g.hyperparameters = read->space.seeds[i].hyperparameters;
    CHECK(job_of(g) == some_jobs().order[i]);
  }
  CHECK(read->evolution.population * read->evolution.generations == 3);
  CHECK(jobs_of(experiment{}) == nullptr);
}

TEST_CASE("job runs: one job is enough, and none is refused") {
  auto params = some_jobs();
  params.order = {"a"};
  params.jobs.commands = {{"a", {"true"}}};
  CHECK(experiment_of(params).has_value());
  params.order.clear();
  params.jobs.commands.clear();
  CHECK_FALSE(experiment_of(params).has_value());
}

TEST_CASE("job summaries: jobs are counted and their time is compared") {
  const auto s = a_summary();
  CHECK(s.succeeded() == 1);
  CHECK(s.failed() == 1);
  CHECK(s.not_run() == 1);
  const auto text = to_text(s);
  CHECK_THAT(text,
             Contains("a    failed         2.0      1  cpu:0  ended with status 3"));
  CHECK_THAT(text, Contains("c    not run          -      -  -"));
  CHECK_THAT(text, EndsWith("1 of 3 succeeded, 1 failed, 1 not run; 6.4 s, one after "
                            "another 8.0 s: 1.25 times as fast (the best schedule on 2 "
                            "slots takes 6.0 s)\n"));
}

TEST_CASE("job summaries: as JSON they name every try and its log") {
  const auto j = nlohmann::json::parse(to_json(a_summary()));
  CHECK(j["state"] == "interrupted");
  CHECK(j["speed_up"] == 1.25);
  REQUIRE(j["jobs"].size() == 3);
  CHECK(j["jobs"][0]["outcome"] == "failed");
  CHECK(j["jobs"][0]["tries"][0]["exit_status"] == 3);
  CHECK(j["jobs"][0]["tries"][0]["started"] == "2023-11-14T22:13:20Z");
  CHECK_THAT(j["jobs"][0]["tries"][0]["log"].get<std::string>(),
             Contains("/logs/a/run_2023111"));
  CHECK(j["jobs"][2]["tries"].empty());
}

TEST_CASE("jobs files: what the command line leaves open is read") {
  const scratch_folder folder;
  const auto file = folder.path() / "jobs.toml";
  write_text(file, "folders = [\"a\", \"/b\"]\nonly = \"train_a\"\nmax_workers = 2\n"
                   "epochs = 5\nretries = 0\ntimeout = \"90s\"\nmemory = \"1GiB\"\n"
                   "extra_arg = [\"--early-stopping\"]\nsequential = false\n");
  jobs_options options{.max_workers = 1, .timeout = "1h"};
  REQUIRE(read_jobs_file(file, options).has_value());
  CHECK(options.folders
        == std::vector<std::string>{(folder.path() / "a").string(), "/b"});
  CHECK(options.only == std::vector<std::string>{"train_a"});
  CHECK(options.extra_arg == std::vector<std::string>{"--early-stopping"});
  CHECK(options.max_workers == 1U);
  CHECK(options.epochs == 5U);
  CHECK(options.retries == 0U);
  CHECK_FALSE(options.folds.has_value());
  CHECK(options.directory == folder.path().string());
  const auto limits = limits_of(options);
  REQUIRE(limits.has_value());
  CHECK(limits->timeout == 1h);
  CHECK(limits->memory_bytes == std::uint64_t{1} << 30);
}

TEST_CASE("jobs files: the command line says how many run at once") {
  const scratch_folder folder;
  const auto sequential = [&](const std::string& text, jobs_options options) {
    write_text(folder.path() / "jobs.toml", text);
    REQUIRE(read_jobs_file(folder.path() / "jobs.toml", options).has_value());
    return options.sequential;
  };
  CHECK(sequential("sequential = true\n", {}));
  CHECK_FALSE(sequential("parallel = true\nmax_workers = 2\n", {}));
  CHECK_FALSE(sequential("sequential = true\n", {.parallel = true}));
  CHECK_FALSE(sequential("sequential = true\n", {.max_workers = 2}));
  CHECK_FALSE(sequential("sequential = true\n", {.slots = "cpu:2"}));
  CHECK(sequential("parallel = true\nmax_workers = 2\n", {.sequential = true}));
}

TEST_CASE("jobs files: a mistake is told with its line") {
  const scratch_folder folder;
  const auto wrong = [&](const std::string& text) {
    write_text(folder.path() / "jobs.toml", text);
    jobs_options options;
    const auto read = read_jobs_file(folder.path() / "jobs.toml", options);
    return read ? std::string() : read.error().message;
  };
  CHECK_THAT(wrong("epochs = 1\nretrys = 2\n"),
             Contains("jobs.toml:2: ") && Contains("retries"));
  CHECK_THAT(wrong("epochs = \"many\"\n"), Contains("jobs.toml:1: "));
  CHECK_THAT(wrong("epochs ="), Contains("jobs.toml:1: "));
  CHECK_THAT(wrong("parallel = true\nsequential = true\n"),
             Contains("jobs.toml:2: ") && Contains("leave this or those out"));
  CHECK_THAT(wrong("sequential = true\nmax_workers = 2\n"), Contains("jobs.toml:1: "));
  jobs_options options{.timeout = "soon"};
  CHECK_THAT(limits_of(options).error().message, Contains("--timeout \"soon\""));
}
