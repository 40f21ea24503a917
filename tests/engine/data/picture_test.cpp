#include "engine/data/images/picture.hpp"
#include "genome/base/whole_file.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>

using namespace clade;

namespace {

using color = std::array<int, 3>;

const std::array<color, 4> quarters{
    {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {255, 255, 255}}};

std::filesystem::path sample(const std::string& name) {
  return std::filesystem::path(CLADE_ROOT) / "tests/engine/data/images" / name;
}

std::string bytes_of(const std::string& name) {
  auto read = read_whole_file(sample(name), {.most_bytes = 1 << 20});
  REQUIRE(read);
  return *read;
}

picture decoded(const std::string& name) {
  INFO(name);
  const auto bytes = bytes_of(name);
  const auto header = read_image_header(bytes);
  REQUIRE(header);
  auto p = decode_image(bytes);
  REQUIRE(p);
  CHECK(p->height == header->height);
  CHECK(p->width == header->width);
  CHECK(p->channels == (header->grey ? 1 : 3));
  REQUIRE(p->pixels.size() == p->height * p->width * p->channels);
  return *p;
}

color at(const picture& p, std::size_t y, std::size_t x) {
  const auto* pixel = p.pixels.data() + (y * p.width + x) * 3;
  return {pixel[0], pixel[1], pixel[2]};
}

/// How far a color is from another, in the channel where it is farthest.
int distance(const color& a, const color& b) {
  int most = 0;
  for (std::size_t c = 0; c < 3; ++c)
    most = std::max(most, std::abs(a[c] - b[c]));
  return most;
}

/// Whether the corners are red, green, blue and white.
void check_quarters(const picture& p, int tolerance) {
  REQUIRE(p.channels == 3);
  CHECK(p.height == 4);
  CHECK(p.width == 8);
  CHECK(distance(at(p, 0, 1), quarters[0]) <= tolerance);
  CHECK(distance(at(p, 0, p.width - 1), quarters[1]) <= tolerance);
  CHECK(distance(at(p, p.height - 1, 1), quarters[2]) <= tolerance);
  CHECK(distance(at(p, p.height - 1, p.width - 1), quarters[3]) <= tolerance);
}

std::string refusal(const std::string& bytes) {
  const auto p = decode_image(bytes);
  return p ? "a picture" : p.error().message;
}

} // namespace

TEST_CASE("picture: every kind of image is decoded to its colours") {
  for (const char* name : {"color.png", "palette.png", "color.webp", "frames.gif",
                           "color.bmp", "palette.bmp", "alpha.bmp"})
    check_quarters(decoded(name), 0);
  constexpr int lossy = 40;
  for (const char* name : {"color.jpg", "progressive.jpg", "print.jpg", "lossy.webp"})
    check_quarters(decoded(name), lossy);
}

TEST_CASE("picture: images are turned as EXIF says") {
  for (int orientation = 2; orientation <= 8; ++orientation)
    check_quarters(decoded("turned" + std::to_string(orientation) + ".jpg"), 40);
}

TEST_CASE("picture: shades of grey stay one channel, 16 bits become 8") {
  const auto grey = decoded("grey.png");
  CHECK(grey.channels == 1);
  CHECK(int{grey.pixels.front()} == 76);
  CHECK(int{decoded("grey.jpg").pixels.back()} > 250);
  const auto deep = decoded("grey16.png");
  REQUIRE(deep.channels == 1);
  CHECK(int{deep.pixels.front()} == 0);
  CHECK(int{deep.pixels.back()} >= 254);
  CHECK(std::abs(int{deep.pixels[16]} - 16 * 2113 / 257) <= 1);
}

TEST_CASE("picture: what is transparent is white") {
  for (const char* name : {"alpha.png", "alpha.webp"}) {
    const auto p = decoded(name);
    CHECK(at(p, 0, 0) == color{255, 255, 255});
    CHECK(at(p, 0, 1) == color{255, 0, 0});
  }
  const auto half = at(decoded("alpha.webp"), 3, 0);
  CHECK(distance(half, {127, 127, 255}) <= 1);
  CHECK(at(decoded("transparent.gif"), 0, 0) == color{255, 255, 255});
  CHECK(at(decoded("transparent.gif"), 3, 0) == color{0, 0, 255});
}

TEST_CASE("picture: whatever is cut off or changed gives a picture or a sentence") {
  for (const auto& entry : std::filesystem::directory_iterator(sample(""))) {
    const auto name = entry.path().filename().string();
    INFO(name);
    const auto bytes = bytes_of(name);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      CHECK_FALSE(refusal(bytes.substr(0, size)).empty());
    for (std::size_t i = 0; i < bytes.size(); ++i)
      for (const char changed : {'\0', '\xff', static_cast<char>(bytes[i] ^ 1)}) {
        auto other = bytes;
        other[i] = changed;
        CHECK_FALSE(refusal(other).empty());
      }
  }
}

TEST_CASE("picture: half an image is none") {
  for (const char* name :
       {"color.png", "color.jpg", "lossy.webp", "frames.gif", "color.bmp"}) {
    INFO(name);
    const auto bytes = bytes_of(name);
    CHECK(
        refusal(bytes.substr(0, bytes.size() / 2)).starts_with("the image is damaged ("));
  }
}

TEST_CASE("picture: kinds that are not read say so") {
  CHECK(refusal("") == "is empty");
  CHECK(refusal("hello, world")
        == "is no image: it begins neither as JPEG, PNG, WebP, GIF nor BMP");
  CHECK(refusal(bytes_of("color.tif"))
        == "is an image of a kind that is not read (TIFF); save it as PNG");
}

TEST_CASE("picture: an image of too many pixels is refused by its header") {
  auto bytes = bytes_of("color.png");
  bytes.replace(16, 8, std::string("\0\0\xea\x60\0\0\xea\x60", 8)); // 60,000 x 60,000
  // The checksum of the header is then wrong, which libpng says first.
  CHECK(refusal(bytes) != "a picture");
  auto bitmap = bytes_of("color.bmp");
  bitmap.replace(18, 8, std::string("\x60\xea\0\0\x60\xea\0\0", 8));
  CHECK(refusal(bitmap)
        == "has 60000 x 60000 pixels, and 100000000 are the most: make it smaller");
}

TEST_CASE("picture: a decoder may make it smaller, but not smaller than twice what is "
          "wanted") {
  const auto p = decode_image(bytes_of("color.jpg"), {1, 2});
  REQUIRE(p);
  CHECK(p->height >= 2);
  CHECK(p->width >= 4);
  CHECK(p->width < 8);
}

TEST_CASE("picture: scaling keeps what is the same everywhere") {
  rc::prop("and stays within the least and the most", [] {
    picture p{.channels = *rc::gen::element<std::size_t>(1, 3),
              .height = *rc::gen::inRange<std::size_t>(1, 9),
              .width = *rc::gen::inRange<std::size_t>(1, 9),
              .pixels = {}};
    p.pixels = *rc::gen::container<std::vector<std::uint8_t>>(
        p.height * p.width * p.channels, rc::gen::arbitrary<std::uint8_t>());
    const auto height = *rc::gen::inRange<std::size_t>(1, 20);
    const auto width = *rc::gen::inRange<std::size_t>(1, 20);
    const auto scaled = scaled_to(p, height, width);
    RC_ASSERT(scaled.pixels.size() == height * width * p.channels);
    const auto [least, most] = std::ranges::minmax(p.pixels);
    for (const auto v : scaled.pixels)
      RC_ASSERT(v >= least && v <= most);
  });
}

TEST_CASE("picture: half the size is the mean of what is covered, twice is in between") {
  const picture line{.channels = 1, .height = 1, .width = 4, .pixels = {0, 0, 200, 200}};
  CHECK(scaled_to(line, 1, 1).pixels == std::vector<std::uint8_t>{100});
  CHECK(scaled_to(line, 1, 4).pixels == line.pixels);
  const auto wide = scaled_to(line, 1, 8);
  CHECK(std::ranges::is_sorted(wide.pixels));
  CHECK(int{wide.pixels[3]} == 50);
  CHECK(int{wide.pixels[4]} == 150);
}

TEST_CASE("picture: channels are added and weighed") {
  const picture grey{.channels = 1, .height = 1, .width = 2, .pixels = {7, 200}};
  CHECK(with_channels(grey, 3).pixels
        == std::vector<std::uint8_t>{7, 7, 7, 200, 200, 200});
  CHECK(with_channels(with_channels(grey, 3), 1).pixels == grey.pixels);
  const picture red{.channels = 3, .height = 1, .width = 1, .pixels = {255, 0, 0}};
  CHECK(with_channels(red, 1).pixels == std::vector<std::uint8_t>{76});
}
