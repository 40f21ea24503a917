#include "engine/evaluation/command/candidate_files.hpp"
#include "engine/evaluation/command/command.hpp"
#include "engine/evaluation/command/placeholders.hpp"
#include "engine/evaluation/process/program.hpp"
#include "genome/base/whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr auto longest_grace = 10min;
constexpr std::uint32_t most_retries = 100;

constexpr evaluator_traits command_traits{
    .name = "command",
    .does = "has a program of yours score each candidate",
    .title =
        "Scores of a program of yours, with fitness = \"command\". A word in braces, "
        "{learning_rate}, stands for that hyperparameter of the candidate; `clade help "
        "command` has the other words. The same is in its environment, and in the JSON "
        "object that it reads from standard input. It answers with its metrics as the "
        "last JSON line of standard output, {\"validation.accuracy\": 0.93}; "
        "[objective] names one of them. A status other than 0 is a failed candidate.",
    .experiment = "an experiment that runs a command",
    .run = "a run of a command",
    .data = data_role::optional_shape,
    .repeatable = false,
    .runs_program = true,
};

class command_spec final : public evaluator_spec_of<command_params> {
public:
  [[nodiscard]] const evaluator_traits& traits() const override { return command_traits; }
  [[nodiscard]] std::unique_ptr<evaluator_spec> clone() const override {
    return std::make_unique<command_spec>(*this);
  }
  void visit(own_keys& v) override;
  [[nodiscard]] expected<void> validate() const override {
    return clade::validate(params);
  }
  [[nodiscard]] expected<void> validate_for(const search_space& space,
                                            const problem* networks) const override {
    return check_placeholders(params, space, networks);
  }
  void forget_places() override { params.directory.clear(); }
  [[nodiscard]] std::uint32_t epochs() const override { return params.epochs; }
  [[nodiscard]] bool gives_checkpoints() const override { return params.checkpoints; }
  [[nodiscard]] std::chrono::milliseconds grace() const override {
    return std::chrono::ceil<std::chrono::milliseconds>(params.grace);
  }
  [[nodiscard]] evaluator_metrics metrics() const override {
    return {.of = "the program"};
  }
  [[nodiscard]] expected<void> check_machine() const override;
  [[nodiscard]] expected<std::unique_ptr<fitness_function>>
  make(evaluator_setup setup) const override {
    return make_command({.params = params,
                         .space = std::move(setup.space),
                         .problem = std::move(setup.problem),
                         .goal = std::move(setup.goal),
                         .host = std::move(setup.host)});
  }
};

void command_spec::visit(own_keys& v) {
  const command_params usual;
  v.list(describe("run", "The program and its arguments, such as [\"python3\", "
                         "\"train.py\", \"--lr={learning_rate}\"]; no shell reads them."),
         params.run);
  v.folder(describe("directory", "Where it runs, on every machine that evaluates. Left "
                                 "out: the experiment file's folder. All candidates "
                                 "share it."),
           params.directory);
  v.unusual(describe("copy", "Each candidate runs in a copy of `directory` of its own, "
                             "removed afterwards; of 256 MiB at most."),
            params.copy, usual.copy);
  v.unusual_list(describe("preload",
                          "Modules of Python, such as [\"sklearn.svm\"], that are "
                          "loaded once and not by each candidate: on each slot one "
                          "Python loads them and forks for each candidate, whose script "
                          "finds them imported. `run` is then a Python, a script (or "
                          "\"-m\" and a module) and its arguments. The memory that the "
                          "modules take counts for each candidate."),
                 params.preload, usual.preload);
  v.texts(describe("environment", "Variables of the program, such as {OMP_NUM_THREADS = "
                                  "\"{cores}\"}."),
          params.environment);
  v.unusual(
      describe("metrics",
               "How it answers: \"last_line\" (the last JSON line of standard "
               "output), \"json_lines\" (the same, and each line with \"epoch\" is "
               "seen as it comes), \"tensorboard\" (the last value of each scalar "
               "in {tensorboard_folder}; each step of the objective's is an epoch), "
               "or a file of JSON, such as \"{work_folder}/metrics.json\", where "
               "epochs are seen as they come too."),
      params.metrics, usual.metrics);
  v.key(describe("epochs", "What a full evaluation is told as {epochs}; strategies with "
                           "rungs tell less, and stop a program that reports more."),
        params.epochs);
  v.unusual(describe("checkpoints",
                     "What the program leaves in {checkpoint_folder} is there again for "
                     "the candidate that goes on from it, after {start_epoch} epochs. "
                     "Without, it starts anew at each rung."),
            params.checkpoints, usual.checkpoints);
  v.table(describe("retry", "Exit statuses that are not the candidate's fault (none, if "
                            "they are not named; a killed program has 128 and its "
                            "signal), how often it is tried again, and after which "
                            "pause: {codes = [75, 137], times = 3, pause = \"10s\"}."),
          params.retry != usual.retry, [&](own_keys& inner) {
            inner.numbers(describe("codes", "Exit statuses."), params.retry.codes);
            inner.key(describe("times", "How often."), params.retry.times);
            inner.key(describe("pause", "How long before."), params.retry.pause);
          });
  v.unusual(describe("grace", "Whoever is to stop gets SIGTERM, and so long to save and "
                              "end, before it is killed."),
            params.grace, usual.grace);
  v.unusual(describe("isolate", "The program cannot read the run's keys, where the "
                                "system allows that (`clade doctor` says). false: it "
                                "can, and may use sudo and what else needs the machine's "
                                "own users."),
            params.isolate, usual.isolate);
}

expected<void> check_copied(const std::filesystem::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code failed;
  std::filesystem::recursive_directory_iterator at(folder, failed), end;
  for (; !failed && at != end; at.increment(failed)) {
    if (at->is_regular_file(failed) && !at->is_symlink(failed))
      bytes += at->file_size(failed);
    if (bytes > most_copied_bytes)
      return fail(error_kind::invalid_input,
                  fmt::format("directory {} has more than {}, too much to copy for each "
                              "candidate: name a smaller folder, or remove copy = true",
                              folder.string(), binary_size(most_copied_bytes)));
  }
  return failed ? fail(error_kind::io,
                       fmt::format("{}: {}", folder.string(), failed.message()))
                : expected<void>{};
}

expected<void> command_spec::check_machine() const {
  return program_file(params.run, params.directory)
      .and_then([&](auto&&) {
        return params.copy ? check_copied(params.directory) : expected<void>{};
      })
      .map_error([](error&& e) {
        return error{e.kind, "[command]: " + e.message};
      });
}

tl::unexpected<error> wrong(std::string message) {
  return fail(error_kind::invalid_input, std::move(message));
}

bool is_variable(const std::string& name) {
  return !name.empty() && name.find('=') == std::string::npos
         && name.find('\0') == std::string::npos;
}

expected<void> check_metrics(const command_params& params) {
  const auto& m = params.metrics;
  if (m == "last_line" || m == "json_lines" || m == "tensorboard")
    return {};
  if (m.find_first_of("./") == std::string::npos)
    return wrong(
        fmt::format("metrics is \"{}\": it must be \"last_line\", \"json_lines\", "
                    "\"tensorboard\" or a file, such as \"{{work_folder}}/metrics.json\"",
                    m));
  const auto names = placeholders_of(m);
  const bool own = std::ranges::any_of(names, [](const auto& name) {
    return name == "work_folder" || name == "candidate" || name == "checkpoint_folder";
  });
  if (!own && !params.copy)
    return wrong(fmt::format("metrics is a file that all candidates would write: write "
                             "\"{{work_folder}}/{}\", or have each candidate run in a "
                             "folder of its own by copy = true",
                             std::filesystem::path(m).filename().string()));
  return {};
}

bool is_module(const std::string& name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0
         && std::ranges::all_of(name, [](unsigned char c) {
              return std::isalnum(c) != 0 || c == '_' || c == '.' || c >= 0x80;
            });
}

expected<void> check_preload(const command_params& params) {
  if (params.preload.empty())
    return {};
  for (const auto& name : params.preload)
    if (!is_module(name))
      return wrong(fmt::format("preload has \"{}\", which is no module of Python", name));
  const auto& run = params.run;
  const auto program = std::filesystem::path(run.front()).filename().string();
  const bool is_python = program.starts_with("python") || program.starts_with("pypy");
  const bool runs_module = run.size() > 2 && run[1] == "-m";
  const bool runs_script = run.size() > 1 && !run[1].empty() && run[1].front() != '-';
  if (!is_python || !(runs_module || runs_script))
    return wrong(
        "preload wants run = [\"python3\", \"SCRIPT.py\", ...] or "
        "[\"python3\", \"-m\", \"MODULE\", ...], without options of Python's own: "
        "the Python is started once for all candidates");
  return {};
}

std::string in_braces(const std::string& name) {
  return fmt::format("{{{}}}", name);
}

/// Why this name, which stands in braces in `key`, cannot be filled in; empty if it can.
std::string trouble_with(const std::string& name, const command_params& params,
                         const search_space& space, const problem* networks) {
  const auto& words = placeholder_words();
  const auto& searched = space.rules.hyperparameters;
  const bool is_word = std::ranges::find(words, name) != words.end();
  const bool is_searched =
      std::ranges::find(searched, name, &parameter::name) != searched.end();
  if (is_word && is_searched)
    return fmt::format("{}, which is a hyperparameter of {} and a word of Clade's: "
                       "rename the hyperparameter",
                       in_braces(name), space.name);
  if (name == "checkpoint_folder" && !params.checkpoints)
    return "{checkpoint_folder}, which is there with checkpoints = true alone";
  if (name == "tensorboard_folder" && params.metrics != "tensorboard")
    return "{tensorboard_folder}, which is there with metrics = \"tensorboard\" alone";
  if (name == "python_file" || name == "onnx_file") {
    if (space.rules.max_nodes == 0)
      return fmt::format("{}, a network, but {} has no layers", in_braces(name),
                         space.name);
    if (networks == nullptr)
      return in_braces(name)
             + ", a network, and nobody says of which inputs and outputs: add [data] "
               "with "
               "shape and classes, such as shape = [16] and classes = 3";
  }
  if (is_word || is_searched)
    return "";
  std::string known;
  for (const auto& h : searched)
    known += in_braces(h.name) + ", ";
  for (const auto& word : words)
    known += in_braces(word) + (word == words.back() ? "" : ", ");
  return fmt::format(
      "{}, which is nothing; there are {}; write {{{}}} for the braces themselves",
      in_braces(name), known, in_braces(name));
}

} // namespace

expected<void> validate(const command_params& params) {
  if (params.run.empty() || params.run.front().empty())
    return wrong("run is missing: the program that scores a candidate, run = "
                 "[\"python3\", \"score.py\"]");
  for (const auto& word : params.run)
    if (word.find('\0') != std::string::npos)
      return wrong("run has a word with a zero character");
  if (!placeholders_of(params.run.front()).empty())
    return wrong(
        fmt::format("run begins with {}, but the program is the same for all candidates",
                    params.run.front()));
  for (const auto& [name, text] : params.environment)
    if (!is_variable(name) || text.find('\0') != std::string::npos)
      return wrong(fmt::format("environment has \"{}\", which is no variable", name));
  if (params.epochs == 0)
    return wrong("epochs is 0: at least 1");
  if (params.retry.times > most_retries)
    return wrong(fmt::format("retry.times is {}: at most 100", params.retry.times));
  for (const auto code : params.retry.codes)
    if (code == 0 || code > 255)
      return wrong(fmt::format("retry.codes has {}: from 1 to 255", code));
  if (params.retry.pause < 0s || params.retry.pause > 24h)
    return wrong("retry.pause must be from 0s to 24h");
  if (params.grace < 0s || params.grace > longest_grace)
    return wrong("grace must be from 0s to 10min");
  return check_preload(params).and_then([&] { return check_metrics(params); });
}

expected<void> check_placeholders(const command_params& params, const search_space& space,
                                  const problem* networks) {
  const auto check = [&](const std::string& key,
                         const std::string& text) -> expected<void> {
    for (const auto& name : placeholders_of(text))
      if (const auto trouble = trouble_with(name, params, space, networks);
          !trouble.empty())
        return wrong(fmt::format("{} has {}", key, trouble));
    return {};
  };
  for (const auto& word : params.run)
    if (auto right = check("run", word); !right)
      return right;
  for (const auto& [name, text] : params.environment)
    if (auto right = check("environment", text); !right)
      return right;
  return check("metrics", params.metrics);
}

std::shared_ptr<const evaluator_spec> make_command_spec() {
  return std::make_shared<command_spec>();
}

} // namespace clade
