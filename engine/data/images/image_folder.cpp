#include "engine/data/images/image_folder.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/formats/unread_kinds.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace clade {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_images = 20'000'000;
constexpr int deepest = 20;

tl::unexpected<error> wrong(const fs::path& place, std::string message) {
  return fail_in(place.string(), {error_kind::invalid_input, std::move(message)});
}

tl::unexpected<error> unreadable_folder(const fs::path& folder,
                                        const std::error_code& why) {
  return fail_in(folder.string(), {error_kind::io, fmt::format("the folder cannot be "
                                                               "read: {}",
                                                               why.message())});
}

/// Programs of macOS leave copies of folders behind that hold no images.
bool is_hidden(const fs::path& name) {
  return name.string().starts_with('.') || name == "__MACOSX";
}

/// Appends the images below a folder, their paths relative to `root`.
expected<void> add_images_below(const fs::path& folder, const fs::path& root,
                                std::vector<fs::path>& images) {
  std::error_code failed;
  fs::recursive_directory_iterator at(folder, failed);
  for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    if (is_hidden(at->path().filename())) {
      at.disable_recursion_pending();
      continue;
    }
    if (at.depth() > deepest)
      return wrong(at->path(), fmt::format("lies more than {} folders deep", deepest));
    std::error_code unknown;
    if (!has_image_ending(at->path().filename().string())
        || !at->is_regular_file(unknown))
      continue;
    if (images.size() == most_images)
      return wrong(root, fmt::format("holds more than {} images", most_images));
    images.push_back(at->path().lexically_relative(root));
  }
  if (failed)
    return unreadable_folder(folder, failed);
  return {};
}

/// The folders and images that lie in a folder, each in order of names.
struct folder_content {
  std::vector<fs::path> folders, images;
};

expected<folder_content> content_of(const fs::path& folder) {
  folder_content out;
  std::error_code failed;
  fs::directory_iterator at(folder, failed);
  for (; !failed && at != fs::directory_iterator(); at.increment(failed)) {
    std::error_code unknown;
    const auto name = at->path().filename();
    if (is_hidden(name))
      continue;
    if (at->is_directory(unknown))
      out.folders.push_back(name);
    else if (has_image_ending(name.string()) && at->is_regular_file(unknown))
      out.images.push_back(name);
  }
  if (failed)
    return unreadable_folder(folder, failed);
  std::ranges::sort(out.folders);
  std::ranges::sort(out.images);
  return out;
}

/// Whether it may be a folder of folders of classes: no images lie in it.
bool may_hold_classes(const fs::path& folder) {
  const auto content = content_of(folder);
  return content && content->images.empty() && !content->folders.empty();
}

/// Finds a folder by its name, in letters of any case, that may hold those of classes;
/// empty where there is none.
fs::path part_named(const fs::path& folder, const folder_content& content,
                    std::string_view name) {
  const auto at = std::ranges::find_if(content.folders, [&](const fs::path& one) {
    return equal_in_any_case(one.string(), name);
  });
  return at != content.folders.end() && may_hold_classes(folder / *at) ? folder / *at
                                                                       : fs::path();
}

/// Returns the folder that is reached where each holds nothing but one other.
fs::path only_folder(fs::path folder) {
  for (int depth = 0; depth < deepest; ++depth) {
    const auto content = content_of(folder);
    if (!content || !content->images.empty() || content->folders.size() != 1
        || !may_hold_classes(folder / content->folders.front()))
      break;
    folder /= content->folders.front();
  }
  return folder;
}

std::size_t middle_of(std::vector<std::size_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

} // namespace

bool is_folder(const fs::path& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown);
}

expected<image_folder> find_images(const fs::path& folder) {
  const auto content = content_of(folder);
  if (!content)
    return tl::unexpected(content.error());
  image_folder out{
      .folder = folder, .images = {}, .classes = {}, .unlabelled = content->images};
  for (const fs::path& name : content->folders) {
    std::vector<fs::path> found;
    if (auto added = add_images_below(folder / name, folder, found); !added)
      return tl::unexpected(std::move(added).error());
    if (found.empty())
      continue;
    std::ranges::sort(found);
    for (fs::path& path : found)
      out.images.push_back({std::move(path), out.classes.size()});
    out.classes.push_back(name.string());
    if (out.images.size() > most_images)
      return wrong(folder, fmt::format("holds more than {} images", most_images));
  }
  return out;
}

expected<void> check_classes_of(const image_folder& found) {
  if (!found.images.empty())
    return {};
  if (!found.unlabelled.empty())
    return wrong(found.folder,
                 fmt::format("holds {} images and no folder with any, so that no image "
                             "has a class; move those of each class into a folder of "
                             "its own",
                             with_commas(found.unlabelled.size())));
  const auto data = file_of_data_in(found.folder);
  return wrong(found.folder,
               data.empty() ? "holds no image (.jpg, .png, .webp, .gif or .bmp); name a "
                              "folder with a folder of images for each class, or a file "
                              "of data"
                            : "is a folder without images; name a file in it, such as "
                                  + data.string());
}

folder_parts parts_of_folder(const fs::path& folder) {
  folder_parts out{.train = only_folder(folder), .test = {}, .unused = {}};
  const auto content = content_of(out.train);
  if (!content || !content->images.empty())
    return out;
  const auto part = [&, whole = out.train](std::string_view name) {
    return part_named(whole, *content, name);
  };
  auto train = part("train");
  if (train.empty())
    train = part("training");
  if (train.empty())
    return out;
  out.train = std::move(train);
  constexpr std::array<std::string_view, 6> others{"test",  "testing",    "val",
                                                   "valid", "validation", "dev"};
  for (const auto name : others)
    if (auto found = part(name); !found.empty())
      (out.test.empty() ? out.test : out.unused) = std::move(found);
  return out;
}

tensor_shape shape_for(const std::vector<seen_image>& seen) {
  constexpr std::size_t small = 64, least = 8;
  constexpr double most_together = 25e6;
  constexpr std::array<std::size_t, 8> sides{224, 192, 160, 128, 96, 64, 48, 32};
  std::vector<std::size_t> heights, widths;
  bool grey = true;
  for (const seen_image& s : seen)
    if (s.problem.empty()) {
      heights.push_back(s.header.height);
      widths.push_back(s.header.width);
      grey = grey && s.header.grey;
    }
  const std::int64_t channels = grey && !heights.empty() ? 1 : 3;
  const auto shape = [&](std::size_t h, std::size_t w) {
    return tensor_shape{
        {channels, static_cast<std::int64_t>(h), static_cast<std::int64_t>(w)}};
  };
  if (heights.empty())
    return shape(sides.back(), sides.back());
  const auto all_same = [](const std::vector<std::size_t>& v) {
    return std::ranges::all_of(v, [&](std::size_t one) { return one == v.front(); });
  };
  if (all_same(heights) && all_same(widths)
      && std::max(heights.front(), widths.front()) <= small)
    return shape(heights.front(), widths.front());
  const double height = static_cast<double>(middle_of(heights)),
               width = static_cast<double>(middle_of(widths));
  const double natural = std::sqrt(height * width);
  const auto fits = [&](std::size_t side) {
    const auto s = static_cast<double>(side);
    return s <= natural && s * s * static_cast<double>(heights.size()) <= most_together;
  };
  const auto found = std::ranges::find_if(sides, fits);
  const std::size_t side = found == sides.end() ? sides.back() : *found;
  constexpr double much_longer = 1.6;
  if (std::max(height, width) < much_longer * std::min(height, width))
    return shape(side, side);
  const auto scaled = [&](double length) {
    const double s = static_cast<double>(side) * length / natural;
    return std::max(least, static_cast<std::size_t>(std::lround(s / least)) * least);
  };
  return shape(scaled(height), scaled(width));
}

} // namespace clade
