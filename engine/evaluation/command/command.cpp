#include "engine/evaluation/command/command.hpp"

#include "engine/evaluation/command/program.hpp"
#include "genome/hash.hpp"
#include "genome/json_depth.hpp"
#include "genome/random.hpp"
#include "genome/utf8.hpp"

#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace clade {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t most_metrics = 256, longest_name = 128, longest_line = 300;

// -- what the program reads

json settings_json(const std::vector<setting>& settings) {
  json out = json::object();
  for (const auto& s : settings)
    out[s.name] = std::visit([](const auto& v) { return json(v); }, s.value);
  return out;
}

/// As `genome_from_json` (tools/serve) reads it.
json genome_json(const genome& g) {
  std::map<innovation, std::size_t> places;
  const auto inputs_of = [&](innovation node) {
    std::vector<std::size_t> inputs;
    for (const auto& e : g.edges)
      if (e.to == node && e.enabled && !e.recurrent && places.contains(e.from))
        inputs.push_back(places.at(e.from));
    std::ranges::sort(inputs);
    return inputs;
  };
  json layers = json::array(), output;
  for (const auto id : topological_order(g)) {
    const auto& node = *find_node(g, id);
    json one{{"inputs", inputs_of(id)}, {"settings", settings_json(node.settings)}};
    if (id == output_innovation) {
      output = std::move(one);
      continue;
    }
    places.emplace(id, places.size());
    if (id == input_innovation)
      continue;
    one["op"] = node.op;
    layers.push_back(std::move(one));
  }
  return {{"layers", std::move(layers)}, {"output", std::move(output)}};
}

/// Fits every library's generator, and JSON's numbers.
std::uint64_t seed_of(const job& j) {
  const auto network = canonical_hash(j.genome);
  return derive(j.seed, purpose::training, network.high, network.low).next() >> 33;
}

// -- what it answers

void fail_with(evaluation& e, outcome o, std::string reason) {
  e.outcome = o;
  e.reason = std::move(reason);
  e.metrics.clear();
}

std::string_view trimmed(std::string_view line) {
  const auto first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos)
    return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

/// The last line of which `wanted` is true; empty if there is none.
template<class Predicate>
std::string_view last_line(std::string_view text, Predicate wanted) {
  while (!text.empty()) {
    const auto begin = text.rfind('\n');
    const auto line =
        trimmed(text.substr(begin == std::string_view::npos ? 0 : begin + 1));
    if (wanted(line))
      return line;
    text = text.substr(0, begin == std::string_view::npos ? 0 : begin);
  }
  return {};
}

/// ": ValueError: no such layer", of what the program wrote to standard error.
std::string last_words(const std::string& errors) {
  const auto line = last_line(errors, [](std::string_view l) { return !l.empty(); });
  return line.empty() ? "" : ": " + plain_text(line.substr(0, longest_line));
}

/// Some languages write NaN and Infinity, which are no JSON; null stands for them then.
std::string without_infinities(std::string_view line) {
  std::string out;
  bool in_text = false;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t length = 0;
    if (!in_text)
      for (const std::string_view word : {"NaN", "-Infinity", "Infinity"})
        if (line.substr(at).starts_with(word))
          length = std::max(length, word.size());
    if (length > 0) {
      out += "null";
      at += length;
      continue;
    }
    if (line[at] == '\\' && at + 1 < line.size())
      out += line[at++];
    else if (line[at] == '"')
      in_text = !in_text;
    out += line[at++];
  }
  return out;
}

json parse_answer(std::string_view output) {
  const auto line = last_line(
      output, [](std::string_view l) { return l.starts_with('{') && l.ends_with('}'); });
  if (!nests_within(line))
    return json(json::value_t::discarded);
  return json::parse(without_infinities(line), nullptr, false);
}

void read_metrics(const json& answer, evaluation& e) {
  if (answer.is_discarded() || answer.empty() || answer.size() > most_metrics)
    return fail_with(e, outcome::invalid,
                     "the program answered with no line of metrics, such as "
                     "{\"validation.accuracy\": 0.93}");
  for (const auto& [name, number] : answer.items()) {
    if (name.empty() || name.size() > longest_name || !is_plain_text(name))
      return fail_with(e, outcome::invalid,
                       "the program named a metric \""
                           + plain_text(name.substr(0, longest_name))
                           + "\": a name has 1 to 128 characters");
    if (number.is_null())
      return fail_with(e, outcome::diverged, name + " is not finite");
    if (!number.is_number())
      return fail_with(e, outcome::invalid, name + " is no number");
    e.metrics.push_back({name, number.get<double>()});
  }
  std::ranges::sort(e.metrics, {}, &metric::name);
}

void check_objective(const objective& goal, evaluation& e) {
  std::vector<std::string> asked;
  for (const auto& a : aims_of(goal))
    asked.push_back(a.metric);
  for (const auto& c : goal.constraints)
    asked.push_back(c.metric);
  for (const auto& name : asked)
    if (!measured(e, name)) {
      std::string all;
      for (const auto& m : e.metrics)
        all += (all.empty() ? "" : ", ") + m.name;
      return fail_with(e, outcome::invalid,
                       "the program's answer lacks " + name
                           + ", which the objective names; it has "
                           + all.substr(0, longest_line));
    }
}

// -- the evaluator

class command_fitness final : public fitness_function {
public:
  explicit command_fitness(command_setup setup) : setup_(std::move(setup)) {}

  expected<void> warm_up() override {
    return program_file(setup_.params.run, setup_.params.directory).map([](auto&&) {});
  }

  evaluated_job evaluate(const job& j, progress& p) override {
    const auto start = std::chrono::steady_clock::now();
    evaluated_job result;
    auto& e = result.evaluation;
    e.id = j.id;
    score(j, p, e);
    e.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (e.outcome == outcome::succeeded) {
      e.curve.push_back({j.budget.epochs, e.metrics, e.seconds});
      p.report(e.curve.back());
    }
    return result;
  }

  /// A program has no test data that Clade knows of.
  expected<examination> examine(const job& j, const bytes&) override {
    return decode(setup_.space, j.genome, setup_.problem).map([&](const network& n) {
      examination e;
      e.id = j.id;
      e.parameters = n.cost().parameters;
      return e;
    });
  }

private:
  void score(const job& j, const progress& p, evaluation& e) const;

  command_setup setup_;
};

/// What the program's end says; its answer is read only where this leaves a success.
void read_end(const program_result& done, const budget& b, evaluation& e) {
  switch (done.end) {
  case program_end::timed_out:
    return fail_with(e, outcome::timed_out,
                     "takes longer than " + std::to_string(b.time.count()) + " ms");
  case program_end::out_of_memory:
    return fail_with(e, outcome::out_of_memory,
                     "the program took more than " + std::to_string(b.memory_bytes >> 20)
                         + " MiB");
  case program_end::unwanted:
    return fail_with(e, outcome::dropped, "stopped, as nobody wants its score");
  case program_end::by_itself:
    break;
  }
  if (WIFSIGNALED(done.status))
    fail_with(e, outcome::crashed,
              std::string("the program was killed (") + ::strsignal(WTERMSIG(done.status))
                  + ")" + last_words(done.errors));
  else if (WEXITSTATUS(done.status) != 0)
    fail_with(e, outcome::crashed,
              "the program ended with status " + std::to_string(WEXITSTATUS(done.status))
                  + last_words(done.errors));
}

void command_fitness::score(const job& j, const progress& p, evaluation& e) const {
  const auto decoded = decode(setup_.space, j.genome, setup_.problem);
  if (!decoded)
    return fail_with(e, outcome::invalid, decoded.error().message);
  e.parameters = decoded->cost().parameters;
  const auto done = run_program({.command = setup_.params.run,
                                 .directory = setup_.params.directory,
                                 .input = command_input(j),
                                 .time = j.budget.time,
                                 .memory_bytes = j.budget.memory_bytes,
                                 .wanted = [&] { return p.wanted(); }});
  if (!done)
    return fail_with(e, outcome::invalid, done.error().message);
  read_end(*done, j.budget, e);
  if (e.outcome == outcome::succeeded)
    read_metrics(parse_answer(done->output), e);
  if (e.outcome == outcome::succeeded)
    check_objective(setup_.goal, e);
}

constexpr evaluator_traits command_traits{
    .name = "command",
    .does = "has a program of yours score each candidate",
    .title =
        "Scores of a program of yours, with fitness = \"command\". It reads a "
        "candidate as a JSON object from standard input, {\"candidate\", \"seed\", "
        "\"epochs\", \"hyperparameters\", \"genome\"}, and answers with its metrics "
        "as the last JSON line of standard output, {\"validation.accuracy\": 0.93}; "
        "[objective] names one of them. A status other than 0 is a failed candidate.",
    .experiment = "an experiment that runs a command",
    .run = "a run of a command",
    .repeatable = false,
};

class command_spec final : public evaluator_spec_of<command_params> {
public:
  [[nodiscard]] const evaluator_traits& traits() const override { return command_traits; }
  [[nodiscard]] std::unique_ptr<evaluator_spec> clone() const override {
    return std::make_unique<command_spec>(*this);
  }
  void visit(own_keys& v) override {
    v.list(describe("run", "The program and its arguments, such as [\"python3\", "
                           "\"score.py\"]; no shell reads them."),
           params.run);
    v.folder(describe("directory", "Where it runs, on every machine that evaluates. Left "
                                   "out: the experiment file's folder."),
             params.directory);
    v.key(describe("epochs", "What a full evaluation is told as \"epochs\"; strategies "
                             "with rungs tell less."),
          params.epochs);
  }
  [[nodiscard]] expected<void> validate() const override {
    return clade::validate(params);
  }
  void forget_places() override { params.directory.clear(); }
  [[nodiscard]] std::uint32_t epochs() const override { return params.epochs; }
  [[nodiscard]] evaluator_metrics metrics() const override {
    return {.of = "the program"};
  }
  [[nodiscard]] expected<void> check_machine() const override {
    return program_file(params.run, params.directory)
        .map([](auto&&) {})
        .map_error([](error&& e) {
          return error{e.kind, "[command]: " + e.message};
        });
  }
  [[nodiscard]] expected<std::unique_ptr<fitness_function>>
  make(evaluator_setup setup) const override {
    return make_command({.params = params,
                         .space = std::move(setup.space),
                         .problem = std::move(setup.problem),
                         .goal = std::move(setup.goal)});
  }
};

} // namespace

expected<void> validate(const command_params& params) {
  if (params.run.empty() || params.run.front().empty())
    return fail(error_kind::invalid_input,
                "run is missing: the program that scores a candidate, run = "
                "[\"python3\", \"score.py\"]");
  for (const auto& word : params.run)
    if (word.find('\0') != std::string::npos)
      return fail(error_kind::invalid_input, "run has a word with a zero character");
  if (params.epochs == 0)
    return fail(error_kind::invalid_input, "epochs is 0: at least 1");
  return {};
}

std::string command_input(const job& j) {
  return json{{"candidate", j.id},
              {"seed", seed_of(j)},
              {"epochs", j.budget.epochs},
              {"hyperparameters", settings_json(j.genome.hyperparameters)},
              {"genome", genome_json(j.genome)}}
             .dump()
         + "\n";
}

std::unique_ptr<fitness_function> make_command(command_setup setup) {
  return std::make_unique<command_fitness>(std::move(setup));
}

std::shared_ptr<const evaluator_spec> make_command_spec() {
  return std::make_shared<command_spec>();
}

} // namespace clade
