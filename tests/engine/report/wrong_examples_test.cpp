#include "engine/report/view/wrong_examples_shown.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace clade;

namespace {

test_evidence at_lines(std::uint64_t first, std::uint64_t second) {
  return {.by_line = true,
          .classes = {{.place = first, .actual = "good", .predicted = "bad"},
                      {.place = second, .actual = "bad", .predicted = "good"}}};
}

} // namespace

TEST_CASE("wrong texts: the file's own words are shown, long ones cut off") {
  const scratch_folder folder;
  const auto file = folder.path() / "reviews.csv";
  std::string text = "stars,words,label\n";
  for (int i = 0; i < 60; ++i)
    text += fmt::format(
        "{},\"a {} film, number {}{}\",{}\n", i % 5, i % 2 == 0 ? "fine" : "dull", i,
        i == 7 ? std::string(600, 'x') + "\xC3\xA9" : "", i % 2 == 0 ? "good" : "bad");
  write_text(file, text);
  const data_params params{
      .file = file, .target = "label", .columns = {{"words", encoding_kind::text}}};
  const auto shown = wrong_texts(params, 1, at_lines(2, 9));
  REQUIRE(shown.size() == 2);
  CHECK(shown[0] == "a fine film, number 0");
  CHECK(shown[1].starts_with("a dull film, number 7xxx"));
  CHECK(shown[1].ends_with("x ..."));
  CHECK(shown[1].size() < 420);
  CHECK(wrong_texts(params, 1, at_lines(2, 900)).at(1).empty());
  auto by_index = at_lines(2, 9);
  by_index.by_line = false;
  CHECK(wrong_texts(params, 1, by_index).empty());
  // The file may be gone, or have no texts.
  CHECK(wrong_texts({.file = folder.path() / "gone.csv"}, 1, at_lines(2, 9)).empty());
  write_text(file, "a,label\n1,x\n2,y\n3,x\n4,y\n5,x\n6,y\n7,x\n8,y\n9,x\n1,y\n");
  CHECK(wrong_texts({.file = file, .target = "label"}, 1, at_lines(2, 9)).empty());
}

TEST_CASE("wrong texts: columns without names are counted beside the target") {
  const scratch_folder folder;
  const auto file = folder.path() / "lines.txt";
  std::string text;
  for (int i = 0; i < 60; ++i)
    text += fmt::format("{}\t{} words of line {}\n", i % 2 == 0 ? "good" : "bad",
                        i % 2 == 0 ? "fine" : "dull", i + 1);
  write_text(file, text);
  const data_params params{.file = file,
                           .target = "1",
                           .header = "none",
                           .columns = {{"2", encoding_kind::text}}};
  CHECK(wrong_texts(params, 1, at_lines(3, 4))
        == std::vector<std::string>{"fine words of line 3", "dull words of line 4"});
}

TEST_CASE("wrong series: some channels and steps are shown") {
  data_set data;
  data.shape = {{4, 2}};
  data.examples = 2;
  data.features =
      std::vector<float>{0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15, 6, 16, 7, 17};
  data.test = {1};
  data.test_places = {9};
  const auto shown = wrong_series(data, at_lines(9, 10));
  REQUIRE(shown.size() == 2);
  CHECK(shown[0] == std::vector<std::vector<float>>{{4, 5, 6, 7}, {14, 15, 16, 17}});
  CHECK(shown[1].empty());
  CHECK(wrong_series(data, at_lines(9, 10), 1, 2)[0]
        == std::vector<std::vector<float>>{{4, 6}});
  data.shape = {{8}};
  CHECK(wrong_series(data, at_lines(9, 10)).empty());
}
