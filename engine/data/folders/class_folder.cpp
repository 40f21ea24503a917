#include "engine/data/folders/class_folder.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/formats/file_bytes.hpp"
#include "engine/data/formats/unread_kinds.hpp"
#include "genome/base/all_processors.hpp"
#include "genome/base/text.hpp"
#include "genome/base/whole_file.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace clade {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 20'000'000;
constexpr int deepest = 20;
/// A larger file is none of an example.
constexpr std::uint64_t most_file_bytes = std::uint64_t{1} << 30;

tl::unexpected<error> wrong(const fs::path& place, std::string message) {
  return fail_in(place.string(), {error_kind::invalid_input, std::move(message)});
}

tl::unexpected<error> unreadable_folder(const fs::path& folder,
                                        const std::error_code& why) {
  return fail_in(folder.string(), {error_kind::io, fmt::format("the folder cannot be "
                                                               "read: {}",
                                                               why.message())});
}

template<std::size_t N>
bool ends_with_one_of(std::string_view name,
                      const std::array<std::string_view, N>& endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) {
    return name.size() > ending.size()
           && equal_in_any_case(name.substr(name.size() - ending.size()), ending);
  });
}

bool is_of(folder_kind kind, const fs::path& name) {
  return kind == folder_kind::images ? has_image_ending(name.string())
                                     : has_text_ending(name.string());
}

folder_kind other_than(folder_kind kind) {
  return kind == folder_kind::images ? folder_kind::texts : folder_kind::images;
}

std::string_view words_of(folder_kind kind) {
  return kind == folder_kind::images ? "images" : "texts";
}

std::string_view word_of(folder_kind kind) {
  return kind == folder_kind::images ? "image" : "text";
}

/// Programs of macOS leave copies of folders behind that hold no examples.
bool is_hidden(const fs::path& name) {
  return name.string().starts_with('.') || name == "__MACOSX";
}

/// Appends the files of a kind below a folder, their paths relative to `root`.
expected<void> add_files_below(const fs::path& folder, const fs::path& root,
                               class_folder& out, std::vector<fs::path>& files) {
  std::error_code failed;
  fs::recursive_directory_iterator at(folder, failed);
  for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    const auto name = at->path().filename();
    if (is_hidden(name)) {
      at.disable_recursion_pending();
      continue;
    }
    if (at.depth() > deepest)
      return wrong(at->path(), fmt::format("lies more than {} folders deep", deepest));
    std::error_code unknown;
    const bool taken = is_of(out.kind, name);
    if ((!taken && !is_of(other_than(out.kind), name)) || !at->is_regular_file(unknown))
      continue;
    if (!taken) {
      if (auto path = at->path().lexically_relative(root);
          out.others++ == 0 || path < out.other)
        out.other = std::move(path);
      continue;
    }
    if (files.size() == most_files)
      return wrong(root,
                   fmt::format("holds more than {} {}", most_files, words_of(out.kind)));
    files.push_back(at->path().lexically_relative(root));
  }
  if (failed)
    return unreadable_folder(folder, failed);
  return {};
}

/// The folders that lie in a folder, and the files of a kind, each in order of names.
struct folder_content {
  std::vector<fs::path> folders, files;
};

expected<folder_content> content_of(const fs::path& folder, folder_kind kind) {
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
    else if (is_of(kind, name) && at->is_regular_file(unknown))
      out.files.push_back(name);
  }
  if (failed)
    return unreadable_folder(folder, failed);
  std::ranges::sort(out.folders);
  std::ranges::sort(out.files);
  return out;
}

/// Looks for parts among the folders of one.
class part_finder {
public:
  explicit part_finder(folder_kind kind) : kind_(kind) {}

  [[nodiscard]] folder_parts parts_of(const fs::path& folder) const {
    folder_parts out{.train = only_folder(folder), .test = {}, .unused = {}};
    const auto content = content_of(out.train, kind_);
    if (!content || holds_examples(*content))
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

private:
  /// Texts are left beside folders by many who made a data set.
  [[nodiscard]] bool holds_examples(const folder_content& content) const {
    return kind_ == folder_kind::images && !content.files.empty();
  }

  /// Whether it may be a folder of folders of classes: no examples lie in it.
  [[nodiscard]] bool may_hold_classes(const fs::path& folder) const {
    const auto content = content_of(folder, kind_);
    return content && !holds_examples(*content) && !content->folders.empty();
  }

  /// Finds a folder by its name, in letters of any case, that may hold those of classes;
  /// empty where there is none.
  [[nodiscard]] fs::path part_named(const fs::path& folder, const folder_content& content,
                                    std::string_view name) const {
    const auto at = std::ranges::find_if(content.folders, [&](const fs::path& one) {
      return equal_in_any_case(one.string(), name);
    });
    return at != content.folders.end() && may_hold_classes(folder / *at) ? folder / *at
                                                                         : fs::path();
  }

  /// Returns the folder that is reached where each holds nothing but one other.
  [[nodiscard]] fs::path only_folder(fs::path folder) const {
    for (int depth = 0; depth < deepest; ++depth) {
      const auto content = content_of(folder, kind_);
      if (!content || holds_examples(*content) || content->folders.size() != 1
          || !may_hold_classes(folder / content->folders.front()))
        break;
      folder /= content->folders.front();
    }
    return folder;
  }

  folder_kind kind_;
};

/// How many files of each kind lie below a folder.
struct kind_counts {
  std::size_t images = 0, texts = 0;

  /// Links are followed where folders of classes and of parts may be.
  void count(const fs::path& folder, int depth = 0) {
    constexpr int deepest_link = 2;
    std::error_code failed;
    fs::directory_iterator at(folder, failed);
    for (; !failed && at != fs::directory_iterator(); at.increment(failed)) {
      std::error_code unknown;
      const auto name = at->path().filename();
      if (is_hidden(name) || images + texts == most_files)
        continue;
      if (at->is_directory(unknown)) {
        if (depth < deepest && (depth < deepest_link || !at->is_symlink(unknown)))
          count(at->path(), depth + 1);
      } else if (at->is_regular_file(unknown)) {
        images += has_image_ending(name.string()) ? 1 : 0;
        texts += has_text_ending(name.string()) ? 1 : 0;
      }
    }
  }
};

} // namespace

bool has_image_ending(std::string_view name) {
  constexpr std::array<std::string_view, 8> endings{".png", ".jpg",  ".jpeg", ".jpe",
                                                    ".gif", ".webp", ".bmp",  ".dib"};
  return ends_with_one_of(name, endings);
}

bool has_text_ending(std::string_view name) {
  constexpr std::array<std::string_view, 3> endings{".txt", ".text", ".md"};
  return name.find('.') == std::string_view::npos || ends_with_one_of(name, endings);
}

bool is_folder(const fs::path& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown);
}

folder_kind kind_of_folder(const fs::path& folder) {
  kind_counts counts;
  counts.count(folder);
  return counts.texts > 2 * counts.images ? folder_kind::texts : folder_kind::images;
}

bool is_text_folder(const fs::path& path) {
  return is_folder(path) && kind_of_folder(path) == folder_kind::texts;
}

std::vector<fs::path> class_folder::paths() const {
  std::vector<fs::path> out;
  out.reserve(files.size());
  for (const file& one : files)
    out.push_back(one.path);
  return out;
}

expected<class_folder> find_classes(const fs::path& folder, folder_kind kind) {
  const auto content = content_of(folder, kind);
  if (!content)
    return tl::unexpected(content.error());
  class_folder out{.folder = folder,
                   .kind = kind,
                   .files = {},
                   .classes = {},
                   .unlabelled = content->files};
  for (const fs::path& name : content->folders) {
    std::vector<fs::path> found;
    if (auto added = add_files_below(folder / name, folder, out, found); !added)
      return tl::unexpected(std::move(added).error());
    if (found.empty())
      continue;
    std::ranges::sort(found);
    for (fs::path& path : found)
      out.files.push_back({std::move(path), out.classes.size()});
    out.classes.push_back(name.string());
    if (out.files.size() > most_files)
      return wrong(folder,
                   fmt::format("holds more than {} {}", most_files, words_of(kind)));
  }
  return out;
}

expected<void> check_classes_of(const class_folder& found) {
  if (!found.files.empty())
    return {};
  const auto data = file_of_data_in(found.folder);
  const bool table = !data.empty() && !has_text_ending(data.filename().string());
  if (table && (found.kind == folder_kind::texts || found.unlabelled.empty()))
    return wrong(found.folder, "is a folder without images or texts by class; name a "
                               "file in it, such as "
                                   + data.string());
  if (!found.unlabelled.empty())
    return wrong(found.folder,
                 fmt::format("holds {} {} and no folder with any, so that no {} has a "
                             "class; move those of each class into a folder of its own{}",
                             with_commas(found.unlabelled.size()), words_of(found.kind),
                             word_of(found.kind),
                             found.kind == folder_kind::texts
                                 ? ", or name the file that is a table"
                                 : ""));
  return wrong(
      found.folder,
      "holds no image (.jpg, .png, .webp, .gif or .bmp) and no text (.txt); name "
      "a folder with a folder of images or texts for each class, or a file of "
      "data");
}

folder_parts parts_of_folder(const fs::path& folder, folder_kind kind) {
  return part_finder(kind).parts_of(folder);
}

std::vector<fs::path> below(const fs::path& folder, const std::vector<fs::path>& files) {
  std::vector<fs::path> out;
  out.reserve(files.size());
  for (const fs::path& file : files)
    out.push_back(folder / file);
  return out;
}

std::string reason_without(const fs::path& file, const error& why) {
  const auto prefix = file.string() + ": ";
  return why.message.starts_with(prefix) ? why.message.substr(prefix.size())
                                         : why.message;
}

void checksum_of_all::add(const fs::path& path, const genome_hash& of_bytes) {
  text_ += fmt::format("{}{}{}\n", path.generic_string(), '\0', to_text(of_bytes));
}

genome_hash checksum_of_all::value() const {
  return hash128(text_);
}

genome_hash checksum_of(const fs::path& folder, const std::vector<fs::path>& files) {
  const auto paths = below(folder, files);
  std::vector<genome_hash> checksums(paths.size());
  on_all_processors(paths.size(), [&](std::size_t i) {
    if (const auto read = read_whole_file(paths[i], {.most_bytes = most_file_bytes}))
      checksums[i] = hash128(*read);
  });
  checksum_of_all all;
  for (std::size_t i = 0; i < paths.size(); ++i)
    all.add(files[i], checksums[i]);
  return all.value();
}

expected<genome_hash> checksum_of_data(const fs::path& path) {
  if (!is_folder(path))
    return checksum_of_file(path);
  return find_classes(path, kind_of_folder(path)).map([&](const class_folder& found) {
    return checksum_of(path, found.paths());
  });
}

} // namespace clade
