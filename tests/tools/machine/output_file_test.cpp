// The file that lies where a command is to write: a regular file is replaced as a whole,
// all else stays what it is.
#include "tests/support/scratch.hpp"
#include "tests/support/unprivileged.hpp"
#include "tools/machine/output_file.hpp"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

using namespace clade;

namespace {

namespace fs = std::filesystem;

struct stat status_of(const fs::path& file) {
  struct stat is {};
  REQUIRE(::lstat(file.c_str(), &is) == 0);
  return is;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

std::string refusal(const fs::path& file) {
  const auto written = write_output(file, "new");
  REQUIRE_FALSE(written);
  return written.error().message;
}

/// All that can be read from a descriptor that does not block.
std::string read_all(int descriptor) {
  std::string all;
  std::array<char, 4096> block{};
  for (ssize_t size = 0; (size = ::read(descriptor, block.data(), block.size())) > 0;)
    all.append(block.data(), static_cast<std::size_t>(size));
  return all;
}

} // namespace

TEST_CASE("output file: what is not there is made, with the mode of new files") {
  const scratch_folder here;
  const auto before = ::umask(027);
  const auto written = write_output(here.path() / "x", "new");
  ::umask(before);
  REQUIRE(written);
  CHECK(read_text(here.path() / "x") == "new");
  CHECK((status_of(here.path() / "x").st_mode & 0777) == 0640);
  CHECK(names_in(here.path()) == std::vector<std::string>{"x"});
}

TEST_CASE("output file: a regular file is replaced as a whole and keeps its mode") {
  const scratch_folder here;
  const auto file = here.path() / "x";
  write_text(file, "what was there");
  fs::permissions(file, fs::perms(0604));
  const auto before = status_of(file).st_ino;
  {
    auto opened = output_file::open(file, say_waiting);
    REQUIRE(opened);
    opened->stream() << "half of it" << std::flush;
    CHECK(read_text(file) == "what was there");
  }
  // Without `finish` nothing has happened.
  CHECK(read_text(file) == "what was there");
  CHECK(names_in(here.path()) == std::vector<std::string>{"x"});
  REQUIRE(write_output(file, "new"));
  CHECK(read_text(file) == "new");
  CHECK((status_of(file).st_mode & 0777) == 0604);
  CHECK(status_of(file).st_ino != before);
  CHECK(names_in(here.path()) == std::vector<std::string>{"x"});
}

TEST_CASE("output file: links are followed and stay") {
  const scratch_folder here;
  fs::create_directory(here.path() / "there");
  write_text(here.path() / "there" / "x", "old");
  fs::create_symlink("there/x", here.path() / "one");
  fs::create_symlink("one", here.path() / "two");
  fs::create_symlink("there/y", here.path() / "dangling");
  REQUIRE(write_output(here.path() / "two", "new"));
  REQUIRE(write_output(here.path() / "dangling", "made"));
  CHECK(read_text(here.path() / "there" / "x") == "new");
  CHECK(read_text(here.path() / "there" / "y") == "made");
  for (const char* link : {"one", "two", "dangling"})
    CHECK(fs::is_symlink(here.path() / link));
  CHECK(names_in(here.path() / "there") == std::vector<std::string>{"x", "y"});
  fs::create_symlink("round", here.path() / "round");
  CHECK(refusal(here.path() / "round").ends_with("Too many levels of symbolic links"));
}

TEST_CASE("output file: a file with several names stays one file") {
  const scratch_folder here;
  write_text(here.path() / "a", "what was there, and longer than the new");
  fs::create_hard_link(here.path() / "a", here.path() / "b");
  REQUIRE(write_output(here.path() / "a", "new"));
  CHECK(read_text(here.path() / "b") == "new");
  CHECK(names_in(here.path()) == std::vector<std::string>{"a", "b"});
}

TEST_CASE("output file: what a run has recorded is not written over") {
  const scratch_folder here;
  const std::string store("SQLite format 3\0 and so on", 26);
  for (const char* name : {"run.db", "run.db-wal", "run.db.lock", "copy"})
    write_text(here.path() / name, store);
  fs::create_symlink("run.db", here.path() / "link.html");
  for (const char* name : {"run.db", "run.db-wal", "run.db.lock", "copy", "link.html"})
    CHECK(refusal(here.path() / name)
          == "cannot write " + (here.path() / name).string()
                 + ": it is of a run's store, or of another database; name another "
                   "file");
  CHECK(read_text(here.path() / "run.db") == store);
  CHECK(write_output(here.path() / "report.html", "new"));
}

TEST_CASE("output file: a device is written to and stays a device") {
  for (const char* device : {"/dev/null", "/dev/zero"}) {
    REQUIRE(write_output(device, "new"));
    CHECK(S_ISCHR(status_of(device).st_mode));
  }
  const scratch_folder here;
  const auto full = here.path() / "full";
  if (::mknod(full.c_str(), S_IFCHR | 0666, makedev(1, 7)) != 0)
    fs::create_symlink("/dev/full", full); // Only root makes devices.
  const auto type = status_of(full).st_mode & S_IFMT;
  const auto written = write_output(full, "new");
  REQUIRE_FALSE(written);
  CHECK(written.error().kind == error_kind::io);
  CHECK(written.error().message
        == "cannot write " + full.string() + ": No space left on device");
  CHECK((status_of(full).st_mode & S_IFMT) == type);
  CHECK(names_in(here.path()) == std::vector<std::string>{"full"});
}

TEST_CASE("output file: a FIFO is written to once, and its reader is waited for") {
  const scratch_folder here;
  const auto fifo = here.path() / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const std::string content(200'000, 'x');
  std::string read;
  std::jthread reader;
  int waited = 0;
  auto opened = output_file::open(fifo, [&](const fs::path&) {
    ++waited;
    reader = std::jthread([&] { read = read_text(fifo); });
  });
  REQUIRE(opened);
  opened->stream() << content;
  REQUIRE(opened->finish());
  reader.join();
  CHECK(waited == 1);
  CHECK(read == content);
  CHECK(fs::is_fifo(fifo));
}

TEST_CASE("output file: a descriptor of the process is written to where it stands") {
  const scratch_folder here;
  const auto file = here.path() / "x";
  write_text(file, "before;");
  const int kept = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  REQUIRE(kept >= 0);
  REQUIRE(write_output("/dev/fd/" + std::to_string(kept), "new;"));
  REQUIRE(write_output("/proc/self/fd/" + std::to_string(kept), "newer"));
  ::close(kept);
  CHECK(read_text(file) == "before;new;newer");
  int pipe[2];
  REQUIRE(::pipe2(pipe, O_CLOEXEC | O_NONBLOCK) == 0);
  fs::create_symlink("/dev/fd/" + std::to_string(pipe[1]), here.path() / "link");
  REQUIRE(write_output(here.path() / "link", "in the pipe"));
  CHECK(read_all(pipe[0]) == "in the pipe");
  ::close(pipe[0]);
  ::close(pipe[1]);
  CHECK(refusal("/dev/fd/9999").starts_with("cannot write /dev/fd/9999: "));
  CHECK(is_standard_output("/dev/stdout"));
  CHECK(is_standard_output("/dev/fd/1"));
  CHECK_FALSE(is_standard_output("/dev/stderr"));
  CHECK_FALSE(is_standard_output(here.path() / "1"));
}

TEST_CASE("output file: what cannot be written is refused in a sentence") {
  const scratch_folder here;
  const auto folder = here.path().string();
  CHECK(refusal(folder) == "cannot write " + folder + ": it is a folder; name a file");
  CHECK(refusal(folder + "/no/x")
        == "cannot write " + folder + "/no/x: there is no folder " + folder + "/no");
  CHECK(refusal(folder + "/no/").ends_with("it is a folder; name a file"));
  write_text(here.path() / "x", "old");
  CHECK(refusal(folder + "/x/y").ends_with("Not a directory"));
  CHECK(refusal(folder + "/" + std::string(300, 'n')).ends_with("File name too long"));
  CHECK(write_output(folder, "").error().kind == error_kind::invalid_input);
}

TEST_CASE("output file: a file that may not be written is not replaced either") {
  const unprivileged somebody;
  const scratch_folder here;
  write_text(here.path() / "x", "old");
  fs::permissions(here.path() / "x", fs::perms(0400));
  CHECK(refusal(here.path() / "x").ends_with("Permission denied"));
  CHECK(read_text(here.path() / "x") == "old");
  // A folder that may not be written still has files that may.
  fs::permissions(here.path() / "x", fs::perms(0600));
  fs::permissions(here.path(), fs::perms(0500));
  CHECK(write_output(here.path() / "x", "new"));
  CHECK(read_text(here.path() / "x") == "new");
  fs::permissions(here.path(), fs::perms(0700));
}
