#include "tools/launch/launch_ssh.hpp"

#include "tools/launch/shell_word.hpp"

#include <fmt/format.h>

#include <algorithm>

// Everything goes through the standard input of one ssh: what stands on a command line,
// there or here, can be read by every user of the machine. The login shell there may be
// any, so that it is only asked for `sh -s`.

namespace clade {

namespace {

constexpr int worker_runs_status = 75;
constexpr int no_program_status = 76;
constexpr int worker_ended_status = 77;
constexpr int run_over_status = 78;
constexpr int ssh_failed_status = 255;

/// A name that begins with "-" would be an option.
bool is_name(std::string_view text, std::string_view also) {
  const auto belongs = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
           || also.find(c) != std::string_view::npos;
  };
  return !text.empty() && text.front() != '-' && std::ranges::all_of(text, belongs);
}

tl::unexpected<error> no_host(std::string_view text) {
  return fail(error_kind::invalid_input,
              fmt::format("\"{}\" is no host; write HOST, USER@HOST or HOST:SLOTS, such "
                          "as gpu1,anna@gpu2:cuda:0+cuda:1",
                          text));
}

expected<ssh_host> parse_host(std::string_view text) {
  const auto at = text.find('@');
  const auto user = at == std::string_view::npos ? "" : text.substr(0, at);
  auto rest = at == std::string_view::npos ? text : text.substr(at + 1);
  if (at != std::string_view::npos && !is_name(user, "._-"))
    return no_host(text);
  const bool address = rest.starts_with('[');
  const auto end = address ? rest.find(']') : rest.find(':');
  if (address && end == std::string_view::npos)
    return no_host(text);
  const auto host = address ? rest.substr(1, end - 1) : rest.substr(0, end);
  rest.remove_prefix(std::min(rest.size(), address ? end + 1 : end));
  if (!is_name(host, address ? ".:%" : "._-"))
    return no_host(text);
  ssh_host result{.destination = std::string(text.substr(0, at + 1)) + std::string(host)};
  if (!rest.empty()) {
    result.slots = rest.substr(1);
    if (rest.front() != ':' || !is_name(result.slots, ":+"))
      return no_host(text);
    std::ranges::replace(result.slots, '+', ',');
  }
  return result;
}

std::string put_file(const std::string& name, const std::string& pem) {
  // Renamed into its place: a worker that is just starting finds a whole file.
  return fmt::format("cat >\"$folder/.{}\" <<'END OF KEYS'\n{}END OF KEYS\nmv -f "
                     "\"$folder/.{}\" \"$folder/{}\"\n",
                     name, pem, name, name);
}

std::string status_text(int status) {
  return std::to_string(status);
}

} // namespace

expected<std::vector<ssh_host>> parse_ssh_hosts(std::string_view text) {
  std::vector<ssh_host> hosts;
  for (bool more = true; more;) {
    const auto comma = text.find(',');
    auto host = parse_host(text.substr(0, comma));
    if (!host)
      return tl::unexpected(host.error());
    const bool again = std::ranges::find(hosts, host->destination, &ssh_host::destination)
                       != hosts.end();
    if (again)
      return fail(error_kind::invalid_input,
                  host->destination + " is named twice; one worker offers all its slots");
    hosts.push_back(std::move(*host));
    more = comma != std::string_view::npos;
    text.remove_prefix(more ? comma + 1 : text.size());
  }
  return hosts;
}

std::vector<std::string> ssh_command(const ssh_host& host,
                                     const std::vector<std::string>& options) {
  // The user's come first: of an option that is given twice, ssh takes the first.
  std::vector<std::string> command{"ssh"};
  command.insert(command.end(), options.begin(), options.end());
  for (const char* word : {"-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "--"})
    command.emplace_back(word);
  command.push_back(host.destination);
  command.emplace_back("sh -s");
  return command;
}

std::string ssh_script(const ssh_worker& w) {
  const auto words = [](std::string_view name, const std::string& value) {
    return fmt::format("{}={}\n", name, shell_word(value));
  };
  std::string script = "set -eu\numask 077\n";
  script += words("run", w.run) + words("program", w.program)
            + words("connect", w.connect) + words("slots", w.slots)
            + words("name", w.name);
  script += fmt::format("if ! command -v \"$program\" >/dev/null; then exit {}; fi\n",
                        status_text(no_program_status));
  script += "folder=$HOME/.clade/keys/$run\n"
            "mkdir -p \"$folder\"\n"
            "chmod 700 \"$HOME/.clade\" \"$HOME/.clade/keys\" \"$folder\"\n";
  script += put_file("ca.pem", w.keys.authority)
            + put_file("cert.pem", w.keys.certificate) + put_file("key.pem", w.keys.key);
  const auto runs = status_text(worker_runs_status);
  script += "setsid flock --no-fork --nonblock --conflict-exit-code " + runs
            + " \"$folder/lock\" \\\n"
              "  \"$program\" worker --connect \"$connect\" --keys \"$folder\" "
              "--slots \"$slots\" --name \"$name\" \\\n"
              "  </dev/null >>\"$folder/worker.log\" 2>&1 &\n"
              "process=$!\n"
              // A worker that is refused, or cannot start, has ended by then.
              "tries=20\n"
              "while [ $tries -gt 0 ] && kill -0 $process 2>/dev/null; do\n"
              "  sleep 0.1\n"
              "  tries=$((tries - 1))\n"
              "done\n"
              "if kill -0 $process 2>/dev/null; then\n"
              "  echo $process\n"
              "  exit 0\n"
              "fi\n"
              "status=0\n"
              "wait $process || status=$?\n"
              "if [ $status -eq "
            + runs + " ]; then exit " + runs
            + "; fi\n"
              "if [ $status -eq 0 ]; then exit "
            + status_text(run_over_status)
            + "; fi\n"
              "echo \"with status $status: $(tail -n 1 \"$folder/worker.log\")\"\n"
              "exit "
            + status_text(worker_ended_status) + "\n";
  return script;
}

ssh_outcome read_ssh_outcome(const ssh_host& host, const std::string& run, int status,
                             std::string_view said) {
  while (said.ends_with('\n') || said.ends_with('\r'))
    said.remove_suffix(1);
  const std::string last(said.substr(said.rfind('\n') + 1));
  const auto log = fmt::format("~/.clade/keys/{}/worker.log", run);
  const auto begin = host.destination + ": ";
  switch (status) {
  case 0:
    return {true,
            fmt::format("{}worker started, process {}; its log: {}", begin, last, log)};
  case worker_runs_status:
    return {true, fmt::format("{}a worker of this run is there already; its log: {}",
                              begin, log)};
  case run_over_status:
    return {true, fmt::format(
                      "{}the worker has already left at the end of its run; its log: {}",
                      begin, log)};
  case no_program_status:
    return {false, begin + "clade is not there; --program names where it is"};
  case worker_ended_status:
    return {false, fmt::format("{}the worker ended {} (its log: {})", begin, last, log)};
  case ssh_failed_status:
    return {false, fmt::format("{}ssh failed: {}", begin, last)};
  default:
    return {false,
            fmt::format("{}failed with status {}: {}", begin, status_text(status), last)};
  }
}

} // namespace clade
