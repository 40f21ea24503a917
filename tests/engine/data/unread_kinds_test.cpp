#include "engine/data/converted/data_file.hpp"
#include "engine/data/formats/text_kinds.hpp"
#include "engine/data/formats/unread_kinds.hpp"
#include "engine/data/profile/data_profile.hpp"
#include "engine/data/profile/infer_columns.hpp"
#include "engine/data/reading/preprocessing.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>

using namespace clade;
using namespace std::string_literals;

namespace {

std::string refusal(std::string_view bytes) {
  const auto fine = refuse_unread_kind("x", bytes);
  return fine ? "read" : fine.error().message;
}

std::string kind_of(std::string_view text) {
  const auto kind = text_kind_of(text);
  return kind ? std::string(kind->kind) : "table";
}

std::string repeated(const std::string& line, int times) {
  std::string out;
  for (int i = 0; i < times; ++i)
    out += line + "\n";
  return out;
}

} // namespace

TEST_CASE("unread kinds: a binary file is named by its content, with the way out") {
  const std::pair<std::string, std::string> files[] = {
      {"FEA1\x15\0\0"s, "a Feather file"},
      {"\x89HDF\r\n\x1a\n"s, "an HDF5 file"},
      {"BZh91AY&SY\0"s, "packed with bzip2"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"s,
       "a pointer of Git LFS"},
      {"\xfd"
       "7zXZ\0"s,
       "packed with xz"},
      {"\x28\xb5\x2f\xfd", "packed with zstd"},
      {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old spreadsheet"},
      {"\x89PNG\r\n\x1a\n", "an image (PNG)"},
      {"%PDF-1.4\n", "a PDF document"},
      {std::string(257, 'a') + "ustar\0"s, "a tar archive"}};
  for (const auto& [bytes, kind] : files) {
    CHECK(refusal(bytes).starts_with("x: is " + kind));
    CHECK(refusal(bytes).find("; ") != std::string::npos);
  }
  CHECK(refusal("\x80\x04\x95").find("a program that is never run") != std::string::npos);
  CHECK(refusal("PK\x03\x04 [Content_Types].xml")
        == "x: is a spreadsheet; save its sheet as .xlsx or CSV, and name that file");
  // Tables that are read.
  CHECK(refusal("PK\x03\x04" + std::string(9000, 'z') + "xl/workbook.xml" + "PK\x05\x06")
        == "read");
  for (const std::string& bytes :
       {"PAR1\x15\0\0"s, "ARROW1\0\0"s, "SQLite format 3\0"s, "{\"a\": 1}\n{\"a\": 2}"s,
        "@relation x\n@attribute y real\n@data\n"s, "1 1:2 2:3\n"s})
    CHECK(refusal(bytes) == "read");
  // Rows with tables in them are those of series.
  CHECK(refusal("@relation x\n@attribute s relational\n@data\n") == "read");
  // Text may begin like a magic number, and any bytes may begin a picture.
  CHECK(refusal("ORC,FEA1\n1,2\n") == "read");
  CHECK(refuse_unread_kind("batch.bin", "FEA1\x15\0\0"s));
}

TEST_CASE("unread kinds: texts that are no tables are told from those that are") {
  CHECK(kind_of("{\"a\": 1, \"b\": 2}\n{\"a\": 3, \"b\": 4}\n") == "JSON lines");
  CHECK(kind_of("[{\"a\": 1},\n {\"a\": 2}]") == "JSON");
  CHECK(kind_of("\xef\xbb\xbf{\n  \"a\": [1, 2]\n}") == "JSON");
  CHECK(kind_of("% weather\n@RELATION weather\n@data\n1,2\n") == "an ARFF file of Weka");
  CHECK(refusal("#made\n@problemName Gun\n@data\n1,2:a\n") == "read");
  CHECK(kind_of("+1 1:0.5 3:2\n-1 2:1e-3\n") == "a LIBSVM file");
  CHECK(kind_of("# made\n1 qid:1 1:0.5 3:2 # c\n0 qid:2 2:1 4:3\n") == "a LIBSVM file");
  CHECK(kind_of("<!DOCTYPE html>\n<p>") == "a page of HTML");
  std::string sentences;
  for (char c = 'a'; c <= 'z'; ++c)
    sentences +=
        c
        + std::string(c % 2 == 0 ? "ny film is a slow, sad and rather long walk\n"
                                 : "ll, well, never ends as it should end\n");
  CHECK(kind_of(sentences) == "text (sentences)");
  CHECK(kind_of(repeated("1 the film is a slow, sad and rather long walk home", 9)
                + repeated("0 it, well, never ends as it should have ended", 9))
        == "table");
  CHECK(kind_of("a,b\n1,2\n") == "table");
  CHECK(
      kind_of("text,label\n" + repeated("the film is a slow walk home to it all,bad", 9))
      == "table");
  CHECK(kind_of("[id],[name]\n1,2\n") == "table");
  CHECK(kind_of("12:30 5\n12:31 6\n") == "table");
  CHECK(kind_of("") == "table");
}

TEST_CASE("unread kinds: all who read data refuse them in the same words") {
  const scratch_folder folder;
  const auto file = write(folder, "d.csv", "FEA1\x15\0\0"s);
  data_params params;
  params.file = file;
  const auto expected_message = refuse_unread_kind(file, "FEA1\0"s).error().message;
  CHECK(profile_data({.file = file}).error().message == expected_message);
  CHECK(infer_columns(params).error().message == expected_message);
  CHECK(load_data(params, 1, {}).error().message == expected_message);
}

TEST_CASE(
    "unread kinds: a folder in the place of a file says which file could be meant") {
  const scratch_folder folder;
  std::filesystem::create_directories(folder.path() / "tables");
  write(folder, "tables/a.csv", "a,b\n");
  const auto read = read_data_file(folder.path() / "tables");
  REQUIRE_FALSE(read);
  CHECK(without(read.error().message, folder)
            .starts_with("tables: is a folder, not a file; name a file in it, such as "));
}
