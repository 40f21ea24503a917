// `clade serve` makes a queue's folder what it must be, opens its store once nobody else
// serves it (serve_turn.hpp), listens, and then starts and ends entries until it is told to
// end.
#include "engine/config/file/units.hpp"
#include "engine/queue/queue_state.hpp"
#include "genome/base/text.hpp"
#include "genome/base/trusted_file.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/cli/base/interrupts.hpp"
#include "tools/cli/queue/queue_option.hpp"
#include "tools/cli/queue/serve_turn.hpp"
#include "tools/machine/descriptor_buffer.hpp"
#include "tools/machine/process_limits.hpp"
#include "tools/queue/client/queue_addresses.hpp"
#include "tools/queue/client/queue_tokens.hpp"
#include "tools/queue/head/queue_head.hpp"
#include "tools/queue/server/queue_server.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <optional>
#include <vector>

namespace clade {

namespace {

struct serve_options {
  std::filesystem::path folder;
  std::string slots = "auto", listen;
  queue_server_params server;
  queue_rules rules;
  std::vector<std::string> quotas;
  std::string ageing = "24h", half_life = "168h", grace = "60s";
  std::string lease = "60s", log_limit = "1GiB", idle;
  std::string most_waiting_size = "64MiB";
  std::string add_user, role = "user";
  bool standby = false, shared = false;
  std::filesystem::path follow;
  std::string take_over = "0s";
};

/// The limits that the options give.
struct serve_turn_limits {
  std::chrono::milliseconds grace, lease, take_over;
  std::uint64_t log_bytes = 0;
  std::optional<std::chrono::milliseconds> idle{};
};

/// A server comes back where its users know it.
expected<std::vector<queue_server_params>> places_of(const serve_options& options) {
  auto place = options.server;
  if (!place.advertised.empty())
    if (auto ok = check_advertised(place.advertised); !ok)
      return tl::unexpected(ok.error());
  if (!options.listen.empty())
    return read_address(options.listen, place).map([&] { return std::vector{place}; });
  std::vector<queue_server_params> places;
  for (const auto& address : read_addresses(options.folder)) {
    if (auto ok = read_address(address, place); !ok)
      return tl::unexpected(ok.error());
    places.push_back(place);
  }
  if (places.empty())
    places.push_back(options.server);
  return places;
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
                  fmt::format("{} \"{}\": a second at least", name, *text));
  }
  const auto most = parse_size(options.most_waiting_size);
  if (!most)
    return fail(error_kind::invalid_input,
                "--most-waiting-size: " + most.error().message);
  rules.most_waiting_bytes = *most;
  for (const auto& one : options.quotas) {
    const auto is = one.find('=');
    const auto slots = parse_number<std::uint32_t>(
        std::string_view(one).substr(is == std::string::npos ? 0 : is + 1));
    if (!slots)
      return fail(error_kind::invalid_input,
                  fmt::format("--quota \"{}\": write N, or USER=N", one));
    if (is == std::string::npos)
      rules.quota = *slots;
    else
      rules.quotas[one.substr(0, is)] = *slots;
  }
  return {};
}

expected<void> make_folder(const std::filesystem::path& folder) {
  std::error_code failed;
  const bool fresh = std::filesystem::create_directories(folder, failed);
  if (failed)
    return fail(error_kind::io,
                fmt::format("{}: cannot be made: {}", folder.string(), failed.message()));
  if (fresh && ::chmod(folder.c_str(), 0700) != 0)
    return fail(error_kind::io, folder.string() + ": its rights cannot be set");
  return check_trusted(folder);
}

expected<void> add_user(const serve_options& options, queue_tokens& tokens) {
  const auto role = parse_role(options.role);
  if (!role)
    return fail(
        error_kind::invalid_input,
        fmt::format("--role \"{}\": write viewer, user, admin or worker", options.role));
  return tokens.add({.name = options.add_user, .role = *role})
      .map([&](const std::filesystem::path& given) {
        std::cout << "give " << options.add_user << " a copy of " << given.string()
                  << "; they set CLADE_QUEUE to it\n";
      });
}

/// Makes the options' folder what it must be.
expected<void> prepare(serve_options& options, queue_tokens& tokens) {
  if (!options.follow.empty() && options.standby)
    return fail(error_kind::invalid_input,
                "--standby waits in the queue's own folder, --follow in another one");
  if (auto ok = make_folder(options.folder).and_then([&] {
        return read_rules(options, options.rules);
      });
      !ok)
    return ok;
  // A replica gets those of its queue.
  if (!options.follow.empty())
    return {};
  return tokens.prepare(own_user_name()).map([&](bool were_lost) {
    if (were_lost)
      std::cerr << "clade serve: " << (options.folder / tokens_file_name).string()
                << " was gone, and a new one is made: the tokens of all users are void; "
                   "add each again with --add-user, and give them their folder"
                << std::endl;
  });
}

expected<serve_turn_limits> limits_of(const serve_options& options) {
  const auto grace = parse_time("--grace", options.grace),
             lease = parse_lease(options.lease, "machines"),
             take_over = parse_time("--take-over", options.take_over);
  for (const auto* time : {&grace, &lease, &take_over})
    if (!*time)
      return tl::unexpected(time->error());
  const auto log_bytes = read_log_limit(options.log_limit);
  const auto idle = read_idle(options.idle);
  if (!log_bytes || !idle)
    return tl::unexpected(log_bytes ? idle.error() : log_bytes.error());
  return serve_turn_limits{.grace = *grace,
                           .lease = *lease,
                           .take_over = *take_over,
                           .log_bytes = *log_bytes,
                           .idle = *idle};
}

expected<void> serve_in_turn(const serve_options& options, queue_head_params params,
                             queue_tokens& tokens, std::chrono::milliseconds take_over) {
  outlive_readers();
  const auto interrupted = watch_interrupts();
  block_interrupts();
  if (auto enough = check_process_limits(); !enough)
    return enough;
  auto slots = parse_slots(options.slots);
  if (!slots)
    return tl::unexpected(slots.error());
  const auto count = slots->size();
  params.processes.slots = std::move(*slots);
  auto places = places_of(options);
  if (!places)
    return tl::unexpected(places.error());
  auto turn =
      await_turn({.folder = options.folder,
                  .shared = options.shared || is_on_network(options.folder),
                  .standby = options.standby,
                  .follow = options.follow,
                  .take_over = take_over,
                  .half_life = options.rules.half_life,
                  .places = std::move(*places),
                  .otherwise = options.listen.empty() ? std::optional(options.server)
                                                      : std::nullopt},
                 tokens, interrupted);
  if (!turn)
    return tl::unexpected(turn.error());
  if (!*turn)
    return {};
  auto head = queue_head::open(std::move(params), std::move((*turn)->store));
  if (!head)
    return tl::unexpected(head.error());
  const auto server = listen_at_one((*turn)->places, [&](const queue_server_params& p) {
    return queue_server::listen(p, **head, tokens);
  });
  if (!server)
    return tl::unexpected(server.error());
  const auto address = (*server)->address();
  if (auto ok = add_address({.folder = options.folder,
                             .added = address,
                             .as_first = true,
                             .certificate = options.server.certificate});
      !ok)
    return ok;
  (*server)->start();
  std::cout << "serves " << options.folder.string() << " on " << address << " with "
            << slots_in_words(count)
            << "; users say: export CLADE_QUEUE=" << options.folder.string()
            << "\nits page: " << address << "/ (clade top --web adds the token)"
            << std::endl;
  return (*head)->serve(interrupted);
}

expected<void> serve(serve_options options) {
  options.folder = std::filesystem::absolute(options.folder).lexically_normal();
  if (!options.folder.has_filename())
    options.folder = options.folder.parent_path();
  const auto limits = limits_of(options);
  if (!limits)
    return tl::unexpected(limits.error());
  queue_tokens tokens(options.folder);
  if (auto ok = prepare(options, tokens); !ok)
    return ok;
  if (!options.add_user.empty())
    return add_user(options, tokens);
  return serve_in_turn(options,
                       {.processes = {.folder = options.folder,
                                      .program = own_program(),
                                      .run_grace = limits->grace,
                                      .log_bytes = limits->log_bytes,
                                      .warn = warning("clade serve")},
                        .rules = options.rules,
                        .lease = limits->lease,
                        .version = CLADE_VERSION,
                        .idle = limits->idle},
                       tokens, limits->take_over);
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
  sub->add_option("--advertise", options->server.advertised,
                  "What users are told instead, where they reach it by another name: "
                  "https://NAME:PORT");
  sub->add_option("--certificate", options->server.certificate,
                  "For TLS: the server's certificate, a PEM file");
  sub->add_option("--key", options->server.key, "For TLS: its key, a PEM file");
  sub->add_option("--quota", options->quotas,
                  "N: the most slots of one user at a time; USER=N: of that one. "
                  "Repeatable")
      ->allow_extra_args(false);
  sub->add_option("--most-waiting", options->rules.most_waiting,
                  "The most entries that one user may have waiting")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  sub->add_option("--most-waiting-size", options->most_waiting_size,
                  "The most memory that one user's waiting entries may take")
      ->capture_default_str();
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
  add_log_limit_option(*sub, options->log_limit);
  add_idle_option(*sub, options->idle);
  sub->add_option(
      "--add-user", options->add_user,
      "Add a user and end: writes a folder with a token, to be given to them");
  sub->add_option("--role", options->role,
                  "Of the user that is added: viewer, user, admin, or worker for the "
                  "machines that run what is in the queue")
      ->capture_default_str();
  sub->add_flag(
      "--standby", options->standby,
      "Where another server serves this folder, wait, and take over when that is "
      "gone");
  sub->add_flag("--shared", options->shared,
                "The folder is on a file system of several machines; NFS and others are "
                "known as such");
  sub->add_option(
      "--follow", options->follow,
      "Keep a replica in this folder of the queue that CLADE_QUEUE would name "
      "so, as an admin of it");
  sub->add_option("--take-over", options->take_over,
                  "With --follow: serve when the queue has not answered for so long; 0s: "
                  "never by itself")
      ->capture_default_str()
      ->needs("--follow");
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
