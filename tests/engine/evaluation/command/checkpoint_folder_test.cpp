#include "engine/evaluation/command/checkpoint_folder.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <sys/stat.h>

using namespace clade;
using Catch::Matchers::Contains;

namespace fs = std::filesystem;

namespace {

std::string refused(const fs::path& folder, const folder_limits& limits = {}) {
  const auto packed = pack_folder(folder, limits);
  REQUIRE_FALSE(packed);
  return packed.error().message;
}

/// Returns the error of unpacking an entry of this path.
std::string unpacked(const std::string& path, std::uint64_t kind = 1) {
  const scratch_folder folder;
  encoder out;
  out.array(2).natural(1).array(1).array(3).text(path).natural(kind).binary(bytes("x"));
  const auto done = unpack_folder(blob(out.take()), folder.path());
  return done ? "" : done.error().message;
}

} // namespace

TEST_CASE("checkpoint folder: it is the same elsewhere") {
  const scratch_folder from, to;
  fs::create_directories(from.path() / "a" / "empty");
  write_text(from.path() / "a" / "weights.bin", std::string("\0\1\2", 3));
  write_text(from.path() / "run", "#!/bin/sh\n");
  fs::permissions(from.path() / "run", fs::perms::owner_exec, fs::perm_options::add);
  write_text(from.path() / "nothing", "");
  const auto packed = pack_folder(from.path());
  REQUIRE(packed);
  REQUIRE(unpack_folder(*packed, to.path()));
  CHECK(read_text(to.path() / "a" / "weights.bin") == std::string("\0\1\2", 3));
  CHECK(fs::is_directory(to.path() / "a" / "empty"));
  CHECK(fs::exists(to.path() / "nothing"));
  const auto runs = [&](const char* name) {
    return (fs::status(to.path() / name).permissions() & fs::perms::owner_exec)
           != fs::perms::none;
  };
  CHECK(runs("run"));
  CHECK_FALSE(runs("nothing"));
  // The same content packs to the same bytes.
  CHECK(*pack_folder(to.path()) == *packed);
}

TEST_CASE("checkpoint folder: links and odd files are refused") {
  const scratch_folder folder;
  fs::create_symlink("/etc/passwd", folder.path() / "link");
  CHECK(refused(folder.path()) == "link is neither a file nor a folder");
  fs::remove(folder.path() / "link");
  REQUIRE(::mkfifo((folder.path() / "pipe").c_str(), 0600) == 0);
  CHECK(refused(folder.path()) == "pipe is neither a file nor a folder");
}

TEST_CASE("checkpoint folder: it is bounded") {
  const scratch_folder folder;
  write_text(folder.path() / "a", std::string(3000, 'x'));
  write_text(folder.path() / "b", "");
  CHECK(refused(folder.path(), {.most_bytes = 2048}) == "it has more than 2 KiB");
  CHECK(refused(folder.path(), {.most_files = 1}) == "it has more than 1 files");
  CHECK(pack_folder(folder.path(), {.most_bytes = 3000, .most_files = 2}));
}

TEST_CASE("checkpoint folder: nothing is written outside of it") {
  for (const std::string path : {"../x", "/tmp/x", "a/../../x", "", "."})
    CHECK_THAT(unpacked(path), Contains("a checkpoint folder with the path"));
  CHECK_THAT(unpacked("x", 3), Contains("a checkpoint folder with the path"));
  CHECK(unpacked("x").empty());
  const scratch_folder folder;
  CHECK_FALSE(unpack_folder(blob(bytes("nothing of the kind")), folder.path()));
}
