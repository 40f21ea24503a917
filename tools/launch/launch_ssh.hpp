#pragma once

#include "tools/launch/key_bundle.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// A machine that ssh knows.
struct ssh_host {
  std::string destination; ///< "gpu1", "anna@gpu1", "anna@fe80::1"
  std::string slots = "auto";

  friend bool operator==(const ssh_host&, const ssh_host&) = default;
};

/// Reads "gpu1,anna@gpu2:cuda:0+cuda:1,[fe80::1]:cpu:4": names or addresses, each perhaps
/// with a user, and with the slots of its worker joined by "+".
[[nodiscard]] expected<std::vector<ssh_host>> parse_ssh_hosts(std::string_view text);

/// The command that runs a script from its standard input there, and asks nobody for a
/// password. `options` are the user's for ssh.
[[nodiscard]] std::vector<std::string>
ssh_command(const ssh_host& host, const std::vector<std::string>& options);

/// A worker for a run on a machine that shares no files with this one.
struct ssh_worker {
  std::string run; ///< The name of the run's folder.
  key_bundle keys;
  std::string program; ///< clade, there.
  std::string connect; ///< "login1:7411"
  std::string slots;
  std::string name;
};

/// The script for that machine's sh: it puts the keys into ~/.clade/keys/RUN (0700, each
/// file 0600), starts the worker in a session of its own with its log there, and says in
/// its last line what became of it. One worker for a run and machine: where one runs, no
/// second is started.
[[nodiscard]] std::string ssh_script(const ssh_worker& worker);

/// The outcome of a start by ssh.
struct ssh_outcome {
  bool works = false; ///< A worker is there.
  std::string line;   ///< "gpu1: worker started, process 4711; ..."
};

/// Reads what ssh ended with (its exit status) and everything that it wrote.
[[nodiscard]] ssh_outcome read_ssh_outcome(const ssh_host& host, const std::string& run,
                                           int status, std::string_view said);

} // namespace clade
