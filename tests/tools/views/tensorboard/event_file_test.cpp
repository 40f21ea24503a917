#include "tests/support/scratch.hpp"
#include "tools/views/tensorboard/event_file.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cstdio>

using namespace clade;

namespace {

std::string hexadecimal(const std::string& bytes) {
  std::string text;
  for (const auto c : bytes) {
    std::array<char, 3> two{};
    std::snprintf(two.data(), two.size(), "%02x", static_cast<unsigned char>(c));
    text += two.data();
  }
  return text;
}

} // namespace

TEST_CASE("event file: the checksum is CRC-32C") {
  CHECK(crc32c("123456789") == 0xe3069283U);
  CHECK(crc32c("") == 0);
  // RFC 3720, B.4.
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aaU);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43U);
}

TEST_CASE("event file: an event is framed by its length and masked checksums") {
  // The text is what TensorFlow writes for these bytes.
  CHECK(hexadecimal(framed("abc")) == "0300000000000000b099490e6162636e57f121");
}

TEST_CASE("event file: a scalar has its tag, step and time") {
  const scratch_folder folder;
  auto file = event_file::create(folder.path() / "run", 12.0);
  REQUIRE(file);
  REQUIRE(file->flush());
  const auto path = folder.path() / "run" / "events.out.tfevents.0000000012.clade";
  const auto version = read_text(path);
  file->add(scalar_event{.tag = "a", .step = 3, .unix_seconds = 2.0, .value = 0.5});
  REQUIRE(file->flush());
  // Event {1: double 2.0, 2: 3, 5: {1: {1: "a", 2: float 0.5}}}
  CHECK(hexadecimal(read_text(path).substr(version.size() + 12, 23))
        == "0900000000000000401003"
           "2a0a0a080a0161150000003f");
}

TEST_CASE("event file: made anew it has nothing of what was there") {
  const scratch_folder folder;
  const auto path = folder.path() / "events.out.tfevents.0000000012.clade";
  write_text(path, std::string(1000, 'x'));
  auto file = event_file::create(folder.path(), 12.0);
  REQUIRE(file);
  REQUIRE(file->flush());
  CHECK(read_text(path).size() < 100);
  CHECK_THAT(read_text(path), Catch::Contains("brain.Event:2"));
}

TEST_CASE("event file: a folder that cannot be made is named") {
  const scratch_folder folder;
  write_text(folder.path() / "file", "x");
  const auto file = event_file::create(folder.path() / "file" / "run", 12.0);
  REQUIRE_FALSE(file);
  CHECK(file.error().kind == error_kind::io);
  CHECK_THAT(file.error().message,
             Catch::Contains("/file/run/events.out.tfevents.0000000012.clade: "));
}

TEST_CASE("event file: a full disk is an error") {
  // /dev/full takes no bytes.
  const scratch_folder folder;
  std::filesystem::create_symlink("/dev/full",
                                  folder.path() / "events.out.tfevents.0000000012.clade");
  auto file = event_file::create(folder.path(), 12.0);
  REQUIRE(file);
  const auto flushed = file->flush();
  REQUIRE_FALSE(flushed);
  CHECK(flushed.error().kind == error_kind::io);
}
