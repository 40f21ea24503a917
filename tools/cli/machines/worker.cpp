#include "actors/transport/link/endpoint.hpp"
#include "actors/transport/link/network_address.hpp"
#include "actors/transport/tls/keys.hpp"
#include "engine/queue/queue_state.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/cli/queue/queue_option.hpp"
#include "tools/cli/queue/queue_worker.hpp"
#include "tools/machine/slots.hpp"
#include "tools/machine/supervisor.hpp"

#include <iostream>
#include <memory>

namespace clade {

namespace {

struct worker_options {
  std::string connect;
  std::filesystem::path keys;
  std::string slots = "auto";
  std::string name;
  std::string give_up = "10min";
  std::string grace, log_limit = "1GiB", idle;
  std::uint64_t id = 0;
  bool local = false;
  std::filesystem::path logs;
  std::filesystem::path queue, folder;
};

std::string host_name() {
  const auto name = own_name();
  return name.empty() ? "worker" : name;
}

/// Returns the grace of a run's worker, such that positions can be kept within the 30 s
/// that SLURM and Kubernetes give.
expected<std::chrono::milliseconds> grace_of(const worker_options& options) {
  const char* usual = options.queue.empty() ? "15s" : "30s";
  return parse_time("--grace", options.grace.empty() ? usual : options.grace);
}

expected<int> supervise(const worker_options& options) {
  auto slots = parse_slots(options.slots);
  if (!slots)
    return tl::unexpected(slots.error());
  if (slots->empty())
    return fail(error_kind::invalid_input,
                "slots \"none\": a worker must have one at least");
  // A mistake that every node process would make is said once.
  if (auto heads = parse_endpoints(options.connect); !heads)
    return tl::unexpected(heads.error());
  if (auto keys = find_keys(options.keys); !keys)
    return tl::unexpected(keys.error());
  const auto grace = grace_of(options);
  const auto give_up = parse_time("--give-up", options.give_up);
  if (!grace || !give_up)
    return tl::unexpected(grace ? give_up.error() : grace.error());
  const node_command command{
      .program = own_program(),
      .connect = options.connect,
      .keys = options.keys,
      .name = options.local ? "" : (options.name.empty() ? host_name() : options.name),
      .worker = options.id != 0 ? options.id : drawn_worker(),
      .grace = *grace,
      .give_up = options.local ? std::chrono::milliseconds(0) : *give_up,
      .logs = options.logs};
  const auto seen = look_at_machine();
  supervisor_params params{.slots = {},
                           .grace = *grace,
                           .memory_share = seen ? seen->memory_total / slots->size() : 0};
  for (const auto& s : *slots)
    params.slots.push_back(node_process(command, s));
  if (!options.local)
    std::cout << command.name << " offers " << slots_in_words(slots->size())
              << " to the run at " << options.connect << std::endl;
  return supervisor(std::move(params)).keep_alive();
}

int work(const worker_options& options) {
  if (!options.queue.empty()) {
    const auto grace = grace_of(options);
    const auto log_bytes = read_log_limit(options.log_limit);
    const auto idle = read_idle(options.idle);
    if (!grace || !log_bytes || !idle)
      return report(!grace       ? grace.error()
                    : !log_bytes ? log_bytes.error()
                                 : idle.error());
    const auto served =
        work_for_queue({.queue = options.queue,
                        .folder = options.folder,
                        .slots = options.slots,
                        .name = options.name.empty() ? host_name() : options.name,
                        .grace = *grace,
                        .log_bytes = *log_bytes,
                        .idle = *idle});
    return served ? 0 : report(served.error());
  }
  if (options.connect.empty() || options.keys.empty())
    return report(
        {error_kind::invalid_input,
         "a worker of a run needs --connect HOST:PORT and --keys FOLDER; one of "
         "a queue --queue FOLDER"});
  const auto status = supervise(options);
  return status ? *status : report(status.error());
}

} // namespace

void add_worker(CLI::App& app, command& chosen) {
  auto options = std::make_shared<worker_options>();
  auto* sub = app.add_subcommand(
      "worker",
      "Offer this machine's devices to a run, or to a queue: --connect, or --queue");
  sub->add_option("--connect", options->connect,
                  "HOST:PORT of the run; several with commas between are tried in turn");
  sub->add_option("--keys", options->keys,
                  "Bundle of keys: runs/RUN/keys/worker, or of clade keys worker");
  sub->add_option(
      "--queue", options->queue,
      "Instead of these two, to run what is in a queue: the folder that clade "
      "serve --add-user NAME --role worker has written");
  sub->add_option("--folder", options->folder,
                  "Of a queue's worker: where it has logs and runs; otherwise "
                  "QUEUE/machines/NAME");
  sub->add_option(
         "--slots", options->slots,
         "auto, a number of CPU slots, or GPUs: cuda, cuda:0,cuda:1, cuda:0*2 for two on "
         "one card")
      ->capture_default_str();
  sub->add_option("--name", options->name,
                  "What its slots are called in the run, or the machine in the queue; "
                  "otherwise the host's name");
  sub->add_option("--give-up", options->give_up,
                  "How long to look for a head that is not there before it ends")
      ->capture_default_str();
  sub->add_option(
      "--grace", options->grace,
      "At SIGTERM, how long what is in training may take to finish; otherwise "
      "15s, and 30s of a queue's worker");
  add_log_limit_option(*sub, options->log_limit);
  add_idle_option(*sub, options->idle);
  // The option is for the worker that a run starts for itself.
  sub->add_option("--id", options->id)->group("");
  sub->add_flag("--local", options->local)->group("");
  sub->add_option("--logs", options->logs)->group("");
  sub->footer(
      "Training goes on while the connection is lost, and results wait for the head, or\n"
      "for `clade resume` on the same address. SIGTERM drains: what is in training is\n"
      "finished within the grace, or keeps where it stands on this machine's disk and "
      "is\n"
      "handed back, and the worker leaves; a second one ends it at once.");
  sub->callback([&chosen, options] { chosen = [options] { return work(*options); }; });
}

} // namespace clade
