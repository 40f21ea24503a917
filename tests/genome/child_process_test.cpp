#include "genome/base/child_process.hpp"
#include "genome/base/unique_fd.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>

#include <array>
#include <csignal>

using namespace clade;

namespace {

/// Runs a script of the shell to its end.
struct ran {
  int status = -1;
  std::string output;
};

ran run_script(const std::string& script, child_params params = {}) {
  const scratch_folder scratch;
  const auto file = scratch.path() / "output";
  const unique_fd out(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  params.command = {"/bin/sh", "-c", script};
  params.output = out.get();
  const auto child = start_child(params);
  REQUIRE(child);
  ran result;
  REQUIRE(::waitpid(*child, &result.status, 0) == *child);
  result.output = read_text(file);
  return result;
}

} // namespace

TEST_CASE("child: it has the words, folder, environment and streams it was given",
          "[base]") {
  const scratch_folder folder;
  const auto input = memory_file("a line\n");
  const auto done = run_script("read line; echo \"$line $CLADE_TEST\"; pwd -P; exit 3",
                               {.environment = {"CLADE_TEST=of value"},
                                .directory = folder.path(),
                                .input = input.get()});
  CHECK(describe_exit(done.status) == "ended with status 3");
  CHECK(done.output == "a line of value\n" + folder.path().string() + "\n");
  CHECK(describe_exit(run_script("kill -KILL $$").status)
        == "killed by signal 9 (Killed)");
}

TEST_CASE("child: descriptors are ours unless it is to inherit one", "[base]") {
  // The descriptor is open as a library may open it.
  const unique_fd secret(::open("/dev/null", O_RDONLY));
  const unique_fd given(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto has = [](int descriptor) {
    return "test -e /proc/self/fd/" + std::to_string(descriptor) + " && echo has "
           + std::to_string(descriptor) + "; ";
  };
  CHECK(run_script(has(secret.get()) + has(given.get()) + "true",
                   {.inherited = given.get()})
            .output
        == "has " + std::to_string(given.get()) + "\n");
}

TEST_CASE("child: signals and groups are as it is told", "[base]") {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  sigset_t some, old;
  ::sigemptyset(&some);
  ::sigaddset(&some, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &some, &old);
  CHECK(run_script("kill -HUP $$; echo lives").output == "lives\n");
  CHECK(run_script("kill -HUP $$; echo lives", {.is_foreign = true}).output.empty());
  CHECK(run_script("kill -TERM $$; echo lives").output.empty());
  ::sigprocmask(SIG_SETMASK, &old, nullptr);
  static_cast<void>(std::signal(SIGHUP, before));
  const std::string own_group = "read pid name state parent group rest < /proc/$$/stat; "
                                "test $group = $$ && echo own";
  CHECK(run_script(own_group).output.empty());
  CHECK(run_script(own_group, {.group = 0}).output == "own\n");
  CHECK(run_script(own_group, {.own_session = true}).output == "own\n");
}

TEST_CASE("child: it runs on the cores it is given", "[base]") {
  cpu_set_t have;
  REQUIRE(::sched_getaffinity(0, sizeof have, &have) == 0);
  unsigned core = 0;
  while (!CPU_ISSET(core, &have))
    ++core;
  CHECK(run_script("grep Cpus_allowed_list /proc/self/status", {.cores = {core}}).output
        == "Cpus_allowed_list:\t" + std::to_string(core) + "\n");
}

TEST_CASE("child: the cores are those that it may run on", "[base]") {
  cpu_set_t have;
  REQUIRE(::sched_getaffinity(0, sizeof have, &have) == 0);
  CHECK(available_cores() == static_cast<std::size_t>(CPU_COUNT(&have)));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (std::size_t core = 0; CPU_COUNT(&one) == 0; ++core)
    if (CPU_ISSET(core, &have))
      CPU_SET(core, &one);
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(available_cores() == 1);
  ::sched_setaffinity(0, sizeof have, &have);
}

TEST_CASE("child: its exit code is what a shell says", "[base]") {
  CHECK(exit_code(W_EXITCODE(0, 0)) == 0);
  CHECK(exit_code(W_EXITCODE(3, 0)) == 3);
  CHECK(exit_code(W_EXITCODE(0, SIGKILL)) == 137);
}

TEST_CASE("child: what cannot be started is told, and nothing is left", "[base]") {
  const auto missing = start_child({.command = {"/no/such/program"}});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().kind == error_kind::not_found);
  CHECK(missing.error().message
        == "cannot start /no/such/program: No such file or "
           "directory");
  CHECK_FALSE(start_child({.command = {"/bin/sh"}, .directory = "/no/such/folder"}));
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1); // There is no child.
}

TEST_CASE("child: programs are found in PATH or in a folder", "[base]") {
  const scratch_folder folder;
  write_text(folder.path() / "mine", "#!/bin/sh\n");
  CHECK_FALSE(find_program("./mine", folder.path()));
  std::filesystem::permissions(folder.path() / "mine", std::filesystem::perms::owner_all);
  CHECK(find_program("./mine", folder.path()) == folder.path() / "./mine");
  CHECK(find_program("sh").value().filename() == "sh");
  CHECK(find_program("no-such-program").error().message
        == "there is no program no-such-program on this machine");
}

TEST_CASE("child: a script with line ends of Windows is refused before it is started",
          "[base]") {
  const scratch_folder folder;
  const auto executable = [&](const char* name, const std::string& text) {
    write_text(folder.path() / name, text);
    std::filesystem::permissions(folder.path() / name, std::filesystem::perms::owner_all);
    return find_program("./" + std::string(name), folder.path());
  };
  const auto refused = executable("mine", "#!/bin/sh\r\necho 1\r\n");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == error_kind::invalid_input);
  CHECK_THAT(refused.error().message, Catch::Contains("mine: its lines end as on Windows")
                                          && Catch::Contains("sed -i 's/\\r$//'"));
  CHECK(executable("program", "\x7f"
                              "ELF\r\n")); // No script.
  const auto by_shell = [&](const std::vector<std::string>& command) {
    return check_shell_script(command, folder.path()).has_value();
  };
  write_text(folder.path() / "good.sh", "echo 1\n");
  CHECK_FALSE(by_shell({"bash", "mine"}));
  CHECK_FALSE(by_shell({"/bin/sh", "-e", "mine", "2"}));
  CHECK(by_shell({"sh", "good.sh"}));
  CHECK(by_shell({"sh", "-c", "mine"}));
  CHECK(by_shell({"sh"}));
  CHECK(by_shell({"python3", "mine"}));
}
