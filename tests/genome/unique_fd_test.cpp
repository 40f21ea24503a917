#include "genome/base/unique_fd.hpp"

#include <catch2/catch.hpp>
#include <fcntl.h>

#include <array>
#include <string>

using namespace clade;

namespace {

bool is_open(int descriptor) {
  return ::fcntl(descriptor, F_GETFD) != -1;
}

} // namespace

TEST_CASE("descriptor: it is closed once, by its last owner", "[base]") {
  int number = -1;
  {
    unique_fd first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    REQUIRE(first);
    number = first.get();
    unique_fd second(std::move(first));
    CHECK_FALSE(first);
    first = std::move(second);
    CHECK(first.get() == number);
    CHECK(is_open(number));
  }
  CHECK_FALSE(is_open(number));
}

TEST_CASE("descriptor: what is released stays open and errors are told", "[base]") {
  unique_fd owner(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = owner.release();
  CHECK(is_open(number));
  CHECK(owner.close() == 0);
  CHECK(unique_fd(number).close() == 0);
  CHECK(unique_fd(number).close() == EBADF);
}

TEST_CASE("descriptor: closing leaves errno as it was", "[base]") {
  errno = ENOENT;
  unique_fd(9'999).reset();
  CHECK(errno == ENOENT);
}

TEST_CASE("descriptor: a file in memory is read from its start", "[base]") {
  const std::string text(100'000, 'x');
  const auto file = memory_file(text);
  REQUIRE(file);
  std::string read(text.size() + 1, '\0');
  CHECK(::read(file.get(), read.data(), read.size())
        == static_cast<ssize_t>(text.size()));
  CHECK(read.starts_with(text));
  const unique_fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  CHECK(write_all(full.get(), "a") == ENOSPC);
}
