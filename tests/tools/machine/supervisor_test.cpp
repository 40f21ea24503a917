// Scripts stand for node processes: what they end with decides what becomes of their slot.

#include "actors/node/node_end.hpp"
#include "tests/support/scratch.hpp"
#include "tools/machine/supervisor.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <set>
#include <thread>

using namespace clade;
using namespace std::chrono_literals;

namespace {

/// The supervisor blocks signals for as long as its process lives.
class kept_signals {
public:
  kept_signals() { ::pthread_sigmask(SIG_SETMASK, nullptr, &before_); }
  ~kept_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  kept_signals(const kept_signals&) = delete;
  kept_signals& operator=(const kept_signals&) = delete;

private:
  sigset_t before_{};
};

/// A slot whose processes run the lines of a script in turn, one each; the last one again
/// where there are no more. $beat is the pipe of the pulse; "$@" are the words at the end.
struct scripted_slot {
  explicit scripted_slot(std::initializer_list<std::string> lines) {
    std::string script = "n=$(cat '" + count()
                         + "' 2>/dev/null || echo 0)\n"
                           "n=$((n + 1)); echo $n >'"
                         + count()
                         + "'\n"
                           "echo \"$*\" >>'"
                         + words() + "'\nbeat=$2\ncase $n in\n";
    std::size_t number = 0;
    for (const auto& line : lines)
      script += (++number == lines.size() ? "*" : std::to_string(number)) + ") " + line
                + " ;;\n";
    write_text(scratch.path() / "script", script + "esac\n");
  }

  [[nodiscard]] process_params params() const {
    return {.command = {"/bin/sh", (scratch.path() / "script").string()},
            .environment = {},
            .cores = {},
            .log = scratch.path() / "log"};
  }

  /// The words that each process was given, a line each.
  [[nodiscard]] std::string given() const { return read_text(words()); }
  [[nodiscard]] std::string started() const { return read_text(count()); }

  scratch_folder scratch;

private:
  [[nodiscard]] std::string count() const { return (scratch.path() / "count").string(); }
  [[nodiscard]] std::string words() const { return (scratch.path() / "words").string(); }
};

int supervise(const scripted_slot& slot, std::chrono::milliseconds silence = 10s) {
  const kept_signals before;
  return supervisor({.slots = {slot.params()}, .silence = silence, .grace = 1s})
      .keep_alive()
      .value();
}

} // namespace

TEST_CASE("supervisor: a node that was dismissed is not started again") {
  const scripted_slot slot{"exit 0"};
  CHECK(supervise(slot) == 0);
  CHECK(slot.started() == "1\n");
}

TEST_CASE("supervisor: there are words for each way in which a node ends") {
  std::set<std::string_view> words;
  for (int status = 0; status < node_ends; ++status) {
    const auto end = node_end_of(W_EXITCODE(status, 0));
    REQUIRE(end);
    CHECK(static_cast<int>(*end) == status);
    CHECK_FALSE(to_text(*end).empty());
    words.insert(to_text(*end));
    const auto described = describe_node_end(W_EXITCODE(status, 0), false);
    const std::string name(to_text(*end));
    CHECK(described
          == (end == node_end::drained ? "it was told to leave"
              : end == node_end::overdue
                  ? "as what it did took longer than limits.evaluation_time"
                  : "ended with status " + std::to_string(status) + " (" + name + ")"));
  }
  CHECK(words.size() == std::size_t{node_ends});
  CHECK_FALSE(node_end_of(W_EXITCODE(node_ends, 0)));
  CHECK_FALSE(node_end_of(W_EXITCODE(0, SIGKILL)));
  CHECK(describe_node_end(W_EXITCODE(node_ends, 0), false) == "ended with status 8");
  CHECK(describe_node_end(W_EXITCODE(0, SIGKILL), true)
        == "killed by signal 9 (Killed), out of memory");
  CHECK(describe_node_end(W_EXITCODE(0, SIGSEGV), true)
        == "killed by signal 11 (Segmentation fault)");
}

TEST_CASE("supervisor: a node that somebody told to leave is replaced") {
  const scripted_slot slot{"exit 7", "exit 0"};
  CHECK(supervise(slot) == 0);
  CHECK(slot.started() == "2\n");
  CHECK(slot.given().find(":0:it was told to leave") != std::string::npos);
}

TEST_CASE("supervisor: a node that was refused, or found no head, ends its slot") {
  CHECK(supervise(scripted_slot{"exit 2"}) == 2);
  CHECK(supervise(scripted_slot{"exit 5"}) == 1);
}

TEST_CASE("supervisor: its successor tells how a process ended and who was to blame") {
  const scripted_slot slot{"kill -KILL $$", "kill -SEGV $$", "exit 6", "exit 0"};
  CHECK(supervise(slot) == 0);
  CHECK(slot.started() == "4\n");
  const auto given = slot.given();
  const auto last = given.substr(given.rfind("--pulse"));
  // SIGKILL tells nothing of who sent it.
  CHECK(last.find(":0:killed by signal 9 (Killed)") != std::string::npos);
  CHECK(last.find(":1:killed by signal 11 (Segmentation fault)") != std::string::npos);
  CHECK(last.find(":1:as what it did took longer") != std::string::npos);
}

TEST_CASE("supervisor: a fault that somebody sent is nobody's own doing") {
  const scripted_slot slot{"printf '!' >&$beat; kill -SEGV $$", "exit 0"};
  CHECK(supervise(slot) == 0);
  CHECK(slot.given().find(":0:killed by signal 11") != std::string::npos);
}

TEST_CASE("supervisor: a process without a pulse is killed, and another is started") {
  const scripted_slot slot{"exec sleep 100", "exit 0"};
  CHECK(supervise(slot, 100ms) == 0);
  // A busy machine may need longer for the others to end, and they are killed too.
  CHECK(std::stoi(slot.started()) >= 2);
}

TEST_CASE("supervisor: what cannot be started is tried again until it is there") {
  const scripted_slot slot{"exit 0"};
  auto params = slot.params();
  const auto program = slot.scratch.path() / "program";
  params.command = {program.string()};
  const kept_signals before;
  std::thread later([&] {
    // It has been tried by then, as its log is made before.
    while (!std::filesystem::exists(params.log))
      std::this_thread::yield();
    write_text(slot.scratch.path() / "new", "#!/bin/sh\nexit 0\n");
    std::filesystem::permissions(slot.scratch.path() / "new",
                                 std::filesystem::perms::owner_all);
    std::filesystem::rename(slot.scratch.path() / "new", program);
  });
  CHECK(supervisor({.slots = {params}}).keep_alive() == 0);
  later.join();
}
