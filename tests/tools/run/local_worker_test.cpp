#include "tests/support/scratch.hpp"
#include "tools/run/local_worker.hpp"

#include <catch2/catch.hpp>
#include <sys/wait.h>

using namespace clade;
using namespace std::chrono_literals;

namespace {

/// Blocks until a child of this process has ended, and leaves it to be reaped.
void await_child() {
  siginfo_t ended{};
  REQUIRE(::waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT) == 0);
}

struct scripted_worker {
  explicit scripted_worker(const std::string& script, const std::string& slots = "cpu:1")
      : worker({.command = {"/bin/sh", "-c", script, "sh", "--slots", slots},
                .environment = {},
                .log = scratch.path() / "log"}) {}

  [[nodiscard]] std::string log() const { return read_text(scratch.path() / "log"); }

  scratch_folder scratch;
  local_worker worker;
};

} // namespace

TEST_CASE("local worker: it is started again, once a second at most", "[session]") {
  scripted_worker w("echo \"$2\"");
  const local_worker::clock::time_point start{};
  REQUIRE(w.worker.keep_alive(start));
  await_child();
  REQUIRE(w.worker.keep_alive(start));
  REQUIRE(w.worker.keep_alive(start + 999ms));
  CHECK(w.log() == "cpu:1\n");
  REQUIRE(w.worker.keep_alive(start + 1s));
  await_child();
  CHECK(w.log() == "cpu:1\ncpu:1\n");
}

TEST_CASE("local worker: other slots are taken at once", "[session]") {
  scripted_worker w("echo \"$2\"");
  const local_worker::clock::time_point start{};
  REQUIRE(w.worker.keep_alive(start));
  await_child();
  w.worker.change_slots("cpu:2");
  REQUIRE(w.worker.keep_alive(start));
  await_child();
  CHECK(w.log() == "cpu:1\ncpu:2\n");
  w.worker.change_slots("none");
  REQUIRE(w.worker.keep_alive(start + 10s));
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1); // There is no child.
  w.worker.change_slots("cpu:1");
  REQUIRE(w.worker.keep_alive(start + 10s));
  await_child();
  CHECK(w.log() == "cpu:1\ncpu:2\ncpu:1\n");
}

TEST_CASE("local worker: one that is refused is not started again", "[session]") {
  scripted_worker w("exit 2");
  REQUIRE(w.worker.keep_alive({}));
  await_child();
  const auto refused = w.worker.keep_alive({});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.starts_with("the worker process ended with status 2; "));
}

TEST_CASE("local worker: without slots nothing is started", "[session]") {
  scripted_worker w("echo started", "none");
  REQUIRE(w.worker.keep_alive({}));
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}
