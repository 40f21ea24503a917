#include "engine/data/images/picture.hpp"
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
  const auto sheet = make_contact_sheet(folder.path());
  REQUIRE(sheet);
  CHECK(sheet->images == 63);
  CHECK(sheet->odd == 2);
  CHECK(sheet->damaged == 1);
  const auto& html = sheet->html;
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
  const auto sheet = make_contact_sheet(folder.path());
  REQUIRE(sheet);
  CHECK(sheet->odd == 0);
  CHECK(sheet->html.find("What stands out") == std::string::npos);
}

TEST_CASE("contact sheet: a folder without images is an error") {
  const scratch_folder folder;
  put(folder.path(), "a/1.txt", "words");
  CHECK_FALSE(make_contact_sheet(folder.path()));
  CHECK_FALSE(make_contact_sheet(folder.path() / "nowhere"));
}
