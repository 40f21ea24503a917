#include "engine/store/checkpoints.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace clade;

namespace {

std::set<std::string> files(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

} // namespace

TEST_CASE("checkpoints: what is read is what was written, the last time") {
  const scratch_folder scratch;
  const checkpoints all(scratch.path() / "checkpoints");
  CHECK(all.read(7).empty());
  REQUIRE(all.write(7, bytes("a\0b", 3)));
  CHECK(all.read(7) == bytes("a\0b", 3));
  REQUIRE(all.write(7, "other"));
  CHECK(all.read(7) == "other");
  CHECK(files(scratch.path() / "checkpoints") == std::set<std::string>{"7"});
}

TEST_CASE("checkpoints: one that is damaged, cut or another's is none") {
  const scratch_folder scratch;
  const auto folder = scratch.path() / "checkpoints";
  const checkpoints all(folder);
  REQUIRE(all.write(7, "seven"));
  const auto good = read_text(folder / "7");
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    write_text(folder / "7", bad);
    INFO("byte " << i);
    CHECK(all.read(7).empty());
    write_text(folder / "7", good.substr(0, i));
    CHECK(all.read(7).empty());
  }
  write_text(folder / "8", good);
  CHECK(all.read(8).empty());
}

TEST_CASE("checkpoints: those that nothing can start from are deleted") {
  const scratch_folder scratch;
  const auto folder = scratch.path() / "checkpoints";
  const checkpoints all(folder);
  const std::vector<candidate_id> needed{2, 3};
  REQUIRE(all.keep(needed, 4)); // There is no folder yet.
  for (candidate_id id = 1; id <= 6; ++id)
    REQUIRE(all.write(id, "x"));
  write_text(folder / "4.new", "a write that was cut short");
  REQUIRE(all.keep(needed, 4));
  CHECK(files(folder) == std::set<std::string>{"2", "3", "5", "6"});
}

TEST_CASE("checkpoints: a disk that takes none is an error that names the file") {
  const scratch_folder scratch;
  write_text(scratch.path() / "file", "");
  const checkpoints all(scratch.path() / "file" / "checkpoints");
  const auto written = all.write(1, "x");
  REQUIRE_FALSE(written);
  CHECK(written.error().kind == error_kind::io);
  CHECK(written.error().message.find("file/checkpoints") != std::string::npos);
}
