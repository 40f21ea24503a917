#include "actors/node/node_process.hpp"
#include "engine/training/asked/arithmetic.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/machine/program_groups.hpp"
#include "tools/machine/signal_origin.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <tuple>
#include <vector>

namespace clade {

namespace {

struct node_options {
  std::string connect;
  std::filesystem::path keys;
  std::string slot;
  std::string device = "cpu";
  std::string label;
  std::uint64_t memory = 0;
  std::uint64_t worker = 0;
  std::uint64_t session = 0;
  std::vector<std::string> former;
  std::int64_t grace = 30'000;
  std::int64_t give_up = 600'000;
  int pulse = -1;
  std::filesystem::path logs;
};

/// Parses "SESSION:OWN DOING, 0 or 1:HOW", which a supervisor writes.
former_process parse_former(const std::string& text) {
  const auto first = text.find(':');
  const auto second = text.find(':', first + 1);
  if (second == std::string::npos)
    return {};
  return {.session = std::strtoull(text.c_str(), nullptr, 10),
          .own_doing = text.substr(first + 1, second - first - 1) == "1",
          .how = text.substr(second + 1)};
}

/// The folder of all keys that lie with this bundle: those of a run are side by side.
std::filesystem::path folder_of_keys(const std::filesystem::path& bundle) {
  std::error_code unknown;
  const auto own = std::filesystem::canonical(bundle, unknown);
  const bool of_run =
      own.filename() == "worker"
      && std::filesystem::is_directory(own.parent_path() / "head", unknown);
  return of_run ? own.parent_path() : own;
}

expected<node_end> live(const node_options& options) {
  // Should memory run out, the kernel is to end a node, which is replaced, and not the
  // head. Not being allowed to say so is no reason not to train.
  std::ofstream("/proc/self/oom_score_adj") << 1000;
  auto heads = parse_endpoints(options.connect);
  if (!heads)
    return tl::unexpected(heads.error());
  auto keys = find_keys(options.keys);
  if (!keys)
    return tl::unexpected(keys.error());
  if (options.pulse >= 0)
    tell_sent_signals(options.pulse);
  std::vector<former_process> former;
  for (const auto& text : options.former)
    former.push_back(parse_former(text));
  // A full pipe is one that nobody reads: the worker is stopped.
  const auto pulse = [descriptor = options.pulse] {
    std::ignore = ::write(descriptor, ".", 1);
  };
  const auto joined = [&] {
    std::cerr << "clade node " << options.slot << ": takes part in the run" << std::endl;
  };
  return run_node(
      {.heads = *heads,
       .keys = *keys,
       .build = CLADE_VERSION,
       .node = {.slot = options.slot,
                .device = options.device,
                .label = options.label.empty() && options.device == "cpu"
                             ? processor_text()
                             : options.label,
                .memory_bytes = options.memory,
                .worker = options.worker,
                .session = options.session,
                .former = std::move(former),
                .grace = std::chrono::milliseconds(options.grace),
                .pulse = options.pulse < 0 ? std::function<void()>{} : pulse,
                .joined = options.give_up == 0 ? std::function<void()>{} : joined,
                .programs = {.logs = options.logs,
                             .hidden = {folder_of_keys(options.keys)},
                             .groups = [] { return prepare_program_groups(); }}},
       .give_up = std::chrono::milliseconds(options.give_up)});
}

int status_of(const expected<node_end>& end, const node_options& options) {
  if (end)
    return static_cast<int>(*end);
  const int status = report(end.error());
  if (end.error().kind != error_kind::refused)
    return status;
  // One whose worker ends with its head may well be started again.
  return static_cast<int>(options.give_up == 0 ? node_end::connection : node_end::lonely);
}

// The process ends without destructors: a stuck trainer could not be joined.
[[noreturn]] void live_and_exit(const node_options& options) {
  const int status = status_of(live(options), options);
  std::fflush(nullptr);
  ::_exit(status);
}

} // namespace

void add_node(CLI::App& app, command& chosen) {
  auto options = std::make_shared<node_options>();
  auto* sub =
      app.add_subcommand("node", "One device slot's process; clade worker starts it");
  sub->group(""); // Not listed: nobody starts it by hand.
  sub->add_option("--connect", options->connect, "HOST:PORT of the run")->required();
  sub->add_option("--keys", options->keys, "Folder with the keys")->required();
  sub->add_option("--slot", options->slot, "The slot's name")->required();
  sub->add_option("--device", options->device, "cpu or cuda:0")->capture_default_str();
  sub->add_option("--label", options->label, "What the device is");
  sub->add_option("--memory", options->memory, "Bytes that a candidate may take");
  sub->add_option("--worker", options->worker, "A number of the worker's own");
  sub->add_option("--session", options->session, "The worker's number for it");
  sub->add_option("--former", options->former, "How an earlier process ended");
  sub->add_option("--grace", options->grace, "Milliseconds to finish in when it drains");
  sub->add_option("--give-up", options->give_up, "Milliseconds to look for the head");
  sub->add_option("--pulse", options->pulse, "Descriptor to write to each second");
  sub->add_option("--logs", options->logs, "Folder for logs of programs");
  sub->callback(
      [&chosen, options] { chosen = [options]() -> int { live_and_exit(*options); }; });
}

} // namespace clade
