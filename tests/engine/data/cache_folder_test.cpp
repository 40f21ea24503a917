#include "engine/data/formats/file_bytes.hpp"
#include "engine/data/memory/cache_folder.hpp"
#include "engine/data/memory/large_file.hpp"
#include "engine/data/memory/large_vector.hpp"
#include "tests/engine/data/files.hpp"
#include "tests/engine/data/named_cache.hpp"

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace clade;
namespace fs = std::filesystem;

namespace {

/// A file of zeros that takes no room, last changed an hour ago.
fs::path sparse_file(const scratch_folder& folder, std::uint64_t bytes) {
  const auto file = write(folder, "large", "");
  fs::resize_file(file, bytes);
  return file;
}

file_state identity(const fs::path& file) {
  const auto is = state_of_file(file);
  REQUIRE(is);
  return *is;
}

std::size_t remembered(const fs::path& folder) {
  std::size_t count = 0;
  if (fs::exists(folder))
    for (const auto& entry : fs::directory_iterator(folder))
      count += entry.path().extension() == ".sum" ? 1 : 0;
  return count;
}

bool mapped_from(const void* block, const fs::path& folder) {
  std::ifstream maps("/proc/self/maps");
  const auto at = reinterpret_cast<std::uintptr_t>(block);
  for (std::string line; std::getline(maps, line);) {
    std::istringstream in(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    in >> std::hex >> begin >> dash >> end;
    if (begin <= at && at < end)
      return line.find(folder.string()) != std::string::npos;
  }
  return false;
}

} // namespace

TEST_CASE("known checksums: what was kept of a file is found until the file changes") {
  const scratch_folder folder;
  const auto cache = folder.path() / "cache";
  const known_checksums known(cache);
  const auto file = sparse_file(folder, least_remembered_bytes);
  const auto before = identity(file);
  CHECK_FALSE(known.find(before));
  known.keep(before, {1, 2}, /*written_by_us=*/true);
  CHECK(known.find(identity(file)) == genome_hash{1, 2});
  fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(1));
  CHECK_FALSE(known.find(identity(file)));
  CHECK(known.find(before) == genome_hash{1, 2});
}

TEST_CASE("known checksums: a file that changed just now is not kept, nor a small one") {
  const scratch_folder folder;
  const auto cache = folder.path() / "cache";
  const known_checksums known(cache);
  const auto file = sparse_file(folder, least_remembered_bytes);
  known.keep(identity(file), {1, 2});
  CHECK(remembered(cache) == 0);
  fs::resize_file(file, least_remembered_bytes - 1);
  known.keep(identity(file), {1, 2}, true);
  CHECK(remembered(cache) == 0);
}

TEST_CASE("known checksums: what is damaged, a link or of no folder is not believed") {
  const scratch_folder folder;
  const auto cache = folder.path() / "cache";
  const known_checksums known(cache);
  const auto is = identity(sparse_file(folder, least_remembered_bytes));
  known.keep(is, {1, 2}, true);
  REQUIRE(remembered(cache) == 1);
  const auto entry = fs::directory_iterator(cache)->path();
  struct stat mode {};
  REQUIRE(::stat(entry.c_str(), &mode) == 0);
  CHECK((mode.st_mode & 0777) == 0600);
  auto damaged = read_text(entry);
  damaged[0] = static_cast<char>(damaged[0] ^ 1);
  const auto elsewhere = write(folder, "elsewhere", read_text(entry));
  std::ofstream(entry, std::ios::binary) << damaged;
  CHECK_FALSE(known.find(is));
  fs::remove(entry);
  fs::create_symlink(elsewhere, entry);
  CHECK_FALSE(known.find(is));
  CHECK_FALSE(known_checksums(fs::path()).find(is));
}

TEST_CASE("checksums: a large file has the same in pieces as at once") {
  const scratch_folder folder;
  const named_cache cache(folder.path() / "cache");
  const auto file = sparse_file(folder, least_remembered_bytes + 5);
  std::ofstream(file, std::ios::binary | std::ios::in | std::ios::out) << "text";
  const auto at_once = read_file(file);
  REQUIRE(at_once);
  CHECK(checksum_of_file(file) == at_once->checksum);
}

TEST_CASE("large vectors: they lie in a file without a name in the cache's folder") {
  const scratch_folder folder;
  const auto cache = folder.path() / "cache";
  const named_cache named(cache);
  large_vector<std::uint8_t> large;
  large.reserve(least_large_bytes);
  large.push_back(7);
  CHECK(mapped_from(large.data(), cache));
  for (const auto& entry : fs::directory_iterator(cache))
    CHECK_FALSE(entry.is_regular_file()); // Nothing is left of it, whatever happens.
  large_vector<std::uint8_t> small(1000);
  CHECK_FALSE(mapped_from(small.data(), cache));
  auto moved = std::move(large);
  moved.push_back(8);
  CHECK((moved[0] == 7 && moved[1] == 8));
}

TEST_CASE("large vectors: their file gets a name, with what is before and behind them") {
  const scratch_folder folder;
  const auto cache = folder.path() / "cache";
  const named_cache named(cache);
  large_vector<std::uint8_t> large;
  large.reserve(least_large_bytes);
  large.assign({'a', 'b', 'c', 'd'});
  const std::string page(large_prefix_bytes, '-');
  const auto file = cache / "x.data";
  CHECK_FALSE(name_large_file(large.data(), 3, "short", "end", file));
  CHECK_FALSE(name_large_file(large.data(), 3, page, "end", folder.path() / "no" / "x"));
  write_text(file, "before");
  REQUIRE(name_large_file(large.data(), 3, page, "end", file));
  CHECK(read_text(file) == page + "abcend");
  CHECK(large[2] == 'c');
  large = {};
  CHECK(read_text(file) == page + "abcend");
  struct stat is {};
  REQUIRE(::stat(file.c_str(), &is) == 0);
  CHECK((is.st_mode & 0777) == 0600);
  large_vector<std::uint8_t> small{1, 2, 3};
  CHECK_FALSE(name_large_file(small.data(), 3, page, "end", file));
}

TEST_CASE("large vectors: without a folder they lie in memory, if that is not too much") {
  const named_cache none("/proc/nowhere/cache");
  large_vector<std::uint8_t> large;
  large.reserve(least_large_bytes);
  large.push_back(7);
  CHECK(large[0] == 7);
  CHECK_THROWS_AS(large_vector<std::uint8_t>().reserve(std::size_t{1} << 46),
                  std::bad_alloc);
}
