#include "tests/support/scratch.hpp"
#include "tools/machine/standard_streams.hpp"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <ostream>
#include <thread>

using namespace clade;

namespace {

/// Returns the value of a function in a process of its own, which may close what it
/// likes.
template<class Function>
int in_child(Function f) {
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(f());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

TEST_CASE("standard streams: what is closed is neither read nor written nor given away") {
  CHECK(in_child([] {
          for (const int stream : {0, 1, 2})
            ::close(stream);
          open_missing_streams();
          char byte = 'x';
          if (::read(0, &byte, 1) >= 0 || errno != EBADF)
            return 1;
          for (const int stream : {1, 2})
            if (::write(stream, &byte, 1) >= 0 || errno != EBADF)
              return 2;
          return ::open("/dev/null", O_RDONLY) > 2 ? 0 : 3;
        })
        == 0);
}

TEST_CASE("standard streams: what is open stays what it is") {
  const scratch_folder here;
  CHECK(in_child([&] {
          const int file = ::open((here.path() / "x").c_str(), O_RDWR | O_CREAT, 0600);
          ::dup2(file, 1);
          ::close(0);
          open_missing_streams();
          return ::write(1, "kept", 4) == 4 ? 0 : 1;
        })
        == 0);
  CHECK(read_text(here.path() / "x") == "kept");
}

TEST_CASE("standard streams: output that cannot be written is told with its cause") {
  const auto told = [](const char* file, int flags, const std::string& message) {
    return in_child([&] {
      ::dup2(::open(file, flags), 1);
      const checked_output output;
      // Not at once: nothing of it has been written yet.
      std::cout << "some words";
      const auto flushed = flush_output();
      // It stays so.
      return !flushed && flushed.error().message == message && !flush_output()
                     && flushed.error().kind == error_kind::io
                 ? 0
                 : 1;
    });
  };
  CHECK(told("/dev/full", O_WRONLY,
             "standard output cannot be written: No space left on device")
        == 0);
  CHECK(told("/dev/null", O_RDONLY,
             "standard output cannot be written: Bad file descriptor")
        == 0);
}

TEST_CASE("standard streams: what C prints is looked after too") {
  CHECK(in_child([] {
          ::dup2(::open("/dev/full", O_WRONLY), 1);
          std::printf("some words");
          return flush_output() ? 1 : 0;
        })
        == 0);
}

TEST_CASE(
    "standard streams: texts of others bring no orders to a terminal, nor `| tee`") {
  const scratch_folder here;
  const auto write_to = [&](const char* name, int stream) {
    ::dup2(::open((here.path() / name).c_str(), O_WRONLY | O_CREAT, 0600), stream);
  };
  std::cout.flush(); // The child would write what Catch2 has not.
  CHECK(in_child([&] {
          write_to("out", 1);
          write_to("err", 2);
          const checked_output output;
          std::cout << "a\x1b[31m" << '\x07' << "\xc3"
                    << "\xb6 \xe2\x80\xaex\n";
          std::cerr << "clade: b\x1b[2J\xc2\x9b\n";
          print_data("c\x1b[0m\r\n");
          std::cout << "d\xc3";
          return flush_output() ? 0 : 1;
        })
        == 0);
  CHECK(read_text(here.path() / "out") == "a?[31m?\xc3\xb6 \\u202ex\nc\x1b[0m\r\nd?");
  CHECK(read_text(here.path() / "err") == "clade: b?[2J\\u009b\n");
}

TEST_CASE("standard streams: a terminal is shown data as all else") {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  REQUIRE(terminal >= 0);
  REQUIRE(::grantpt(terminal) == 0);
  REQUIRE(::unlockpt(terminal) == 0);
  std::array<char, 128> name{};
  REQUIRE(::ptsname_r(terminal, name.data(), name.size()) == 0);
  const int shown = ::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  REQUIRE(shown >= 0);
  {
    descriptor_buffer buffer(shown);
    CHECK(buffer.put_data("a\x1b[2J\n"));
    buffer.erase_line();
    std::ostream(&buffer) << "b\x1b[2J\n";
  }
  std::string read;
  const std::string wanted = "a?[2J\r\n\r\033[Kb?[2J\r\n"; // The terminal's line ends.
  std::array<char, 64> block{};
  while (read.size() < wanted.size()) {
    const auto size = ::read(terminal, block.data(), block.size());
    REQUIRE(size > 0);
    read.append(block.data(), static_cast<std::size_t>(size));
  }
  CHECK(read == wanted);
  ::close(shown);
  ::close(terminal);
}

TEST_CASE("descriptor buffer: all is written in its order, long or short") {
  const scratch_folder here;
  const auto file = here.path() / "x";
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  descriptor_buffer buffer(descriptor);
  std::ostream out(&buffer);
  std::string all;
  for (const std::size_t size : {0, 1, 5, 16'383, 2, 16'384, 3, 100'000, 7}) {
    const std::string part(size, static_cast<char>('a' + size % 26));
    out << part;
    out.put('.');
    all += part + ".";
  }
  CHECK(read_text(file).size() < all.size());
  out << std::flush;
  ::close(descriptor);
  CHECK(read_text(file) == all);
  CHECK(buffer.cause() == 0);
}

TEST_CASE("descriptor buffer: one that is full and does not block is waited for") {
  int pipe[2];
  REQUIRE(::pipe2(pipe, O_CLOEXEC) == 0);
  REQUIRE(::fcntl(pipe[1], F_SETFL, O_NONBLOCK) == 0);
  const std::string all(1'000'000, 'x');
  std::string read;
  std::jthread reader([&] {
    std::array<char, 4096> block{};
    for (ssize_t size = 0; (size = ::read(pipe[0], block.data(), block.size())) > 0;)
      read.append(block.data(), static_cast<std::size_t>(size));
  });
  {
    descriptor_buffer buffer(pipe[1]);
    std::ostream out(&buffer);
    CHECK((out << all << std::flush));
  }
  ::close(pipe[1]);
  reader.join();
  ::close(pipe[0]);
  CHECK(read == all);
}

TEST_CASE("descriptor buffer: after a failure nothing more is written") {
  const scratch_folder here;
  const auto file = here.path() / "x";
  const int readable = ::open(file.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
  descriptor_buffer buffer(readable);
  std::ostream out(&buffer);
  out << "lost" << std::flush;
  CHECK_FALSE(out);
  CHECK(buffer.cause() == EBADF);
  const int writable = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  ::dup2(writable, readable);
  out.clear();
  out << "and its end" << std::flush;
  CHECK_FALSE(out);
  CHECK(read_text(file).empty());
  ::close(readable);
  ::close(writable);
}
