#include "engine/data/profile/data_profile.hpp"
#include "engine/data/profile/profile_words.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

using namespace clade;

namespace {

/// Rows of waves: smooth along the columns, with a phase for each row.
std::string waves(std::size_t steps, const std::function<std::string(std::size_t)>& name,
                  bool smooth = true, int rows = 60) {
  std::string text;
  for (std::size_t t = 0; t < steps; ++t)
    text += name(t) + ",";
  text += "kind\n";
  for (int i = 0; i < rows; ++i) {
    for (std::size_t t = 0; t < steps; ++t) {
      const auto place = static_cast<double>(smooth ? t : t * 7919 % 101);
      text += fmt::format("{:.4f},", std::sin(0.2 * place + i) + 0.01 * i);
    }
    text += i % 2 == 0 ? "up\n" : "down\n";
  }
  return text;
}

std::string numbered(std::size_t t) {
  return fmt::format("t{}", t);
}

} // namespace

TEST_CASE("wide table: columns that count up and go on are the steps of series") {
  const scratch_folder folder;
  const auto seen = [&](const std::string& text, row_rule rows = row_rule::automatic) {
    const auto p = profile_data({.file = write(folder, "x.csv", text), .rows_are = rows});
    return p ? to_text(p->shape) : without(p.error().message, folder);
  };
  CHECK(seen(waves(40, numbered)) == "[40, 1]");
  CHECK(seen(waves(40, [](std::size_t t) { return std::to_string(t); })) == "[40, 1]");
  CHECK(seen(waves(40, [](std::size_t t) { return fmt::format("v_{:03}", t + 1); }))
        == "[40, 1]");
  // These may be anything.
  CHECK(seen(waves(19, numbered)) == "[19]");
  CHECK(seen(waves(40, numbered, /*smooth=*/false)) == "[40]");
  CHECK(seen(waves(40, [](std::size_t t) { return fmt::format("t{}", 2 * t); }))
        == "[40]");
  CHECK(seen(waves(40, [](std::size_t t) { return fmt::format("pixel{}", t); }))
        == "[40]");
  // Somebody says it.
  CHECK(seen(waves(40, numbered), row_rule::columns) == "[40]");
  CHECK(seen(waves(40, numbered, /*smooth=*/false), row_rule::series) == "[40, 1]");
  CHECK(seen(waves(19, numbered), row_rule::series)
            .starts_with("x.csv: --layout series is for 20 columns of numbers at least"));
}

TEST_CASE("wide table: a square image is no series, and other columns are said") {
  const scratch_folder folder;
  // Blots on 8 x 8 points: alike again one line further on.
  std::string image;
  for (int i = 0; i < 64; ++i)
    image += fmt::format("x{},", i);
  image += "kind\n";
  for (int row = 0; row < 60; ++row) {
    for (int i = 0; i < 64; ++i) {
      const double x = i % 8 - 2.0 - row % 4, y = i / 8 - 3.0;
      image += fmt::format("{:.3f},", std::exp(-(x * x / 4 + y * y / 4)));
    }
    image += row % 2 == 0 ? "up\n" : "down\n";
  }
  const auto p = profile_data({.file = write(folder, "image.csv", image)});
  REQUIRE(p);
  CHECK(p->shape == tensor_shape{{64}});
  auto text = waves(30, numbered);
  text.insert(0, "age,");
  for (std::size_t at = text.find('\n'); at + 1 < text.size();
       at = text.find('\n', at + 1))
    text.insert(at + 1, fmt::format("{},", at % 83));
  const auto file = write(folder, "x.csv", text);
  const auto beside = profile_data({.file = file});
  REQUIRE(beside);
  CHECK(beside->shape == tensor_shape{{31}});
  const auto lines = suspicion_lines(*beside);
  CHECK(std::ranges::count(lines,
                           "t0 to t29 look like the 30 steps of a series in each row; "
                           "to learn from them as such, leave \"age\" and other "
                           "columns out of the file")
        == 1);
  const auto asked = profile_data({.file = file, .rows_are = row_rule::series});
  REQUIRE_FALSE(asked);
  CHECK(without(asked.error().message, folder)
        == "x.csv: --layout series takes t0 to t29 for steps, and \"age\" is no step; "
           "leave "
           "that column out of the file");
}
