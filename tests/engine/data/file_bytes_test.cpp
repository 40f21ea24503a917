#include "engine/data/formats/file_bytes.hpp"
#include "genome/genes/hash.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace clade;

namespace {

std::string error_text(const expected<std::string>& text) {
  return text ? "no error" : text.error().message;
}

} // namespace

TEST_CASE("gunzip: what was zipped comes back with members one after the other") {
  CHECK(rc::check([](const std::string& a, const std::string& b) {
    RC_ASSERT(gunzip(gzip(a)) == a);
    RC_ASSERT(gunzip(gzip(a) + gzip(b)) == a + b);
  }));
  const std::string large(300'000, 'x');
  CHECK(gunzip(gzip(large)) == large);
}

TEST_CASE("gunzip: wherever it is cut off the byte is named") {
  const std::string whole = gzip("5,4\n3,2\n");
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK(
        error_text(gunzip(whole.substr(0, size)))
        == "byte " + std::to_string(size)
               + ": the gzip data ends too early; the file was cut off, fetch it again");
}

TEST_CASE("gunzip: damage and what follows the end are named by the byte") {
  std::string whole = gzip("5,4\n3,2\n");
  CHECK(error_text(gunzip(whole + "x"))
        == "byte " + std::to_string(whole.size())
               + ": the gzip data is damaged (something follows its end); fetch the file "
                 "again");
  whole[whole.size() - 6] ^= 1;
  CHECK(
      error_text(gunzip(whole))
      == "byte " + std::to_string(whole.size() - 4)
             + ": the gzip data is damaged (incorrect data check); fetch the file again");
}

TEST_CASE("gunzip: any bytes give text or an error") {
  const std::string whole = gzip(std::string(200, 'a') + "bcd");
  CHECK(rc::check([&](const std::string& bytes) {
    RC_ASSERT(gunzip(bytes).has_value() == false || !bytes.empty());
    auto edited = whole;
    edited[*rc::gen::inRange<std::size_t>(0, whole.size())] = *rc::gen::arbitrary<char>();
    const auto text = gunzip(edited);
    RC_ASSERT(!text || text->size() <= 1032 * edited.size());
  }));
}

TEST_CASE("files: what cannot be read is named") {
  const scratch_folder folder;
  const auto missing = read_file(folder.path() / "a.csv");
  CHECK(missing.error()
        == error{error_kind::not_found,
                 (folder.path() / "a.csv").string() + ": no such file"});
  const auto a_folder = read_file(folder.path());
  CHECK(a_folder.error()
        == error{error_kind::invalid_input,
                 folder.path().string() + ": is a folder, not a file"});
}

TEST_CASE("files: the checksum is that of the file as it lies there") {
  const scratch_folder folder;
  const auto plain = read_file(write(folder, "a", "5,4"));
  const auto zipped = read_file(write(folder, "b", gzip("5,4")));
  CHECK(plain->bytes == zipped->bytes);
  CHECK(plain->checksum == hash128(std::string("5,4")));
  CHECK(zipped->checksum == hash128(gzip("5,4")));
}

TEST_CASE("files: a line without an end is no table, however little it is zipped") {
  const scratch_folder folder;
  const std::string line(std::size_t{65} << 20, 'x');
  for (const auto& [name, begin] : std::vector<std::pair<std::string, std::string>>{
           {"x.csv.gz", "a,b\n1,"},
           {"x.ts.gz", "@problemName x\n# "},
           {"x.arff.gz", "@relation x\n% "},
           {"x.jsonl.gz", "{\"a\": 1}\n{\"a\": \""}}) {
    const auto read = read_file(write(folder, name, gzip(begin + line)));
    INFO(name);
    REQUIRE_FALSE(read);
    CHECK(read.error().message.find("byte ") != std::string::npos);
    CHECK(read.error().message.find("a line of more than 64 MiB begins")
          != std::string::npos);
  }
  // An array of JSON may be one line.
  CHECK(read_file(write(folder, "y.json.gz", gzip("[{\"a\": \"" + line + "\"}]"))));
}

TEST_CASE(
    "files: a zipped array is refused by its header, before its values are unzipped") {
  const scratch_folder folder;
  const std::string zeros(std::size_t{1} << 20, '\0');
  const auto why = [&](const std::string& name, const std::string& bytes) {
    const auto read = read_file(write(folder, name, gzip(bytes)));
    return read ? "no error"
                : read.error().message.substr(folder.path().string().size() + 1);
  };
  CHECK(why("x.npy.gz", npy("<f4", "(262144,)", zeros)) == "no error");
  CHECK(why("x.npy.gz", npy("<U4", "(65536,)", zeros)) == "no error");
  CHECK(why("x.npy.gz", npy("<f4", "(262143,)", zeros))
        == "x.npy.gz: byte 1048700: more follows than the array has values");
  CHECK(why("x.npy.gz", npy("<U4", "(65535,)", zeros))
        == "x.npy.gz: byte 1048688: more follows than the array has values");
  CHECK(why("x.npy.gz", npy("|O", "(262144,)", zeros)).find("objects of Python")
        != std::string::npos);
  CHECK(why("x.npy.gz", zeros)
        == "x.npy.gz: byte 0: not a .npy file: it would begin with \\x93NUMPY");
  CHECK(why("x-ubyte.gz", idx({1024, 1024}, zeros)) == "no error");
  CHECK(why("x-ubyte.gz", idx({1024, 1023}, zeros))
        == "x-ubyte.gz: byte 1047564: more follows than the array has values");
  // The sizes of an array that nobody has are no more than a number.
  CHECK(why("x.npy.gz", npy("<f8", "(4294967296, 4294967296, 4294967296)", zeros))
        == "no error");
}
