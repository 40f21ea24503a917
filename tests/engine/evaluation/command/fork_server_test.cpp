#include "engine/evaluation/command/fork_server.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <sys/wait.h>

#include <csignal>
#include <thread>

using namespace clade;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

/// Scripts of one folder, run by one server. The module `heavy` counts how often it is loaded.
class served {
public:
  served() {
    write("heavy.py", "import os\nwith open('loaded', 'a') as file:\n"
                      "    file.write('x')\nvalue = 7\n");
  }

  void write(const std::string& name, const std::string& text) const {
    write_text(folder_.path() / name, text);
  }

  program_params script(const std::string& text) const {
    write("script.py", text);
    return {.command = {"python3", "script.py"}, .directory = folder_.path()};
  }

  program_result run(const program_params& params) {
    auto done = server_.run(params);
    if (!done)
      FAIL(done.error().message);
    return std::move(*done);
  }

  program_result run(const std::string& text) { return run(script(text)); }
  [[nodiscard]] std::size_t times_loaded() const {
    return read_text(folder_.path() / "loaded").size();
  }
  [[nodiscard]] std::filesystem::path path() const { return folder_.path(); }

private:
  scratch_folder folder_;
  fork_server server_{{"heavy"}};
};

} // namespace

TEST_CASE("fork server: modules are loaded once, and scripts run as if by themselves") {
  served s;
  auto params = s.script("import os, sys, heavy\n"
                         "print(__name__, sys.argv, os.environ.get('OWN'), heavy.value, "
                         "sys.stdin.read())\n"
                         "print('trouble', file=sys.stderr)\n"
                         "heavy.value = 0\n"
                         "sys.exit(3)\n");
  params.command.push_back("--lr=1");
  params.environment = {"OWN=first"};
  params.input = "read";
  for (int i = 0; i < 3; ++i) {
    const auto done = s.run(params);
    CHECK(done.end == program_end::by_itself);
    CHECK(WEXITSTATUS(done.status) == 3);
    CHECK(done.output == "__main__ ['script.py', '--lr=1'] first 7 read\n");
    CHECK(done.errors == "trouble\n");
  }
  // A variable of one is none of another.
  params.environment = {};
  CHECK_THAT(s.run(params).output, Contains("None 7 read"));
  CHECK(s.times_loaded() == 1);
}

TEST_CASE("fork server: modules run by their name") {
  served s;
  s.write("tool.py", "import sys\nprint(__name__, sys.argv[1:], sys.path[0])\n");
  auto params = s.script("");
  params.command = {"python3", "-m", "tool", "word"};
  CHECK(s.run(params).output
        == "__main__ ['word'] " + std::filesystem::canonical(s.path()).string() + "\n");
}

TEST_CASE("fork server: an error is that of the script alone") {
  served s;
  const auto done = s.run("import heavy\nraise ValueError('no data')\n");
  CHECK(WEXITSTATUS(done.status) == 1);
  CHECK_THAT(done.errors, StartsWith("Traceback (most recent call last):\n"));
  CHECK_THAT(done.errors, EndsWith("ValueError: no data\n"));
  CHECK_THAT(done.errors, Contains("script.py\", line 2"));
  CHECK_THAT(done.errors, !Contains("<string>") && !Contains("runpy"));
  CHECK(WEXITSTATUS(s.run("x = (\n").status) == 1);
  CHECK(WTERMSIG(s.run("import os; os.abort()").status) == SIGABRT);
  CHECK(s.run("print('sound')").output == "sound\n");
  CHECK(s.times_loaded() == 1);
}

TEST_CASE("fork server: a script ends as a Python ends") {
  served s;
  // Text that threads, handlers of the end and files that nobody closes still have to
  // write is written.
  const auto done = s.run("import atexit, heavy, sys, threading, time\n"
                          "atexit.register(print, 'at exit')\n"
                          "threading.Thread(target=lambda: (time.sleep(0.05), "
                          "print('thread'))).start()\n"
                          "kept = open('kept', 'w')\nkept.write('whole')\n"
                          "class holder:\n    file = open('held', 'wb')\n"
                          "holder.file.write(b'too')\nholder.self = holder\n"
                          "sys.exit('gives up')\n");
  CHECK(WEXITSTATUS(done.status) == 1);
  CHECK(done.output == "thread\nat exit\n");
  CHECK(done.errors == "gives up\n");
  CHECK(read_text(s.path() / "kept") == "whole");
  CHECK(read_text(s.path() / "held") == "too");
  for (const auto& [words, status] : {std::pair("sys.exit()", 0),
                                      {"sys.exit(True)", 1},
                                      {"sys.exit(300)", 44},
                                      {"raise KeyError", 1},
                                      {"import os; os._exit(9)", 9},
                                      {"sys.stdout = None", 0},
                                      {"sys.stdout.detach()", 0}})
    CHECK(WEXITSTATUS(s.run("import sys\n" + std::string(words) + "\n").status)
          == status);
  CHECK(s.times_loaded() == 1);
}

TEST_CASE("fork server: a module that cannot be loaded is the program's failure") {
  const scratch_folder folder;
  write_text(folder.path() / "script.py", "print('ran')");
  fork_server server({"no_such_module_anywhere"});
  for (int i = 0; i < 2; ++i) {
    const auto done =
        server.run({.command = {"python3", "script.py"}, .directory = folder.path()});
    REQUIRE(done);
    CHECK(WEXITSTATUS(done->status) == 1);
    CHECK(done->output.empty());
    CHECK_THAT(done->errors, EndsWith("No module named 'no_such_module_anywhere'\n"));
  }
  const auto absent = server.run(
      {.command = {"no_such_python", "script.py"}, .directory = folder.path()});
  REQUIRE_FALSE(absent);
  CHECK_THAT(absent.error().message, Contains("no program no_such_python"));
}

TEST_CASE("fork server: what a script leaves behind is killed, and the server is not") {
  served s;
  // The one that is left has its own session, and holds the output open.
  const auto done = s.run("import subprocess, heavy\n"
                          "left = subprocess.Popen(['sleep', '1000'], "
                          "start_new_session=True)\n"
                          "print(left.pid)\n");
  const auto left = static_cast<pid_t>(std::stol(done.output));
  CHECK(::kill(left, 0) != 0);
  CHECK(s.run("print('next')").output == "next\n");
  CHECK(s.times_loaded() == 1);
}

TEST_CASE("fork server: a script that is told to end may save, and the server stays") {
  served s;
  auto params = s.script("import signal, sys, time, heavy\n"
                         "def save(*_):\n    print('saved')\n    sys.exit(0)\n"
                         "signal.signal(signal.SIGTERM, save)\n"
                         "print('there', flush=True)\n"
                         "while True:\n    time.sleep(0.01)\n");
  bool wanted = true;
  params.grace = 60s;
  params.wanted = [&] { return wanted; };
  params.on_line = [&](std::string_view) { wanted = false; };
  const auto done = s.run(params);
  CHECK(done.end == program_end::unwanted);
  CHECK(WEXITSTATUS(done.status) == 0);
  CHECK(done.output == "there\nsaved\n");
  CHECK(s.run("print('next')").output == "next\n");
  CHECK(s.times_loaded() == 1);
}

TEST_CASE("fork server: a script that will not end, or ends the server, costs a server") {
  served s;
  // On a busy machine the modules may take longer than the script below has.
  CHECK(s.run("print('first')").output == "first\n");
  CHECK(s.times_loaded() == 1);
  auto params = s.script("import signal, time, heavy\n"
                         "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                         "while True:\n    time.sleep(1)\n");
  params.time = 300ms;
  params.grace = 50ms;
  CHECK(s.run(params).end == program_end::timed_out);
  CHECK(s.run("print('next')").output == "next\n");
  CHECK(s.times_loaded() == 2);
  const auto done = s.run("import os, signal, time\nos.kill(os.getppid(), "
                          "signal.SIGKILL)\ntime.sleep(1000)\n");
  CHECK(done.end == program_end::by_itself);
  CHECK(WTERMSIG(done.status) == SIGKILL);
  CHECK(s.run("print('next')").output == "next\n");
  CHECK(s.times_loaded() == 3);
}

TEST_CASE("fork server: a script that takes too much memory is killed") {
  served s;
  auto params = s.script("x = b'x' * (1 << 28)\nimport time; time.sleep(1000)\n");
  params.memory_bytes = 128 << 20;
  CHECK(s.run(params).end == program_end::out_of_memory);
  CHECK(s.run("print('next')").output == "next\n");
}

TEST_CASE("fork server: one that somebody has killed meanwhile is started again") {
  served s;
  const auto server =
      static_cast<pid_t>(std::stol(s.run("import os\nprint(os.getppid())\n").output));
  REQUIRE(::kill(server, SIGKILL) == 0);
  while (::kill(server, 0) == 0
         && read_text("/proc/" + std::to_string(server) + "/stat").find(") Z")
                == std::string::npos)
    std::this_thread::yield();
  CHECK(s.run("print('next')").output == "next\n");
}
