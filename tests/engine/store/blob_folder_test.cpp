#include "engine/store/sqlite/blob_folder.hpp"
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

TEST_CASE("blob folder: what is read is what was written, the last time") {
  const scratch_folder scratch;
  const blob_folder all(scratch.path() / "checkpoints");
  CHECK(all.read(7).empty());
  REQUIRE(all.write(7, bytes("a\0b", 3)));
  CHECK(all.read(7) == bytes("a\0b", 3));
  REQUIRE(all.write(7, bytes("other")));
  CHECK(all.read(7) == bytes("other"));
  CHECK(files(scratch.path() / "checkpoints") == std::set<std::string>{"7"});
}

TEST_CASE("blob folder: one that is damaged, cut or another's is none") {
  const scratch_folder scratch;
  const auto folder = scratch.path() / "checkpoints";
  const blob_folder all(folder);
  REQUIRE(all.write(7, bytes("seven")));
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

TEST_CASE("blob folder: those that nothing can start from are deleted") {
  const scratch_folder scratch;
  const auto folder = scratch.path() / "checkpoints";
  const blob_folder all(folder);
  const std::vector<candidate_id> needed{2, 3};
  REQUIRE(all.keep(needed, 4)); // There is no folder yet.
  for (candidate_id id = 1; id <= 6; ++id)
    REQUIRE(all.write(id, bytes("x")));
  write_text(folder / "4.new", "a write that was cut short");
  REQUIRE(all.keep(needed, 4));
  CHECK(files(folder) == std::set<std::string>{"2", "3", "5", "6"});
}

TEST_CASE("blob folder: a disk that takes none is an error that names the file") {
  const scratch_folder scratch;
  write_text(scratch.path() / "file", "");
  const blob_folder all(scratch.path() / "file" / "checkpoints");
  const auto written = all.write(1, bytes("x"));
  REQUIRE_FALSE(written);
  CHECK(written.error().kind == error_kind::io);
  CHECK(written.error().message.find("file/checkpoints") != std::string::npos);
}

TEST_CASE("blob folder: a large blob is read from its file, and a bit of it is missed") {
  const scratch_folder scratch;
  const auto folder = scratch.path() / "weights";
  const blob_folder all(folder);
  bytes content(3'000'001, 'x');
  content[2'000'000] = 'y';
  REQUIRE(all.write(300, content));
  const auto there = all.read(300);
  CHECK(there.file());
  CHECK(there == blob(content));
  CHECK(**there.load() == content);
  CHECK(all.ids() == std::set<candidate_id>{300});
  auto file = read_text(folder / "300");
  file[2'000'000] = 'z';
  write_text(folder / "300", file);
  CHECK(all.read(300).empty());
}

TEST_CASE("blob folder: a file that was written for it is moved, and another is copied") {
  const scratch_folder scratch;
  const blob_folder all(scratch.path() / "weights");
  const auto temporary = scratch.path() / "1.part";
  {
    auto out = blob_writer::create(temporary, 7, 10);
    REQUIRE(out);
    REQUIRE(out->append(bytes("01234")));
    REQUIRE(out->append(bytes("56789")));
    CHECK(out->written() == 10);
    const auto content = out->finish();
    REQUIRE(content);
    REQUIRE(all.write(7, *content));
    CHECK_FALSE(std::filesystem::exists(temporary));
    REQUIRE(blob_folder(scratch.path() / "others").write(7, *content));
  }
  for (const char* name : {"weights", "others"})
    CHECK(blob_folder(scratch.path() / name).read(7) == bytes("0123456789"));
  std::ignore = blob_writer::create(temporary, 8, 10);
  CHECK_FALSE(std::filesystem::exists(temporary)); // Nobody kept it.
}
