#include "actors/remote.hpp"
#include "tools/command.hpp"
#include "tools/slots.hpp"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>

namespace clade {

namespace {

struct node_options {
  std::string connect;
  std::filesystem::path keys;
  std::string slot;
  std::string device = "cpu";
  std::uint64_t memory = 0;
  std::string label;
};

expected<node_end> live(const node_options& options) {
  // Should memory run out, the kernel is to end a node, which is replaced, and not the
  // head. Not being allowed to say so is no reason not to train.
  std::ofstream("/proc/self/oom_score_adj") << 1000;
  auto head = parse_endpoint(options.connect);
  if (!head)
    return tl::unexpected(head.error());
  auto keys = find_keys(options.keys, "worker");
  if (!keys)
    return tl::unexpected(keys.error());
  return run_node({.head = *head,
                   .keys = *keys,
                   .build = CLADE_VERSION,
                   .slot = options.slot,
                   .device = options.device,
                   .memory_bytes = options.memory,
                   .label = options.label});
}

int status_of(const expected<node_end>& end) {
  if (end)
    return static_cast<int>(*end);
  const int status = report(end.error());
  return end.error().kind == error_kind::refused ? static_cast<int>(node_end::connection)
                                                 : status;
}

// The process ends without destructors: a stuck trainer could not be joined.
[[noreturn]] void live_and_exit(const node_options& options) {
  const int status = status_of(live(options));
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
  sub->add_option("--memory", options->memory, "Bytes that a candidate may take there");
  sub->add_option("--label", options->label, "The device's name, for people");
  sub->callback(
      [&chosen, options] { chosen = [options]() -> int { live_and_exit(*options); }; });
}

} // namespace clade
