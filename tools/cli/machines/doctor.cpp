#include "actors/node/node_work.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/doctor/device_checks.hpp"
#include "tools/doctor/fleet_checks.hpp"
#include "tools/doctor/machine_checks.hpp"
#include "tools/queue/head/queue_checks.hpp"
#include "tools/run/run_files.hpp"

#include <iostream>
#include <memory>

namespace clade {

namespace {

struct doctor_options {
  std::string slots = "auto";
  std::filesystem::path runs = "runs";
  std::string run;
  std::string connect;
  std::filesystem::path keys;
  std::string listen;
  std::filesystem::path queue;
  std::string products_of; ///< The device of a process that this command starts.
  bool json = false;
};

void add(std::vector<finding>& all, std::vector<finding> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

expected<std::vector<finding>> look(const doctor_options& options) {
  if (!options.connect.empty() && options.keys.empty())
    return fail(error_kind::invalid_input,
                "--connect is looked at with keys: --keys BUNDLE, such as "
                "runs/RUN/keys/worker");
  const auto slots = parse_slots(options.slots);
  if (!slots && slots.error().kind == error_kind::invalid_input)
    return tl::unexpected(slots.error());
  std::optional<std::filesystem::path> run;
  if (!options.run.empty()) {
    const auto found = find_run(options.run);
    if (!found)
      return tl::unexpected(found.error());
    run = *found;
  }
  std::vector<finding> all{{"clade", health::good, CLADE_VERSION}};
  add(all, check_resources());
  if (slots)
    add(all, check_devices(*slots));
  else
    all.push_back({"slots", health::broken, slots.error().message,
                   "what takes no GPU goes on with --slots cpu:1"});
  all.push_back(check_disk(run.value_or(options.runs)));
  all.push_back(check_control_groups());
  all.push_back(check_isolation());
  add(all, check_limits());
  all.push_back(check_clock());
  if (!options.listen.empty())
    all.push_back(check_port(options.listen));
  if (!options.connect.empty())
    add(all, check_heads(options.connect, options.keys));
  else if (!options.keys.empty())
    all.push_back(check_keys(options.keys));
  if (run)
    add(all, check_workers(*run));
  if (!options.queue.empty())
    add(all, check_queue(options.queue, CLADE_VERSION));
  return all;
}

int examine(const doctor_options& options) {
  if (!options.products_of.empty())
    return serve_products(options.products_of, training_module());
  const auto findings = look(options);
  if (!findings)
    return report(findings.error());
  const auto is = worst(*findings);
  if (options.json)
    std::cout << to_json(*findings) << "\n";
  else
    std::cout << to_text(*findings)
              << (is == health::good   ? "all is well"
                  : is == health::poor ? "it works; what is poor could be better"
                                       : "what is broken stops runs: see the advice")
              << std::endl;
  return is == health::broken ? 1 : 0;
}

} // namespace

void add_doctor(CLI::App& app, command& chosen) {
  auto options = std::make_shared<doctor_options>();
  auto* sub = app.add_subcommand(
      "doctor", "Look whether this installation, and a fleet, work as they should");
  sub->add_option("run", options->run,
                  "A live run, whose workers are looked at too: its folder, or its name "
                  "for the latest one");
  sub->add_option(
         "--slots", options->slots,
         "What is computed on: auto, a number of CPU slots, or GPUs, as of clade "
         "run")
      ->capture_default_str();
  sub->add_option("--runs", options->runs, "Folder whose disk is measured")
      ->envname("CLADE_RUNS")
      ->capture_default_str();
  sub->add_option("--connect", options->connect,
                  "HOST:PORT of a run that a worker here is to join: asks whether it is "
                  "let in");
  sub->add_option("--keys", options->keys, "Bundle of keys for that");
  sub->add_option("--listen", options->listen,
                  "ADDRESS:PORT that a run here is to listen at");
  sub->add_option(
      "--queue", options->queue,
      "A queue: whether its server can be asked from here, and how its machines "
      "are. The folder of clade serve, or the one that a user was given");
  sub->add_flag("--json", options->json, "One JSON object, for programs");
  sub->add_option("--products-of", options->products_of)->group("");
  sub->footer(
      "Multiplies matrices on each slot, and on two at once, measures the disk, and "
      "looks at\nlimits, clock, keys and ports. Exit status 0: it works (what is "
      "\"poor\" could be better);\n1: something is broken; 2: an option is wrong.");
  sub->callback([&chosen, options] { chosen = [options] { return examine(*options); }; });
}

} // namespace clade
