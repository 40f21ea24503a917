#include "engine/data/folders/folder_bundle.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

using namespace clade;
namespace fs = std::filesystem;

namespace {

fs::path with_file(const fs::path& folder, const fs::path& name,
                   const std::string& content) {
  fs::create_directories((folder / name).parent_path());
  write_text(folder / name, content);
  return folder;
}

/// All bytes, so many at a time.
std::string whole(const folder_bundle& bundle, std::size_t at_once) {
  std::string bytes;
  for (;;) {
    const auto piece = bundle.read(bytes.size(), at_once);
    REQUIRE(piece);
    REQUIRE(piece->size() <= at_once);
    if (piece->empty())
      return bytes;
    bytes += *piece;
  }
}

std::string number(std::uint64_t n) {
  return {reinterpret_cast<const char*>(&n), sizeof n};
}

/// A bundle of one file.
std::string bundle_of(const std::string& path, std::uint64_t size,
                      const std::string& content) {
  return number(1) + number(size) + number(path.size()) + path + content;
}

std::string refusal(const scratch_folder& at, const std::string& bytes) {
  write_text(at.path() / "bundle", bytes);
  const auto into = at.path() / "into";
  fs::remove_all(into);
  const auto unpacked = unpack_bundle(at.path() / "bundle", into);
  return unpacked ? "" : unpacked.error().message;
}

} // namespace

TEST_CASE("folder bundle: what is unpacked is what was packed") {
  CHECK(rc::check([] {
    const scratch_folder from, to;
    const auto files = *rc::gen::inRange(1, 9);
    for (int i = 0; i < files; ++i)
      with_file(from.path(),
                fmt::format("{}/{}.txt", i % 2 == 0 ? "a b" : "\xC3\xA4/c", i),
                *rc::gen::arbitrary<std::string>());
    with_file(from.path(), ".hidden", "not sent");
    const auto bundle = folder_bundle::of(from.path());
    RC_ASSERT(bundle.has_value());
    const auto bytes = whole(*bundle, *rc::gen::inRange<std::size_t>(1, 40));
    RC_ASSERT(bytes.size() == bundle->size());
    write_text(to.path() / "bundle", bytes);
    RC_ASSERT(unpack_bundle(to.path() / "bundle", to.path() / "new").has_value());
    RC_ASSERT(*checksum_of_data(to.path() / "new") == *checksum_of_data(from.path()));
    RC_ASSERT_FALSE(fs::exists(to.path() / "new" / ".hidden"));
    // Cut off anywhere it is none, and it never takes the place of a folder.
    const auto end = *rc::gen::inRange<std::size_t>(0, bytes.size());
    RC_ASSERT(!refusal(to, bytes.substr(0, end)).empty());
    RC_ASSERT_FALSE(unpack_bundle(to.path() / "bundle", to.path() / "new").has_value());
  }));
}

TEST_CASE("folder bundle: a file that changed since is named") {
  const scratch_folder at;
  with_file(at.path(), "a/1.txt", "some words");
  const auto bundle = folder_bundle::of(at.path());
  REQUIRE(bundle);
  write_text(at.path() / "a/1.txt", "some");
  const auto piece = bundle->read(0, 1000);
  REQUIRE_FALSE(piece);
  CHECK(piece.error().message
        == (at.path() / "a/1.txt").string() + " cannot be read, or became shorter");
}

TEST_CASE("folder bundle: nothing is written outside of the folder") {
  const scratch_folder at;
  for (const std::string path :
       {"../evil", "/evil", "a/../../evil", "..", ".", "", "a/./b", "a/"})
    CHECK(refusal(at, bundle_of(path, 4, "evil"))
          == "the bundle of a folder names a file outside of it");
  CHECK(refusal(at, bundle_of(std::string("a\0b", 3), 4, "evil"))
        == "the bundle of a folder names a file outside of it");
  CHECK_FALSE(fs::exists(at.path() / "evil"));
  CHECK_FALSE(fs::exists(at.path().parent_path() / "evil"));
  const auto twice =
      number(2) + number(1) + number(1) + "a" + number(1) + number(1) + "axy";
  CHECK(refusal(at, twice) == "the bundle of a folder names a file twice");
}

TEST_CASE("folder bundle: sizes that cannot be are an error") {
  const scratch_folder at;
  CHECK(refusal(at, "") == "the bundle of a folder cannot be read back");
  CHECK(refusal(at, number(~std::uint64_t{0}))
        == "the bundle of a folder has no list of files");
  CHECK(refusal(at, number(1)) == "the bundle of a folder ends within its list of files");
  CHECK(refusal(at, number(1) + number(1) + number(5000))
        == "the bundle of a folder ends within its list of files");
  CHECK(refusal(at, bundle_of("a", 5, "four"))
        == "the bundle of a folder is shorter than its files");
  CHECK(refusal(at, bundle_of("a", ~std::uint64_t{0}, "four"))
        == "the bundle of a folder is shorter than its files");
  CHECK(refusal(at, bundle_of("a", 3, "four"))
        == "the bundle of a folder is longer than its files");
  CHECK(rc::check([&](const std::string& bytes) {
    static_cast<void>(refusal(at, bytes)); // It ends, and with an error or a folder.
    static_cast<void>(refusal(at, number(2) + bytes));
  }));
}
