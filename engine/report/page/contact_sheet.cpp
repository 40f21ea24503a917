#include "engine/report/page/contact_sheet.hpp"

#include "engine/data/images/picture.hpp"
#include "engine/report/base/html.hpp"
#include "genome/base/all_processors.hpp"
#include "genome/base/text.hpp"
#include "genome/base/whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

namespace clade {
namespace {

namespace fs = std::filesystem;

/// So many images are looked at, and so many of each class at least.
constexpr std::size_t most_looked_at = 3000, least_of_class = 20;
/// So many are drawn of each class, of so many classes, and of those that stand out.
constexpr std::size_t drawn_of_class = 12, most_drawn_classes = 100, most_odd = 24;
constexpr std::size_t side = 96;
/// An image stands out that is so many deviations away.
constexpr double far = 5;

/// Facts by which images are compared.
enum fact : std::size_t { brightness, contrast, proportions, size, facts };
constexpr std::array<std::pair<const char*, const char*>, facts> words{
    {{"darker", "brighter"},
     {"of less contrast", "of more contrast"},
     {"taller", "wider"},
     {"smaller", "larger"}}};

struct looked_at {
  fs::path path; ///< Relative to the folder.
  std::size_t label = 0;
  std::string problem; ///< Why it cannot be decoded; or empty.
  picture thumbnail;
  std::array<double, facts> values{};
  double away = 0; ///< The most deviations in anything.
  std::string why; ///< "darker", "wider, smaller"
};

picture thumbnail_of(const picture& p) {
  const auto longest = static_cast<double>(std::max(p.height, p.width));
  const double share = std::min(1.0, static_cast<double>(side) / longest);
  const auto scaled = [&](std::size_t n) {
    return std::max<std::size_t>(
        1, static_cast<std::size_t>(std::lround(share * static_cast<double>(n))));
  };
  return scaled_to(p, scaled(p.height), scaled(p.width));
}

void look(const fs::path& folder, looked_at& image) {
  const auto file = folder / image.path;
  const auto bytes = read_whole_file(file, {.most_bytes = std::uint64_t{1} << 30});
  if (!bytes) {
    image.problem = reason_without(file, bytes.error());
    return;
  }
  const auto header = read_image_header(*bytes);
  const auto whole = decode_image(*bytes, {side, side});
  if (!header || !whole) {
    image.problem = header ? whole.error().message : header.error().message;
    return;
  }
  image.thumbnail = thumbnail_of(*whole);
  const auto grey = with_channels(image.thumbnail, 1);
  double sum = 0, squares = 0;
  for (const auto v : grey.pixels) {
    sum += v;
    squares += static_cast<double>(v) * v;
  }
  const auto n = static_cast<double>(grey.pixels.size());
  const auto height = static_cast<double>(header->height),
             width = static_cast<double>(header->width);
  image.values = {sum / n, std::sqrt(std::max(0.0, squares / n - sum / n * sum / n)),
                  std::log(width / height), std::log(width * height)};
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Says by how much the images of one class, of which none is damaged, stand out.
void compare(std::span<looked_at* const> images) {
  // Differences that nobody sees are none.
  constexpr std::array<double, facts> least{4, 4, 0.05, 0.1};
  if (images.size() < least_of_class)
    return;
  for (std::size_t f = 0; f < facts; ++f) {
    std::vector<double> values, distances;
    for (const auto* one : images)
      values.push_back(one->values[f]);
    const double median = median_of(values);
    for (const double v : values)
      distances.push_back(std::abs(v - median));
    const double deviation = std::max(least[f], 1.4826 * median_of(distances));
    for (auto* one : images) {
      const double away = (one->values[f] - median) / deviation;
      one->away = std::max(one->away, std::abs(away));
      if (std::abs(away) > far)
        one->why += fmt::format("{}{}", one->why.empty() ? "" : ", ",
                                away < 0 ? words[f].first : words[f].second);
    }
  }
}

/// Some images of each class, in order of their paths.
std::vector<looked_at> chosen(const class_folder& found) {
  std::vector<std::vector<std::size_t>> by_class(found.classes.size());
  for (std::size_t i = 0; i < found.files.size(); ++i)
    by_class[found.files[i].label].push_back(i);
  const auto most = std::max(least_of_class,
                             most_looked_at / std::max<std::size_t>(1, by_class.size()));
  std::vector<looked_at> out;
  for (const auto& files : by_class) {
    const auto count = std::min(most, files.size());
    for (std::size_t k = 0; k < count; ++k) {
      const auto& file = found.files[files[k * files.size() / count]];
      out.push_back({.path = file.path, .label = file.label});
    }
  }
  return out;
}

std::string drawn_image(const looked_at& image, const std::string& caption) {
  return fmt::format("<figure><div><img alt=\"{}\" title=\"{}\" src=\"{}\"></div>"
                     "<figcaption>{}</figcaption></figure>\n",
                     escaped(caption), escaped(image.path.generic_string()),
                     data_address("image/png", encode_png(image.thumbnail)),
                     escaped(caption));
}

std::string section(const std::string& title, const std::string& note,
                    const std::string& figures) {
  return fmt::format("<section>\n<h2>{}</h2>\n<p class=\"note\">{}</p>\n"
                     "<div class=\"pictures\">\n{}</div>\n</section>\n",
                     escaped(title), escaped(note), figures);
}

std::string odd_section(const std::vector<looked_at>& images, const class_folder& found,
                        contact_sheet& sheet) {
  std::vector<const looked_at*> odd;
  for (const auto& one : images)
    if (!one.why.empty())
      odd.push_back(&one);
  std::ranges::stable_sort(odd, std::greater(), &looked_at::away);
  sheet.odd = odd.size();
  odd.resize(std::min(odd.size(), most_odd));
  std::string figures;
  for (const auto* one : odd)
    figures += drawn_image(
        *one, fmt::format("{}: {} than others", found.classes[one->label], one->why));
  return odd.empty() ? ""
                     : section("What stands out",
                               "Images unlike the others of their class: look whether "
                               "they belong there.",
                               figures);
}

std::string damaged_section(const std::vector<looked_at>& images, contact_sheet& sheet) {
  std::string rows;
  for (const auto& one : images)
    if (!one.problem.empty() && sheet.damaged++ < most_odd)
      rows += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n",
                          escaped(one.path.generic_string()), escaped(one.problem));
  return rows.empty() ? ""
                      : "<section>\n<h2>What cannot be read</h2>\n<table>\n" + rows
                            + "</table>\n</section>\n";
}

std::string class_sections(const std::vector<looked_at>& images,
                           const class_folder& found) {
  std::vector<std::vector<const looked_at*>> by_class(found.classes.size());
  std::vector<std::size_t> counts(found.classes.size());
  for (const auto& file : found.files)
    ++counts[file.label];
  for (const auto& one : images)
    if (one.problem.empty())
      by_class[one.label].push_back(&one);
  std::string out;
  for (std::size_t c = 0; c < std::min(by_class.size(), most_drawn_classes); ++c) {
    const auto count = std::min(drawn_of_class, by_class[c].size());
    std::string figures;
    for (std::size_t k = 0; k < count; ++k) {
      const auto& one = *by_class[c][k * by_class[c].size() / count];
      figures += drawn_image(one, one.path.filename().string());
    }
    out += section(found.classes[c], counted(counts[c], "image"), figures);
  }
  return out;
}

} // namespace

contact_sheet make_contact_sheet(const class_folder& found, const std::string& name) {
  auto images = chosen(found);
  on_all_processors(images.size(), [&](std::size_t i) { look(found.folder, images[i]); });
  std::vector<std::vector<looked_at*>> by_class(found.classes.size());
  for (auto& one : images)
    if (one.problem.empty())
      by_class[one.label].push_back(&one);
  for (const auto& of_class : by_class)
    compare(of_class);
  contact_sheet sheet{.images = found.files.size()};
  sheet.html = page_head(name);
  sheet.html += fmt::format("<h1>{}</h1>\n<p class=\"note\">{} in {}; {} looked at</p>\n",
                            escaped(name), counted(found.files.size(), "image"),
                            counted(found.classes.size(), "class", "classes"),
                            with_commas(images.size()));
  sheet.html += damaged_section(images, sheet);
  sheet.html += odd_section(images, found, sheet);
  sheet.html += class_sections(images, found);
  sheet.html += "</main>\n</body>\n</html>\n";
  return sheet;
}

} // namespace clade
