#include "tests/support/scratch.hpp"
#include "tools/queue/processes/entry_log.hpp"

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include <fstream>

using namespace clade;

namespace {

constexpr std::size_t piece_bytes = 1 << 16;
constexpr std::size_t line_bytes = 8;

/// Appends lines of eight bytes, "0000012\n", with the numbers from one to the other.
void append(const std::filesystem::path& file, std::size_t from, std::size_t to) {
  std::string text;
  for (; from < to; ++from) {
    const auto number = std::to_string(from);
    text += std::string(line_bytes - 1 - number.size(), '0') + number + "\n";
  }
  std::ofstream(file, std::ios::app | std::ios::binary) << text;
}

std::uint64_t bytes_on_disk(const std::filesystem::path& file) {
  struct stat s {};
  REQUIRE(::stat(file.c_str(), &s) == 0);
  return static_cast<std::uint64_t>(s.st_blocks) * 512;
}

/// All that is there, and how much is not.
std::pair<std::string, std::uint64_t> read_all(const std::filesystem::path& file) {
  std::string text;
  std::uint64_t offset = 0, freed = 0;
  while (true) {
    const auto piece = read_log(file, offset, piece_bytes);
    REQUIRE(piece);
    if (piece->text.empty())
      return {text, freed};
    freed += piece->offset - offset;
    offset = piece->offset + piece->text.size();
    text += piece->text;
  }
}

} // namespace

TEST_CASE("entry log: a short one stays what it is") {
  const scratch_folder folder;
  const auto file = folder.path() / "log";
  append(file, 0, 1000);
  const auto before = read_text(file);
  REQUIRE(shorten_log(file, least_log_bytes));
  CHECK(read_text(file) == before);
  CHECK(read_all(file) == std::pair(before, std::uint64_t{0}));
}

TEST_CASE("entry log: of a long one the beginning and the end are kept") {
  const scratch_folder folder;
  const auto file = folder.path() / "log";
  constexpr std::size_t lines = 3 << 20; // 24 MiB
  for (std::size_t round = 0; round < 6; ++round) {
    append(file, round * lines / 6, (round + 1) * lines / 6);
    REQUIRE(shorten_log(file, least_log_bytes));
    CHECK(bytes_on_disk(file) <= least_log_bytes);
  }
  CHECK(std::filesystem::file_size(file) == lines * line_bytes);
  const auto [text, freed] = read_all(file);
  CHECK(text.size() + freed == lines * line_bytes);
  CHECK(text.size() >= least_log_bytes / 2 + (std::size_t{1} << 20));
  CHECK(text.find('\0') == std::string::npos);
  CHECK(text.starts_with("0000000\n0000001\n"));
  CHECK(text.ends_with(std::to_string(lines - 1) + "\n"));
}

TEST_CASE("entry log: an offset in what is freed leads behind it") {
  const scratch_folder folder;
  const auto file = folder.path() / "log";
  constexpr std::size_t lines = 2 << 20;
  append(file, 0, lines);
  REQUIRE(shorten_log(file, least_log_bytes));
  const auto piece = read_log(file, std::uint64_t{5} << 20, piece_bytes);
  REQUIRE(piece);
  CHECK(piece->offset > std::uint64_t{5} << 20);
  CHECK(piece->text.size() == piece_bytes);
  CHECK(read_log(file, lines * line_bytes, piece_bytes)->text.empty());
  CHECK(read_log(file, UINT64_MAX, piece_bytes)->text.empty());
}

TEST_CASE("entry log: one that is not there is empty") {
  const scratch_folder folder;
  CHECK(shorten_log(folder.path() / "log", least_log_bytes));
  CHECK(read_log(folder.path() / "log", 7, piece_bytes)->text.empty());
}

TEST_CASE("entry log: it is looked at again before it has grown by what it may keep") {
  using namespace std::chrono_literals;
  constexpr std::uint64_t mib = 1 << 20;
  const auto pause = [](std::uint64_t grown, std::chrono::nanoseconds within,
                        std::uint64_t most = usual_log_bytes) {
    return pause_between_looks({.grown = grown, .within = within, .most = most});
  };
  CHECK(pause(0, 0ms) == 5ms);
  CHECK(pause(0, 100ms) == 200ms);
  CHECK(pause(0, 10s) == 1s);
  // 400 MB/s into a log of 8 MiB: a look for each 2 MiB.
  CHECK(pause(40 * mib, 100ms, 8 * mib) == 5ms);
  CHECK(pause(400 * mib, 1s) == 640ms);
  // However quiet it was: 128 MiB/s do not write more than it may take.
  CHECK(pause(0, 10s, 8 * mib) == 62ms);
}
