#include "engine/data/images/image_folder.hpp"

#include "engine/data/formats/unread_kinds.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

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

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  return text;
}

/// Whether it may be a folder of folders of classes: no images lie in it.
bool may_hold_classes(const fs::path& folder) {
  const auto content = content_of(folder);
  return content && content->images.empty() && !content->folders.empty();
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

} // namespace

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
  std::map<std::string, fs::path> by_name;
  for (const fs::path& name : content->folders)
    by_name.emplace(lower(name.string()), out.train / name);
  const auto train = std::ranges::find_if(
      by_name, [](const auto& e) { return e.first == "train" || e.first == "training"; });
  if (train == by_name.end() || !may_hold_classes(train->second))
    return out;
  out.train = train->second;
  constexpr std::array<std::string_view, 6> others{"test",  "testing",    "val",
                                                   "valid", "validation", "dev"};
  for (const auto name : others)
    if (const auto at = by_name.find(std::string(name));
        at != by_name.end() && may_hold_classes(at->second))
      (out.test.empty() ? out.test : out.unused) = at->second;
  return out;
}

} // namespace clade
