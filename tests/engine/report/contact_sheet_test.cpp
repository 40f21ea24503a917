#include "engine/data/images/picture.hpp"
#include "engine/data/profile/data_profile.hpp"
#include "engine/report/page/contact_sheet.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>

using namespace clade;
namespace fs = std::filesystem;

namespace {

/// An image of one brightness, with a darker left half.
std::string image_of(std::size_t height, std::size_t width, std::uint8_t brightness) {
  picture p{.height = height, .width = width, .pixels = {}};
  for (std::size_t i = 0; i < height * width; ++i)
    for (int c = 0; c < 3; ++c)
      p.pixels.push_back(i % width < width / 2 ? brightness / 2 : brightness);
  return encode_png(p);
}

void put(const fs::path& folder, const std::string& name, const std::string& bytes) {
  fs::create_directories((folder / name).parent_path());
  write_text(folder / name, bytes);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++n;
  return n;
}

contact_sheet sheet_of(const std::filesystem::path& folder) {
  const auto found = find_classes(folder, folder_kind::images);
  REQUIRE(found);
  return make_contact_sheet(*found, "images");
}

} // namespace

TEST_CASE("contact sheet: images of each class are drawn, before them what stands out") {
  const scratch_folder folder;
  for (int i = 0; i < 30; ++i) {
    put(folder.path(), fmt::format("cats/{:02}.png", i),
        image_of(40, 40, static_cast<std::uint8_t>(100 + i % 5)));
    put(folder.path(), fmt::format("dogs & <b>/{:02}.png", i),
        image_of(30, 60, static_cast<std::uint8_t>(200 + i % 7)));
  }
  put(folder.path(), "cats/dark.png", image_of(40, 40, 0));
  put(folder.path(), "cats/long.png", image_of(40, 200, 102));
  put(folder.path(), "cats/broken.png", image_of(40, 40, 0).substr(0, 60));
  const auto sheet = sheet_of(folder.path());
  CHECK(sheet.images == 63);
  CHECK(sheet.odd == 2);
  CHECK(sheet.damaged == 1);
  const auto& html = sheet.html;
  CHECK_THAT(html, Catch::Contains("63 images in 2 classes; 63 looked at"));
  CHECK_THAT(html, Catch::Contains("cats: darker, of less contrast than others")
                       || Catch::Contains("cats: darker than others"));
  CHECK_THAT(html, Catch::Contains("cats: wider, larger than others"));
  CHECK_THAT(html, Catch::Contains("cats/broken.png"));
  CHECK_THAT(html, Catch::Contains("<h2>dogs &amp; &lt;b&gt;</h2>"));
  CHECK(html.find("<b>") == std::string::npos);
  CHECK(count(html, "<figure>") == 2 + 12 + 12);
  CHECK_THAT(html, Catch::Contains("default-src 'none'; img-src data:;"));
}

TEST_CASE("contact sheet: images that are all alike do not stand out") {
  const scratch_folder folder;
  for (int i = 0; i < 25; ++i)
    put(folder.path(), fmt::format("a/{}.png", i),
        image_of(8, 8, static_cast<std::uint8_t>(i == 7 ? 101 : 100)));
  put(folder.path(), "b/1.png", image_of(8, 8, 255));
  const auto sheet = sheet_of(folder.path());
  CHECK(sheet.odd == 0);
  CHECK(sheet.html.find("What stands out") == std::string::npos);
}

TEST_CASE("contact sheet: images that a table names are drawn by class, or by range") {
  const scratch_folder folder;
  std::string table = "file,kind,price\n";
  for (int i = 0; i < 40; ++i) {
    put(folder.path(), fmt::format("images/{}.png", i), image_of(8, 8, 100));
    table += fmt::format("images/{}.png,{},{}\n", i, i % 3 == 0 ? "cat" : "dog", i + 0.5);
  }
  put(folder.path(), "table.csv", table);
  const auto html_for = [&](const char* target) {
    const auto p = profile_data({.file = folder.path() / "table.csv", .target = target});
    REQUIRE(p);
    REQUIRE(p->listed_images);
    return make_contact_sheet(*p->listed_images, "table.csv").html;
  };
  const auto by_class = html_for("kind");
  CHECK_THAT(by_class, Catch::Contains("40 images in 2 classes; 40 looked at"));
  CHECK_THAT(by_class, Catch::Contains("<h2>cat</h2>"));
  CHECK(count(by_class, "<figure>") == 24);
  const auto by_range = html_for("price");
  CHECK_THAT(by_range, Catch::Contains("<h2>0.5 to 9.5</h2>"));
  CHECK_THAT(by_range, Catch::Contains("<h2>30.5 to 39.5</h2>"));
  CHECK(count(by_range, "<figure>") == 40);
}
