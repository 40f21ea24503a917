// `clade serve` makes a queue's folder what it must be, opens its store, listens, and then
// starts and ends entries until it is told to end.
#include "actors/transport/tls_guard.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/interrupts.hpp"
#include "tools/cli/queue_option.hpp"
#include "tools/machine/process_limits.hpp"
#include "tools/queue/queue_head.hpp"
#include "tools/queue/queue_server.hpp"
#include "tools/queue/queue_tokens.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <iostream>
#include <memory>

namespace clade {

namespace {

struct serve_options {
  std::filesystem::path folder;
  std::string slots = "auto", listen;
  queue_server_params server;
  queue_rules rules;
  std::vector<std::string> quotas;
  std::string ageing = "24h", half_life = "168h", grace = "60s";
  std::string lease = "60s";
  std::string add_user, role = "user";
};

tl::unexpected<error> wrong_address(const std::string& text) {
  return fail(error_kind::invalid_input,
              "--listen \"" + text + "\": write ADDRESS:PORT, such as 127.0.0.1:4711");
}

/// "127.0.0.1:4711", "[::1]:4711", also behind "http://" and "https://".
expected<void> read_address(std::string text, queue_server_params& params) {
  const auto whole = text;
  if (const auto scheme = text.find("://"); scheme != std::string::npos)
    text.erase(0, scheme + 3);
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0)
    return wrong_address(whole);
  params.host = text.substr(0, colon);
  if (params.host.starts_with('[') && params.host.ends_with(']'))
    params.host = params.host.substr(1, params.host.size() - 2);
  const char *from = text.data() + colon + 1, *end = text.data() + text.size();
  const auto [read, problem] = std::from_chars(from, end, params.port);
  if (problem != std::errc{} || read != end || from == end)
    return wrong_address(whole);
  return {};
}

/// A server comes back where its users know it.
expected<void> choose_address(const serve_options& options, queue_server_params& params) {
  if (!options.listen.empty())
    return read_address(options.listen, params);
  std::ifstream before(options.folder / address_file_name);
  std::string address;
  if (std::getline(before, address) && !address.empty())
    return read_address(address, params);
  return {};
}

expected<void> read_rules(const serve_options& options, queue_rules& rules) {
  for (const auto& [name, text, value] :
       {std::tuple{"--ageing", &options.ageing, &rules.ageing},
        std::tuple{"--half-life", &options.half_life, &rules.half_life}}) {
    const auto time = parse_time(name, *text);
    if (!time)
      return tl::unexpected(time.error());
    *value = std::chrono::duration_cast<std::chrono::seconds>(*time);
    if (value->count() <= 0)
      return fail(error_kind::invalid_input,
                  std::string(name) + " \"" + *text + "\": a second at least");
  }
  for (const auto& one : options.quotas) {
    const auto is = one.find('=');
    const char* from = one.data() + (is == std::string::npos ? 0 : is + 1);
    std::uint32_t slots = 0;
    const auto [read, problem] = std::from_chars(from, one.data() + one.size(), slots);
    if (problem != std::errc{} || read != one.data() + one.size())
      return fail(error_kind::invalid_input,
                  "--quota \"" + one + "\": write N, or USER=N");
    if (is == std::string::npos)
      rules.quota = slots;
    else
      rules.quotas[one.substr(0, is)] = slots;
  }
  return {};
}

expected<void> make_folder(const std::filesystem::path& folder) {
  std::error_code failed;
  const bool fresh = std::filesystem::create_directories(folder, failed);
  if (failed)
    return fail(error_kind::io,
                folder.string() + ": cannot be made: " + failed.message());
  if (fresh && ::chmod(folder.c_str(), 0700) != 0)
    return fail(error_kind::io, folder.string() + ": its rights cannot be set");
  return {};
}

/// Writes down where the server is, for its folder and those of its users.
expected<void> publish_address(const std::filesystem::path& folder,
                               const std::string& address,
                               const std::filesystem::path& certificate) {
  std::vector<std::filesystem::path> folders{folder};
  std::error_code none;
  for (const auto& user :
       std::filesystem::directory_iterator(folder / users_folder_name, none))
    folders.push_back(user.path());
  for (const auto& one : folders) {
    if (auto ok = write_private(one / address_file_name, address + "\n"); !ok)
      return ok;
    if (certificate.empty())
      continue;
    std::error_code failed;
    std::filesystem::copy_file(certificate, one / certificate_file_name,
                               std::filesystem::copy_options::overwrite_existing, failed);
    if (failed)
      return fail(error_kind::io, one.string() + ": the certificate cannot be written: "
                                      + failed.message());
  }
  return {};
}

expected<void> add_user(const serve_options& options, queue_tokens& tokens) {
  const auto role = parse_role(options.role);
  if (!role)
    return fail(error_kind::invalid_input,
                "--role \"" + options.role + "\": write viewer, user, admin or worker");
  return tokens.add({.name = options.add_user, .role = *role})
      .map([&](const std::filesystem::path& given) {
        std::cout << "give " << options.add_user << " a copy of " << given.string()
                  << "; they set CLADE_QUEUE to it\n";
      });
}

expected<void> serve(serve_options options) {
  options.folder = std::filesystem::absolute(options.folder).lexically_normal();
  if (!options.folder.has_filename())
    options.folder = options.folder.parent_path();
  const auto grace = parse_time("--grace", options.grace);
  const auto lease = parse_time("--lease", options.lease);
  if (!grace || !lease)
    return tl::unexpected(grace ? lease.error() : grace.error());
  auto params = options.server;
  if (auto ok = make_folder(options.folder)
                    .and_then([&] { return read_rules(options, options.rules); })
                    .and_then([&] { return choose_address(options, params); });
      !ok)
    return ok;
  queue_tokens tokens(options.folder);
  if (auto ok = tokens.prepare(own_user_name()); !ok)
    return ok;
  if (!options.add_user.empty())
    return add_user(options, tokens);
  const auto interrupted = watch_interrupts();
  block_interrupts();
  if (auto enough = check_process_limits(); !enough)
    return enough;
  auto slots = parse_slots(options.slots);
  if (!slots)
    return tl::unexpected(slots.error());
  const auto count = slots->size();
  auto head = queue_head::open({.processes = {.folder = options.folder,
                                              .program = own_program(),
                                              .slots = std::move(*slots),
                                              .run_grace = *grace},
                                .rules = options.rules,
                                .lease = *lease});
  if (!head)
    return tl::unexpected(head.error());
  carry_no_frames();
  const auto server = queue_server::listen(params, **head, tokens);
  if (!server)
    return tl::unexpected(server.error());
  const auto address = (*server)->address();
  if (auto ok = publish_address(options.folder, address, params.certificate); !ok)
    return ok;
  (*server)->start();
  std::cout << "serves " << options.folder.string() << " on " << address << " with "
            << count
            << " slots; users say: export CLADE_QUEUE=" << options.folder.string()
            << "\nits page: " << address << "/ (clade top --web adds the token)"
            << std::endl;
  return (*head)->serve(interrupted);
}

int serve_and_report(const serve_options& options) {
  const auto served = serve(options);
  return served ? 0 : report(served.error());
}

} // namespace

void add_serve(CLI::App& app, command& chosen) {
  auto options = std::make_shared<serve_options>();
  auto* sub = app.add_subcommand("serve", "Serve a queue of runs and commands to a lab");
  sub->add_option("folder", options->folder,
                  "The queue's folder, which is made if needed")
      ->required();
  sub->add_option("--slots", options->slots,
                  "What it hands out, of this machine: auto, a number of CPU slots, or "
                  "GPUs: cuda, cuda:0*2")
      ->capture_default_str();
  sub->add_option("--listen", options->listen,
                  "ADDRESS:PORT. Else where it was before, or any free port of "
                  "127.0.0.1. Other addresses than loopback need a certificate");
  sub->add_option("--certificate", options->server.certificate,
                  "For TLS: the server's certificate, a PEM file");
  sub->add_option("--key", options->server.key, "For TLS: its key, a PEM file");
  sub->add_option("--quota", options->quotas,
                  "N: the most slots of one user at a time; USER=N: of that one. "
                  "Repeatable")
      ->allow_extra_args(false);
  sub->add_option("--ageing", options->ageing,
                  "Waiting so long outweighs one step of priority")
      ->capture_default_str();
  sub->add_option("--half-life", options->half_life,
                  "What a user had so long ago counts half")
      ->capture_default_str();
  sub->add_option("--grace", options->grace,
                  "How long a run that makes room may finish what is in training")
      ->capture_default_str();
  sub->add_option("--lease", options->lease,
                  "A machine that is not heard of for so long is lost; what ran there "
                  "waits again")
      ->capture_default_str();
  sub->add_option(
      "--add-user", options->add_user,
      "Add a user and end: writes a folder with a token, to be given to them");
  sub->add_option("--role", options->role,
                  "Of the user that is added: viewer, user, admin, or worker for the "
                  "machines that run what is in the queue")
      ->capture_default_str();
  sub->footer(
      "What is submitted is on the disk before it is answered, and each entry ends "
      "once,\n"
      "however often the server is killed: started again in the same folder, it goes on\n"
      "with runs and begins commands anew. SIGTERM ends it: runs are drained first.\n"
      "`clade help queue` says who is next and what the roles may do.");
  sub->callback(
      [&chosen, options] { chosen = [options] { return serve_and_report(*options); }; });
}

} // namespace clade
