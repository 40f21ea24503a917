#include "genome/codec/blob.hpp"
#include "genome/genes/hash.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <fcntl.h>

using namespace clade;

namespace {

blob in_file(const std::filesystem::path& path, const bytes& content, bool temporary) {
  write_text(path, "<<" + content + ">>");
  const auto file = std::make_shared<blob_file>();
  file->descriptor.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  file->path = path;
  file->temporary = temporary;
  return {file, 2, content.size(), hash64(content)};
}

} // namespace

TEST_CASE("blob: copies share what is in memory") {
  const blob one(bytes("a\0bcdef", 7));
  const blob other = one;
  CHECK(other.in_memory().get() == one.in_memory().get());
  CHECK(other.load()->get() == one.in_memory().get());
  CHECK(one.checksum() == hash64(bytes("a\0bcdef", 7)));
  CHECK(one.read(2, 3) == bytes("bcd"));
  CHECK(one.read(5, 100) == bytes("ef"));
  CHECK(one.read(100, 1) == bytes());
  CHECK(blob().empty());
  CHECK(blob(bytes()) == blob());
  CHECK((*blob().load())->empty());
}

TEST_CASE("blob: one in a file reads as one in memory does") {
  const scratch_folder scratch;
  const bytes content = "0123456789";
  const auto there = in_file(scratch.path() / "x", content, false);
  CHECK(there == blob(content));
  CHECK_FALSE(there.in_memory());
  for (std::uint64_t offset = 0; offset <= 12; ++offset)
    for (std::size_t most = 0; most <= 12; ++most)
      CHECK(there.read(offset, most) == blob(content).read(offset, most));
  CHECK(**there.load() == content);
  std::filesystem::resize_file(scratch.path() / "x", 5);
  CHECK(there.load().error().kind == error_kind::io);
}

TEST_CASE(
    "blob: a temporary file goes with the last that uses it, and reads until then") {
  const scratch_folder scratch;
  const auto path = scratch.path() / "x";
  auto one = in_file(path, "content", true);
  {
    const blob other = std::exchange(one, {});
    CHECK(std::filesystem::exists(path));
  }
  CHECK_FALSE(std::filesystem::exists(path));
  one = in_file(path, "content", true);
  std::filesystem::rename(path, scratch.path() / "kept");
  CHECK(**one.load() == "content");
  one = {};
  CHECK(std::filesystem::exists(scratch.path() / "kept"));
}

TEST_CASE("blob: one that is absent says why it cannot be read") {
  const auto b = blob::absent(3 << 20, 7, "the head could not read it");
  CHECK(b.is_absent());
  CHECK_FALSE(b.empty());
  CHECK(b.load().error().message == "3 MiB are not here: the head could not read it");
}

TEST_CASE("hash: pieces give the hash of the whole") {
  const bytes content(100'000, 'x');
  running_hash h;
  CHECK(h.value() == hash64({}));
  for (std::size_t at = 0; at < content.size(); at += 999)
    h.add(
        std::span(content).subspan(at, std::min<std::size_t>(999, content.size() - at)));
  CHECK(h.value() == hash64(content));
}
