#include "tools/command.hpp"
#include "tools/slots.hpp"
#include "tools/supervisor.hpp"

#include <iostream>
#include <memory>

namespace clade {

namespace {

struct worker_options {
  std::string connect;
  std::filesystem::path keys;
  std::string slots = "auto";
};

int supervise(const worker_options& options) {
  auto slots = parse_slots(options.slots);
  if (!slots)
    return report(slots.error());
  if (slots->empty())
    return report(
        {error_kind::invalid_input, "slots \"none\": a worker must have one at least"});
  std::vector<process_params> nodes;
  for (const auto& s : *slots)
    nodes.push_back(node_process(
        {.program = own_program(), .connect = options.connect, .keys = options.keys}, s));
  auto status = supervisor(std::move(nodes)).keep_alive();
  return status ? *status : report(status.error());
}

} // namespace

void add_worker(CLI::App& app, command& chosen) {
  auto options = std::make_shared<worker_options>();
  auto* sub = app.add_subcommand(
      "worker",
      "Offer this machine's devices to a run: one node process for each slot, started "
      "again when it dies");
  sub->add_option("--connect", options->connect, "HOST:PORT of the run")->required();
  sub->add_option("--keys", options->keys, "Folder with ca.pem and worker/{cert,key}.pem")
      ->required();
  sub->add_option(
         "--slots", options->slots,
         "auto, a number of CPU slots, or GPUs: cuda, cuda:0,cuda:1, cuda:0*2 for two on "
         "one card")
      ->capture_default_str();
  sub->callback(
      [&chosen, options] { chosen = [options] { return supervise(*options); }; });
}

} // namespace clade
