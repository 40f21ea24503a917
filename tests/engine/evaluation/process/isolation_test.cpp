#include "engine/evaluation/process/isolation.hpp"
#include "engine/evaluation/process/program.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

using namespace clade;
using Catch::Matchers::Contains;

namespace {

/// Returns the output of a shell that is kept from `folder`/keys, with a file "key" in
/// it.
std::string said_apart(const std::filesystem::path& folder, const std::string& script) {
  const auto apart = isolation::make({folder / "keys", folder / "is-not-there"});
  if (!apart)
    return apart.error().message;
  const auto done = run_program({.command = {"sh", "-c", "exec 2>&1; " + script},
                                 .directory = folder,
                                 .apart = &*apart});
  return done ? done->output : done.error().message;
}

/// A folder of `user`'s with keys/key.
void make_keys(const std::filesystem::path& folder, uid_t user) {
  std::filesystem::create_directory(folder / "keys");
  write_text(folder / "keys" / "key", "secret");
  for (const auto& path : {folder, folder / "keys", folder / "keys" / "key"})
    REQUIRE(::chown(path.c_str(), user, user) == 0);
}

/// Every way to the key that the user has; each says "safe" or shows it.
std::string ways_to(const std::filesystem::path& folder) {
  const auto keys = (folder / "keys").string();
  std::string script;
  for (const std::string& way :
       {"cat " + keys + "/key", "umount " + keys + "; cat " + keys + "/key",
        "unshare -Urm sh -c 'umount " + keys + "; cat " + keys + "/key'",
        "nsenter -t $PPID -m cat " + keys + "/key",
        "cat /proc/$PPID/root" + keys + "/key",
        "cat /proc/" + std::to_string(::getpid()) + "/root" + keys + "/key"})
    script += "{ " + way + "; } 2>/dev/null | grep secret || echo safe; ";
  return script;
}

constexpr const char* all_safe = "safe\nsafe\nsafe\nsafe\nsafe\nsafe\n";

/// Whether it holds in a process of that user's.
bool holds_for(uid_t user, const std::function<bool()>& check) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool changed = ::setresgid(user, user, user) == 0
                         && ::setresuid(user, user, user) == 0
                         && ::prctl(PR_SET_DUMPABLE, 1) == 0; // This is so after an exec.
    ::_exit(changed && check() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0;
}

} // namespace

TEST_CASE("isolation: a program cannot reach what is hidden, and all else as before") {
  if (!isolation::make({})) {
    WARN("this system refuses namespaces to programs");
    return;
  }
  const scratch_folder folder;
  make_keys(folder.path(), ::getuid());
  CHECK(said_apart(folder.path(), ways_to(folder.path())) == all_safe);
  CHECK(said_apart(folder.path(), "ls -A keys; echo mine > made; cat made; id -u; pwd")
        == "mine\n" + std::to_string(::getuid()) + "\n" + folder.path().string() + "\n");
  CHECK(read_text(folder.path() / "made") == "mine\n");
  CHECK_THAT(said_apart(folder.path(), "touch keys/mine || :"), Contains("touch"));
  CHECK(read_text(folder.path() / "keys" / "key") == "secret"); // For all others.
}

TEST_CASE("isolation: it holds for a user who is not root") {
  constexpr uid_t nobody = 65'534;
  if (::getuid() != 0)
    return; // The test above was it.
  if (!holds_for(nobody, [] { return isolation::make({}).has_value(); })) {
    WARN("this system refuses namespaces to who is not root");
    return;
  }
  const scratch_folder folder;
  make_keys(folder.path(), nobody);
  CHECK(holds_for(nobody, [&] {
    return said_apart(folder.path(),
                      ways_to(folder.path()) + "id -u; cat keys/key || :; touch made")
               .starts_with(all_safe + std::to_string(nobody) + "\n")
           && std::filesystem::exists(folder.path() / "made");
  }));
}
