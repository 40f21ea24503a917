#include "engine/data/images/picture.hpp"
#include "engine/report/view/wrong_pictures.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

/// Two images of the test part, the second at place 7 of its file.
data_set two_images(stored_numbers features, std::int64_t channels) {
  data_set data;
  data.shape = {{channels, 1, 2}};
  data.examples = 3;
  data.features = std::move(features);
  data.test = {0, 2};
  data.test_places = {5, 7};
  return data;
}

const test_evidence wrong{.classes = {{.place = 7, .actual = "ant", .predicted = "bee"},
                                      {.place = 9, .actual = "bee", .predicted = "ant"}}};

} // namespace

TEST_CASE("wrong pictures: those that were told wrongly, as networks saw them") {
  const std::vector<std::uint8_t> bytes{0, 0, 0, 0, 0, 0, 1,   2,   3,
                                        4, 5, 6, 9, 8, 7, 200, 100, 50};
  const auto files = wrong_pictures(two_images({bytes, 255}, 3), wrong);
  REQUIRE(files.size() == 2);
  CHECK(files.back().empty());
  const auto seen = decode_image(files.front());
  REQUIRE(seen);
  CHECK(seen->pixels == std::vector<std::uint8_t>{9, 7, 100, 8, 200, 50});
}

TEST_CASE("wrong pictures: numbers from 0 to 1 become shades of grey") {
  const std::vector<float> numbers{0, 0, 0, 0, 0.5F, 1.25F};
  const auto files = wrong_pictures(two_images(numbers, 1), wrong);
  const auto seen = decode_image(files.at(0));
  REQUIRE(seen);
  CHECK(seen->channels == 1);
  CHECK(seen->pixels == std::vector<std::uint8_t>{128, 255});
}

TEST_CASE("wrong pictures: other examples have none") {
  CHECK(wrong_pictures(two_images(std::vector<float>(24, 0), 4), wrong).empty());
  data_set table;
  table.shape = {{4}};
  CHECK(wrong_pictures(table, wrong).empty());
}
