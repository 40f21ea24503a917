// An array gives the same values, examples and errors whether it lies in memory or is read
// from its file part by part.
#include "engine/data/arrays/array_values.hpp"
#include "engine/data/formats/file_bytes.hpp"
#include "genome/genes/hash.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <filesystem>

using namespace clade;

namespace {

std::string int16_values(std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    const auto v = static_cast<std::int16_t>(31 * i);
    out.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  return out;
}

array_values opened(const std::filesystem::path& file) {
  auto a = array_values::open(file);
  if (!a)
    FAIL(a.error().message);
  REQUIRE(*a);
  return std::move(**a);
}

} // namespace

TEST_CASE("array values: a file read in parts holds what it holds in memory") {
  REQUIRE(rc::check([] {
    const auto rows = *rc::gen::inRange<std::size_t>(1, 50);
    const auto width = *rc::gen::inRange<std::size_t>(1, 20);
    const scratch_folder folder;
    const auto bytes =
        npy("<i2", fmt::format("({}, {})", rows, width), int16_values(rows * width));
    const auto file = write(folder, "x.npy", bytes);
    auto a = opened(file);
    const auto whole = parse_npy(bytes);
    RC_ASSERT(whole.has_value());
    RC_ASSERT(a.count() == whole->count() && a.width() == width);
    RC_ASSERT(a.sizes() == whole->sizes);
    std::size_t seen = 0;
    const auto all = a.for_each_part([&](std::size_t first, const numeric_array& part) {
      RC_ASSERT(seen == first * width);
      for (std::size_t i = 0; i < part.count(); ++i, ++seen) {
        RC_ASSERT(part[i] == (*whole)[seen]);
        RC_ASSERT(part.byte_of(i) == whole->byte_of(seen));
      }
      return expected<void>();
    });
    RC_ASSERT(all.has_value());
    RC_ASSERT(seen == whole->count());
    RC_ASSERT(a.checksum() == hash128(bytes));
    const auto from = *rc::gen::inRange<std::size_t>(0, seen);
    const auto count = *rc::gen::inRange<std::size_t>(0, seen - from + 1);
    const auto some = a.part(from, count);
    RC_ASSERT(some.has_value() && some->count() == count);
    for (std::size_t i = 0; i < count; ++i)
      RC_ASSERT((*some)[i] == (*whole)[from + i]);
  }));
}

TEST_CASE("array values: parts of an array of many megabytes are whole examples") {
  const scratch_folder folder;
  constexpr std::size_t rows = 1200, width = 9001;
  auto a = opened(write(
      folder, "x.npy",
      npy("<i2", fmt::format("({}, {})", rows, width), int16_values(rows * width))));
  std::size_t parts = 0, examples = 0;
  REQUIRE(a.for_each_part([&](std::size_t first, const numeric_array& part) {
    CHECK(first == examples);
    CHECK(part.count() % width == 0);
    examples += part.count() / width;
    ++parts;
    return expected<void>();
  }));
  CHECK(examples == rows);
  CHECK(parts > 1);
}

TEST_CASE("array values: what is no plain file of an array is left to others") {
  const scratch_folder folder;
  const auto array = npy("|u1", "(2, 2)", "abcd");
  for (const auto& [name, bytes] :
       {std::pair<std::string, std::string>("x.npy.gz", gzip(array)),
        {"x.csv", "a,b\n1,2\n"},
        {"x.npz", npz({{"x.npy", array}})},
        {"empty.npy", ""}}) {
    const auto a = array_values::open(write(folder, name, bytes));
    REQUIRE(a);
    CHECK_FALSE(*a);
  }
  const auto none = array_values::open(folder.path() / "none.npy");
  REQUIRE(none);
  CHECK_FALSE(*none);
}

TEST_CASE("array values: an array that is cut off, or is while it is read, is refused") {
  const scratch_folder folder;
  const auto array = npy("<i2", "(3, 2)", int16_values(6));
  const auto cut = write(folder, "cut.npy", array.substr(0, array.size() - 1));
  const auto a = array_values::open(cut);
  REQUIRE_FALSE(a);
  CHECK(without(a.error().message, folder)
        == "cut.npy: byte 139: the file ends here, too early: 11 bytes of values are "
           "there, too few for 3 x 2 of 2 bytes each; it was cut off, fetch it again");
  auto whole = opened(write(folder, "x.npy", array));
  std::filesystem::resize_file(folder.path() / "x.npy", array.size() - 3);
  const auto read =
      whole.for_each_part([](std::size_t, const auto&) { return expected<void>(); });
  REQUIRE_FALSE(read);
  CHECK(
      without(read.error().message, folder)
      == "x.npy: byte 137: the file ends here now; it became shorter while it was read");
}
