// Training steps of six networks, by Clade and by PyTorch in Python, which take turns:
// an epoch of the one, an epoch of the other, with one thread each. The other work of the
// machine meets both alike; the medians are compared.
#include "tools/bench/bench_step.hpp"

#include "actors/node/node_work.hpp"
#include "engine/report/base/format.hpp"
#include "tools/bench/step_networks.hpp"
#include "tools/bench/step_peer.hpp"
#include "tools/machine/slots.hpp"
#include "tools/serve/genome_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>

namespace clade {

namespace {

namespace fs = std::filesystem;

struct step_options {
  std::string python = "build/venv/bin/python";
  fs::path script = "tools/bench/torch_step.py";
  fs::path runs = "runs";
  std::string only;
  std::string precision = "float32";
  std::uint64_t turns = 7;
  bool eager_alone = false;
  bool contiguous = false;
};

/// Images or rows a second, in the median of the turns; 0 where there was no peer.
struct step_row {
  double clade = 0, eager = 0, compiled = 0;
  std::string compile_failure{}; ///< Why there is no `compiled`; empty: none was wanted.
};

/// How many times as fast Clade is.
double ratio_to(double peer, const step_row& row) {
  return peer > 0 ? row.clade / peer : 0;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const auto n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// Examples beside those of an epoch, for validation and test.
constexpr std::int64_t spare_examples = 20;

struct measured_network {
  step_network network;
  clade::genome genome;
  std::unique_ptr<fitness_function> trainer;
};

expected<measured_network> prepare(const step_options& options, const step_network& n,
                                   const fs::path& folder) {
  auto space = space_of(n);
  if (!space)
    return tl::unexpected(space.error());
  const auto genome =
      genome_from_json(n.description, *space, {.input = n.input, .outputs = n.outputs});
  if (!genome)
    return tl::unexpected(genome.error());
  const auto all = n.examples + spare_examples;
  if (auto written = write_noise(n, all, folder); !written)
    return tl::unexpected(written.error());
  const auto share = [&](std::int64_t of) {
    return static_cast<double>(of) / static_cast<double>(all);
  };
  training_setup setup;
  setup.training.patience = 0;
  setup.training.memory_format =
      options.contiguous ? memory_format::contiguous : memory_format::channels_last;
  setup.training.precision =
      options.precision == "bfloat16" ? float_format::bfloat16 : float_format::float32;
  setup.data.file = folder / "features.npy";
  setup.data.target_file = folder / "targets.npy";
  setup.data.shape = n.input;
  setup.data.layout = array_layout::channels_first;
  setup.data.train = share(n.examples);
  setup.data.validation = setup.data.test = share(spare_examples / 2);
  setup.space = std::move(*space);
  auto trainer = load_training(training_module(), setup);
  if (!trainer)
    return tl::unexpected(trainer.error());
  return measured_network{n, *genome, std::move(*trainer)};
}

/// The second epoch's seconds: the first makes what the second has already.
expected<double> epoch_of(const measured_network& n, std::uint64_t& parameters) {
  unheard_progress nobody;
  const job two_epochs{.id = 1, .genome = n.genome, .budget = {.epochs = 2}};
  const auto done = n.trainer->evaluate(two_epochs, nobody).evaluation;
  if (done.outcome != outcome::succeeded)
    return fail(error_kind::internal, fmt::format("{}: {}", n.network.name, done.reason));
  parameters = done.parameters;
  return done.curve.back().seconds;
}

expected<step_peer> start_peer(const step_options& options, const step_network& n,
                               const fs::path& folder, bool compile) {
  auto description = n.description;
  description["input"] = n.input.sizes;
  description["outputs"] = n.outputs;
  description["examples"] = n.examples;
  const auto file = folder / "network.json";
  std::ofstream(file) << description.dump();
  std::vector<std::string> command{options.python, "-W", "ignore", options.script, file};
  if (compile)
    command.emplace_back("--compile");
  return step_peer::start(command);
}

struct step_peers {
  std::optional<step_peer> eager, compiled;
  std::string compile_failure;
};

/// If nothing compiles, the peer is PyTorch eager alone.
expected<step_peers> start_peers(const step_options& options, const step_network& n,
                                 const fs::path& folder) {
  step_peers peers;
  if (options.python.empty())
    return peers;
  auto eager = start_peer(options, n, folder, false);
  if (!eager)
    return tl::unexpected(eager.error());
  peers.eager.emplace(std::move(*eager));
  if (options.eager_alone)
    return peers;
  auto compiled = start_peer(options, n, folder, true);
  if (compiled)
    peers.compiled.emplace(std::move(*compiled));
  else
    peers.compile_failure = compiled.error().message;
  return peers;
}

expected<void> take_turn(std::optional<step_peer>& peer, std::vector<double>& seconds) {
  if (!peer)
    return {};
  return peer->epoch().map([&](double s) { seconds.push_back(s); });
}

expected<step_row> measure(const step_options& options, const step_network& network,
                           const fs::path& folder) {
  auto n = prepare(options, network, folder);
  if (!n)
    return tl::unexpected(n.error());
  auto peers = start_peers(options, network, folder);
  if (!peers)
    return tl::unexpected(peers.error());
  std::vector<double> ours, of_eager, of_compiled;
  std::uint64_t parameters = 0;
  for (std::uint64_t turn = 0; turn < options.turns; ++turn) {
    const auto seconds = epoch_of(*n, parameters);
    if (!seconds)
      return tl::unexpected(seconds.error());
    ours.push_back(*seconds);
    const auto heard = take_turn(peers->eager, of_eager).and_then([&] {
      return take_turn(peers->compiled, of_compiled);
    });
    if (!heard)
      return tl::unexpected(heard.error());
  }
  if (peers->eager && peers->eager->parameters() != parameters)
    return fail(error_kind::internal,
                fmt::format("{}: the peer's network has {} parameters, Clade's {}",
                            network.name, peers->eager->parameters(), parameters));
  const auto rate = [&](const std::vector<double>& seconds) {
    return seconds.empty() ? 0.0
                           : static_cast<double>(network.examples) / median(seconds);
  };
  return step_row{rate(ours), rate(of_eager), rate(of_compiled),
                  std::move(peers->compile_failure)};
}

std::string rate_text(double rate) {
  return rate == 0 ? "-" : std::to_string(std::lround(rate));
}

std::string ratio_text(double ratio) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", ratio);
  return ratio == 0 ? "-" : text.data();
}

/// "least ratio to PyTorch eager 1.02, median 1.35"; nothing without ratios.
std::string summary_line(const char* peer, const std::vector<double>& ratios) {
  if (ratios.empty())
    return "";
  return fmt::format("least ratio to {} {}, median {}\n", peer,
                     ratio_text(*std::ranges::min_element(ratios)),
                     ratio_text(median(ratios)));
}

void print_rows(const step_options& options,
                const std::vector<std::pair<step_network, step_row>>& rows) {
  using align = table::align;
  table lines({align::left, align::left, align::right, align::right, align::right,
               align::right, align::right});
  lines.add({"network", "a second", "clade", "eager", "ratio", "compiled", "ratio"});
  std::vector<double> to_eager, to_faster;
  std::string failures;
  for (const auto& [network, row] : rows) {
    lines.add({network.name, network.unit, rate_text(row.clade), rate_text(row.eager),
               ratio_text(ratio_to(row.eager, row)), rate_text(row.compiled),
               ratio_text(ratio_to(row.compiled, row))});
    if (!row.compile_failure.empty())
      failures += fmt::format("{}: torch.compile failed: {}\n", network.name,
                              row.compile_failure);
    if (row.eager == 0)
      continue;
    to_eager.push_back(ratio_to(row.eager, row));
    to_faster.push_back(ratio_to(std::max(row.eager, row.compiled), row));
  }
  std::printf("one thread, %s, the median of %lu turns\n%s%s%s",
              options.precision.c_str(), options.turns, lines.to_text(2).c_str(),
              failures.c_str(), summary_line("PyTorch eager", to_eager).c_str());
  if (!options.eager_alone)
    std::printf("%s",
                summary_line("the faster of eager and compiled", to_faster).c_str());
}

expected<void> measure_all(const step_options& options, const fs::path& folder) {
  std::vector<std::pair<step_network, step_row>> rows;
  for (const auto& network : step_networks()) {
    if (!network.name.starts_with(options.only))
      continue;
    auto row = measure(options, network, folder);
    if (!row)
      return tl::unexpected(row.error());
    rows.emplace_back(network, std::move(*row));
    std::fprintf(stderr, "%s: done\n", network.name.c_str());
  }
  print_rows(options, rows);
  return {};
}

int bench_step(const step_options& options) {
  const auto slots = parse_slots("cpu:1");
  if (!slots)
    return report(slots.error());
  enter_environment(slots->front());
  const auto folder = options.runs / "bench-step";
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  const auto measured = measure_all(options, folder);
  fs::remove_all(folder, ignored);
  return measured ? 0 : report(measured.error());
}

} // namespace

void add_bench_step(CLI::App& bench, command& chosen) {
  auto o = std::make_shared<step_options>();
  auto* sub = bench.add_subcommand(
      "step", "Training steps of six networks, in turns with PyTorch in Python");
  sub->add_option("--python", o->python, "Python with PyTorch; \"\" for Clade alone")
      ->capture_default_str();
  sub->add_option("--script", o->script, "What Python runs")->capture_default_str();
  sub->add_flag("--eager-alone", o->eager_alone,
                "Without torch.compile, which takes minutes to compile");
  sub->add_option("--precision", o->precision,
                  "Of Clade's steps, \"float32\" or \"bfloat16\"; PyTorch's are float32")
      ->capture_default_str()
      ->check(CLI::IsMember({"float32", "bfloat16"}));
  sub->add_flag("--contiguous", o->contiguous,
                "Clade with memory_format = \"contiguous\", not \"channels_last\"");
  sub->add_option("--turns", o->turns, "Epochs of each, of which the median counts")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  sub->add_option("--only", o->only, "Networks whose name begins so, such as \"dense\"");
  sub->add_option("--runs", o->runs, "Where the data are for the time being")
      ->envname("CLADE_RUNS")
      ->capture_default_str();
  sub->callback([&chosen, o] { chosen = [o] { return bench_step(*o); }; });
}

} // namespace clade
