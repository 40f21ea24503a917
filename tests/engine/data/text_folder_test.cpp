#include "engine/data/converted/text_folder.hpp"
#include "engine/data/folders/class_folder.hpp"
#include "engine/data/profile/data_profile.hpp"
#include "engine/data/profile/infer_columns.hpp"
#include "engine/data/profile/profile_words.hpp"
#include "engine/data/reading/preprocessing.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>

using namespace clade;

namespace {

void put(const scratch_folder& folder, const std::string& place,
         const std::string& text) {
  std::filesystem::create_directories((folder.path() / place).parent_path());
  write(folder, place, text);
}

/// Reviews of two classes, told by a word.
void put_reviews(const scratch_folder& folder, const std::string& place = "reviews",
                 int each = 10) {
  for (int i = 0; i < each; ++i) {
    put(folder, fmt::format("{}/good/{}.txt", place, i),
        fmt::format("a fine film, \"number {}\",\nand well told", i));
    put(folder, fmt::format("{}/poor/old/{}.txt", place, i),
        fmt::format("a dull film of the year {} that is badly told", 1990 + i));
  }
}

data_params params_of(const std::filesystem::path& folder) {
  data_params params;
  params.file = folder;
  return params;
}

/// Loads the data as a run does whose experiment says no more than the folder.
expected<data_set> loaded(const data_params& params) {
  return infer_columns(params).and_then(
      [](const inferred_data& found) { return load_data(found.params, 1, {}); });
}

std::string refusal(const scratch_folder& folder, const std::string& place) {
  const auto data = loaded(params_of(folder.path() / place));
  return data ? "data" : without(data.error().message, folder);
}

std::vector<std::string> lines_of(const scratch_folder& folder,
                                  const std::string& place) {
  const auto p = profile_data({.file = folder.path() / place});
  if (!p)
    return {without(p.error().message, folder)};
  return suspicion_lines(*p);
}

bool says(const std::vector<std::string>& lines, const std::string& line) {
  return std::ranges::find(lines, line) != lines.end();
}

} // namespace

TEST_CASE("text folder: the first folder on its way is the class of a text") {
  const scratch_folder folder;
  put_reviews(folder, "reviews", 2);
  put(folder, "reviews/poor/plain", "a name without a dot");
  put(folder, "reviews/poor/.hidden.txt", "not seen");
  put(folder, "reviews/poor/table.csv", "a,b\n");
  put(folder, "reviews/good/photo.png", "an image");
  put(folder, "reviews/README.md", "of no class");
  const auto root = folder.path() / "reviews";
  CHECK(is_text_folder(root));
  const auto found = find_classes(root, folder_kind::texts);
  REQUIRE(found);
  CHECK(found->classes == std::vector<std::string>{"good", "poor"});
  CHECK(found->files.size() == 5);
  CHECK(found->others == 1);
  CHECK(found->unlabelled == std::vector<std::filesystem::path>{"README.md"});
  const auto read = read_data_file(root);
  REQUIRE(read);
  REQUIRE(read->table);
  CHECK(read->table->kind == "texts");
  CHECK(read->table->files.front() == "good/0.txt");
  CHECK(read->bytes.starts_with(
      "text,class\n\"a fine film, \"\"number 0\"\", and well told\",good\n"));
  CHECK(checksum_of_data(root) == read->checksum);
}

TEST_CASE("text folder: its examples have a column of texts, and are named by files") {
  const scratch_folder folder;
  put_reviews(folder);
  const auto params = params_of(folder.path() / "reviews");
  const auto data = loaded(params);
  REQUIRE(data);
  CHECK(data->examples == 20);
  CHECK(data->classes == std::vector<std::string>{"good", "poor"});
  CHECK(data->test.size() == data->test_names.size());
  CHECK(std::ranges::all_of(data->test_names, has_text_ending));
  CHECK(checksum_of_files(params) == data->checksum);
  put(folder, "reviews/good/0.txt", "another text");
  CHECK(checksum_of_files(params) != data->checksum);
}

TEST_CASE("text folder: parts that folders name are those of the data") {
  const scratch_folder folder;
  put_reviews(folder, "all/train");
  put_reviews(folder, "all/test", 3);
  put(folder, "all/README", "beside the parts");
  put(folder, "all/train/urls.txt", "beside the classes");
  put(folder, "all/train/unsup/1.txt", "of nobody knows which class");
  put(folder, "all/train/unsup/2.txt", "of another one");
  const auto p = profile_data({.file = folder.path() / "all"});
  REQUIRE(p);
  CHECK(p->file == folder.path() / "all/train");
  CHECK(p->test_file == folder.path() / "all/test");
  CHECK(p->format == "texts");
  CHECK(p->task == classification);
  const auto lines = suspicion_lines(*p);
  CHECK(says(lines, "1 text is in no folder of a class and left out, such as urls.txt"));
  CHECK(says(lines,
             "\"unsup\" has no example in test: move the folder of what is no class "
             "away"));
  auto params = params_of(folder.path() / "all/train");
  params.test_file = folder.path() / "all/test";
  const auto data = loaded(params);
  REQUIRE(data);
  CHECK(data->test.size() == 6);
  CHECK(data->test_names.front() == "good/0.txt");
}

TEST_CASE("text folder: each file is read in its own encoding") {
  const scratch_folder folder;
  put_reviews(folder);
  put(folder, "reviews/good/latin.txt",
      "une tr\xe8s bonne id\xe9"
      "e");
  put(folder, "reviews/good/wide.txt",
      std::string("\xff\xfe"
                  "a\0 \0b\0 \0c\0",
                  12));
  const auto read = read_data_file(folder.path() / "reviews");
  REQUIRE(read);
  CHECK(read->bytes.find("une tr\xc3\xa8s bonne id\xc3\xa9"
                         "e,good\n")
        != std::string::npos);
  CHECK(read->bytes.find("\na b c,good\n") != std::string::npos);
  CHECK(says(lines_of(folder, "reviews"),
             "2 texts are no UTF-8 and were read as UTF-16 or Latin-1, such as "
             "good/latin.txt"));
}

TEST_CASE("text folder: empty, long and repeated texts are read, and said") {
  const scratch_folder folder;
  put_reviews(folder);
  put(folder, "reviews/good/empty.txt", "");
  put(folder, "reviews/good/blank.txt", " \r\n");
  put(folder, "reviews/good/same.txt", "one text of both classes");
  put(folder, "reviews/poor/same.txt", "one text of both classes");
  std::string endless;
  while (endless.size() < 3 << 20)
    endless += "much m\xc3\xb6re ";
  put(folder, "reviews/poor/endless.txt", endless);
  const auto lines = lines_of(folder, "reviews");
  CHECK(says(lines, "2 texts are empty, such as good/blank.txt"));
  CHECK(says(lines, "1 text is longer than 1 MiB and is cut off there, such as "
                    "poor/endless.txt"));
  CHECK(says(lines, "1 text is of two classes at once, such as poor/same.txt and "
                    "good/same.txt"));
  const auto data = loaded(params_of(folder.path() / "reviews"));
  REQUIRE(data);
  CHECK(data->examples == 25);
}

TEST_CASE("text folder: files that are no texts are refused by the first of them") {
  const scratch_folder folder;
  put_reviews(folder);
  put(folder, "reviews/good/zero.txt", std::string("a\0b c d e f g", 13));
  CHECK(refusal(folder, "reviews")
        == "reviews/good/zero.txt: holds zero bytes, as no text does; remove what is no "
           "text, or give it another ending than .txt");
  put(folder, "reviews/poor/a.txt", "%PDF-1.4 of a program");
  put(folder, "reviews/poor/b.txt", "\x01\x02\x03\x04 of a program");
  CHECK(refusal(folder, "reviews")
        == "reviews/good/zero.txt: holds zero bytes, as no text does (and so 2 other "
           "files are of 23); remove what is no text, or give it another ending than "
           ".txt");
}

TEST_CASE("text folder: what cannot be learnt from says what to do") {
  const scratch_folder folder;
  put(folder, "flat/1.txt", "a text");
  put(folder, "flat/2.txt", "another one");
  CHECK(
      refusal(folder, "flat")
      == "flat: holds 2 texts and no folder with any, so that no text has a class; move "
         "those of each class into a folder of its own, or name the file that is a "
         "table");
  put(folder, "tables/a.csv", "a,b\n");
  put(folder, "tables/README.md", "a table");
  CHECK(refusal(folder, "tables").starts_with("tables: is a folder without images or"));
  put(folder, "lone/only/1.txt", "a text");
  put(folder, "lone/only/2.txt", "another one");
  CHECK(lines_of(folder, "lone").front()
        == "lone: holds texts of one class, only; put the texts of each class into a "
           "folder of its own beside it");
  put_reviews(folder);
  put(folder, "reviews/odd/1.txt", "the only text of its class");
  CHECK(refusal(folder, "reviews")
            .starts_with("reviews/odd/1.txt: class \"odd\" has this "
                         "one member; two are the least"));
  CHECK(says(lines_of(folder, "reviews"),
             "class \"odd\" has one row, and two are the least: add rows or remove it"));
  const auto asked = profile_data({.file = folder.path() / "reviews", .target = "text"});
  REQUIRE_FALSE(asked);
  CHECK(without(asked.error().message, folder)
        == "reviews: is a folder: the classes are the names of the folders in it; leave "
           "out --target");
}

TEST_CASE("text folder: images and texts in one folder are told by their number") {
  const scratch_folder folder;
  put_reviews(folder, "mixed", 3);
  for (int i = 0; i < 4; ++i)
    put(folder, fmt::format("mixed/good/{}.png", i), "no image");
  CHECK(kind_of_folder(folder.path() / "mixed") == folder_kind::images);
  put_reviews(folder, "mixed", 5);
  CHECK(kind_of_folder(folder.path() / "mixed") == folder_kind::texts);
  CHECK(
      says(lines_of(folder, "mixed"),
           "4 images are not learnt from beside the texts, such as good/0.png: move the "
           "texts away to learn from the others"));
}

TEST_CASE("text folder: new texts are a folder, a file or the rows of a table") {
  const scratch_folder folder;
  put_reviews(folder);
  const auto inferred = infer_columns(params_of(folder.path() / "reviews"));
  REQUIRE(inferred);
  const auto& params = inferred->params;
  const auto how = fit_preprocessing(params, 1);
  REQUIRE(how);
  CHECK(how->takes_files_of_text());
  const auto read = [&](const std::string& place) {
    auto rows = read_new_examples(folder.path() / place, "", params, *how);
    if (!rows)
      FAIL(rows.error().message);
    return std::move(*rows);
  };
  const auto same = read("reviews");
  CHECK(same.count == 20);
  CHECK(same.names.back() == "poor/old/9.txt");
  REQUIRE(same.targets);
  CHECK(same.targets->values.front() == 0);
  CHECK(same.targets->values.back() == 1);
  put(folder, "new/a.txt", "a fine film, and well told");
  put(folder, "new/b.md", "");
  const auto loose = read("new");
  CHECK(loose.names == std::vector<std::string>{"a.txt", "b.md"});
  CHECK_FALSE(loose.targets);
  const auto one = read("new/a.txt");
  CHECK(one.names == std::vector<std::string>{"a.txt"});
  put(folder, "rows.csv", "text\n\"a fine film, and well told\"\na dull film\n");
  const auto rows = read("rows.csv");
  CHECK(rows.count == 2);
  CHECK(std::equal(one.features.begin(), one.features.end(), rows.features.begin()));
  put(folder, "rows.txt", "text\n\"a fine film, and well told\"\na dull film\n");
  CHECK(read("rows.txt").count == 2);
}

TEST_CASE("text folder: what a model cannot take is refused") {
  const scratch_folder folder;
  put_reviews(folder);
  const auto how =
      fit_preprocessing(infer_columns(params_of(folder.path() / "reviews"))->params, 1);
  REQUIRE(how);
  const auto params = params_of(folder.path() / "reviews");
  const auto refused = [&](const std::string& place, const preprocessing& by) {
    const auto read = read_new_examples(folder.path() / place, "", params, by);
    return read ? "examples" : without(read.error().message, folder);
  };
  std::filesystem::create_directories(folder.path() / "empty");
  CHECK(refused("empty", *how) == "empty: holds no text (.txt, .text, .md)");
  put(folder, "bad/a.txt", std::string("a\0b", 3));
  CHECK(refused("bad", *how).starts_with("bad/a.txt: holds zero bytes"));
  CHECK(refused("bad/a.txt", *how).find("zero byte") != std::string::npos);
  preprocessing table = *how;
  table.columns.front().kind = encoding_kind::number;
  CHECK(
      refused("reviews", table)
      == "reviews: is a folder, where the training data is a table; name a file of rows "
         "with its columns");
}
