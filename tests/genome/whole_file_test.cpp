#include "genome/base/unique_fd.hpp"
#include "genome/base/whole_file.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

using namespace clade;

namespace {

std::string message_of(const expected<std::string>& read) {
  return read ? "no error" : read.error().message;
}

std::filesystem::path written(const std::filesystem::path& file,
                              const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

} // namespace

TEST_CASE("whole file: a file is read up to its limit") {
  const scratch_folder folder;
  const auto file = written(folder.path() / "a", "12345");
  CHECK(read_whole_file(file, {.most_bytes = 5}) == "12345");
  CHECK(message_of(read_whole_file(file, {.most_bytes = 4}))
        == file.string() + ": is larger than 4 bytes");
  CHECK(read_whole_file(written(folder.path() / "none", ""), {}) == "");
}

TEST_CASE("whole file: a large file without bytes is refused unread") {
  const scratch_folder folder;
  const auto file = written(folder.path() / "sparse", "");
  std::filesystem::resize_file(file, std::uintmax_t{1} << 40);
  CHECK(message_of(read_whole_file(file, {.most_bytes = std::uint64_t{1} << 30}))
        == file.string() + ": is larger than 1 GiB");
}

TEST_CASE("whole file: folders, devices and what is not there are named") {
  const scratch_folder folder;
  CHECK(message_of(read_whole_file(folder.path(), {.most_bytes = 9}))
        == folder.path().string() + ": is a folder, not a file");
  for (const char* device : {"/dev/zero", "/dev/null", "/dev/full", "/dev/urandom"})
    for (const bool streams : {false, true})
      CHECK(message_of(read_whole_file(device, {.most_bytes = 9, .streams = streams}))
            == std::string(device) + ": is a device, not a file");
  const auto missing = read_whole_file(folder.path() / "x", {});
  CHECK(missing.error().kind == error_kind::not_found);
  CHECK(message_of(read_whole_file(folder.path() / "x" / "y", {}))
        == (folder.path() / "x" / "y").string() + ": no such file");
  CHECK(message_of(read_whole_file(std::string(5000, 'x'), {}))
            .ends_with("cannot be opened: File name too long"));
}

TEST_CASE("whole file: a pipe is read to its end where streams may be, up to the limit") {
  const scratch_folder folder;
  const auto pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(message_of(read_whole_file(pipe, {.most_bytes = 9}))
        == pipe.string()
               + ": is a pipe or terminal, which can be read only once; write it to a "
                 "file, and name that");
  const auto piped = [&](const std::string& text, std::uint64_t most) {
    std::thread writer([&] { written(pipe, text); });
    const auto read = read_whole_file(pipe, {.most_bytes = most, .streams = true});
    writer.join();
    return read ? *read : read.error().message;
  };
  CHECK(piped("12345", 5) == "12345");
  CHECK(piped("123456", 5) == pipe.string() + ": is larger than 5 bytes");
}

TEST_CASE("whole file: a pipe that nobody writes is refused, and not waited for") {
  const scratch_folder folder;
  const auto pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const file_limits soon{
      .most_bytes = 9, .streams = true, .writer_within = std::chrono::milliseconds(0)};
  CHECK(message_of(read_whole_file(pipe, soon))
            .ends_with("is a pipe that nobody writes to; "
                       "start what writes it, or name a "
                       "file"));
  // Who has it open and has not written yet is waited for.
  const unique_fd kept(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK));
  unique_fd other(::open(pipe.c_str(), O_WRONLY));
  REQUIRE((kept && other));
  std::thread writer([&] {
    if (::write(other.get(), "later", 5) == 5)
      other = unique_fd();
  });
  CHECK(read_whole_file(pipe, soon) == "later");
  writer.join();
}

TEST_CASE("whole file: sizes are written in the largest unit") {
  CHECK(binary_size(700) == "700 bytes");
  CHECK(binary_size(1 << 20) == "1 MiB");
  CHECK(binary_size(std::uint64_t{16} << 30) == "16 GiB");
  CHECK(binary_size(std::uint64_t{1} << 44) == "16384 GiB");
}
