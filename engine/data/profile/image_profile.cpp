// A folder of images, or a table that names them: all headers are read, no image is
// decoded.
#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/images/image_folder.hpp"
#include "engine/data/profile/data_kinds.hpp"
#include "engine/data/profile/profile_words.hpp"
#include "engine/data/tables/image_list.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace clade {
namespace {

tl::unexpected<error> wrong(const std::filesystem::path& place, std::string message) {
  return fail_in(place.string(), {error_kind::invalid_input, std::move(message)});
}

std::string images_are(std::uint64_t count) {
  return counted(count, "image is", "images are");
}

/// Files of images, what was seen of them, and the class or number of each.
struct seen_images {
  std::vector<std::filesystem::path> paths; ///< The names for notes.
  std::vector<seen_image> seen;
  std::vector<std::string> targets;
};

void note_unreadable(data_profile& p, const seen_images& all) {
  const auto& seen = all.seen;
  const auto bad = [](const seen_image& s) { return !s.problem.empty(); };
  const auto count = std::ranges::count_if(seen, bad);
  if (count == 0)
    return;
  const auto first =
      static_cast<std::size_t>(std::ranges::find_if(seen, bad) - seen.begin());
  p.note(fmt::format("{} left out, such as {}: {}",
                     images_are(static_cast<std::uint64_t>(count)),
                     all.paths[first].generic_string(), seen[first].problem));
}

/// Notes images of which there are several files with the same bytes: those of one class,
/// which may be in two parts of the data, and those of two classes.
void note_repeated(data_profile& p, const seen_images& all) {
  const auto& seen = all.seen;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> first;
  std::uint64_t same = 0, torn = 0;
  std::string example;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i].problem.empty())
      continue;
    const auto& sum = seen[i].checksum;
    const auto [at, fresh] = first.emplace(std::pair(sum.high, sum.low), i);
    if (fresh)
      continue;
    if (all.targets[at->second] == all.targets[i]) {
      ++same;
      continue;
    }
    if (torn++ == 0)
      example = fmt::format("{} and {}", all.paths[at->second].generic_string(),
                            all.paths[i].generic_string());
  }
  if (torn > 0)
    p.note(fmt::format("{} of two {} at once, such as {}", images_are(torn),
                       p.task.has_classes() ? "classes" : "values", example));
  if (same > 0)
    p.note(fmt::format("{} equal to another of its class, and may be in two parts of "
                       "the data",
                       images_are(same)));
}

std::string sizes_of(const std::vector<seen_image>& seen) {
  const image_header *least = nullptr, *most = nullptr;
  for (const seen_image& s : seen) {
    if (!s.problem.empty())
      continue;
    const auto pixels = s.header.height * s.header.width;
    if (least == nullptr || pixels < least->height * least->width)
      least = &s.header;
    if (most == nullptr || pixels > most->height * most->width)
      most = &s.header;
  }
  if (least == nullptr)
    return {};
  const auto low = fmt::format("{} x {}", least->width, least->height),
             high = fmt::format("{} x {}", most->width, most->height);
  return (low == high ? low : fmt::format("{} to {}", low, high)) + " pixels";
}

/// Takes shape, sizes, number and targets of the images.
expected<void> set_images(data_profile& p, const seen_images& all) {
  p.shape = shape_for(all.seen);
  p.image_sizes = sizes_of(all.seen);
  column_profiler targets("");
  for (std::size_t i = 0; i < all.seen.size(); ++i)
    if (all.seen[i].problem.empty()) {
      targets.add(all.targets[i]);
      ++p.rows;
    }
  if (p.rows == 0)
    return wrong(all.paths.front(), all.seen.front().problem);
  p.target = targets.finish();
  return {};
}

/// Ranges of numbers that hold as many images each.
void set_ranges(class_folder& out, const std::vector<std::string>& targets,
                const number_form& form) {
  constexpr std::size_t ranges = 4;
  std::vector<double> values;
  for (const auto& text : targets)
    values.push_back(field_number(text, form).value_or(0));
  auto sorted = values;
  std::ranges::sort(sorted);
  std::vector<double> ends; // The last of each range.
  for (std::size_t i = 1; i <= ranges; ++i) {
    const auto end = sorted[std::max<std::size_t>(i * sorted.size() / ranges, 1) - 1];
    if (!ends.empty() && ends.back() == end)
      continue;
    const auto from =
        ends.empty() ? sorted.front() : *std::ranges::upper_bound(sorted, ends.back());
    out.classes.push_back(fmt::format("{} to {}", short_number(from), short_number(end)));
    ends.push_back(end);
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    out.files[i].label = static_cast<std::size_t>(
        std::ranges::lower_bound(ends, values[i]) - ends.begin());
}

/// The images of a table as those of a folder, of which targets tell the classes.
class_folder as_folder(const image_list& list, const std::filesystem::path& folder,
                       const learning_task& task) {
  class_folder out{.folder = folder};
  for (const auto& file : list.files)
    out.files.push_back({.path = file});
  if (list.targets.size() != list.files.size()) {
    out.classes.emplace_back("all images");
  } else if (task.has_classes()) {
    out.classes = list.targets;
    std::ranges::sort(out.classes);
    const auto twice = std::ranges::unique(out.classes);
    out.classes.erase(twice.begin(), twice.end());
    for (std::size_t i = 0; i < out.files.size(); ++i)
      out.files[i].label = static_cast<std::size_t>(
          std::ranges::lower_bound(out.classes, list.targets[i]) - out.classes.begin());
  } else {
    set_ranges(out, list.targets, list.numbers.front());
  }
  return out;
}

/// Returns the folder, or one in it, below which a path is a file.
std::optional<std::filesystem::path> folder_with(const std::filesystem::path& folder,
                                                 const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_regular_file(folder / path, unknown))
    return folder;
  std::vector<std::filesystem::path> found;
  const auto start = folder.empty() ? std::filesystem::path(".") : folder;
  for (std::filesystem::directory_iterator at(start, unknown);
       !unknown && at != std::filesystem::directory_iterator(); at.increment(unknown)) {
    std::error_code none;
    if (std::filesystem::is_regular_file(at->path() / path, none))
      found.push_back(folder / at->path().filename());
  }
  if (found.empty())
    return std::nullopt;
  return *std::ranges::min_element(found);
}

} // namespace

expected<data_profile> profile_images(const profile_request& request) {
  if (auto fine = check_folder_request(request, folder_kind::images); !fine)
    return tl::unexpected(std::move(fine).error());
  const auto parts = parts_of_folder(request.file);
  const auto found = find_classes(parts.train, folder_kind::images);
  if (!found)
    return tl::unexpected(found.error());
  if (auto fine = check_classes_of(*found); !fine)
    return tl::unexpected(std::move(fine).error());
  seen_images all;
  std::vector<std::filesystem::path> files;
  for (const auto& image : found->files) {
    files.push_back(found->folder / image.path);
    all.paths.push_back(image.path);
    all.targets.push_back(found->classes[image.label]);
  }
  all.seen = look_at_images(files);
  data_profile p;
  p.format = std::string(images_format);
  p.file = parts.train;
  p.test_file = request.test_file.empty() ? parts.test : request.test_file;
  p.target_found = target_reason::labels;
  p.target_whole = true;
  if (auto set = set_images(p, all); !set)
    return tl::unexpected(std::move(set).error());
  finish_profile(p, request);
  note_unreadable(p, all);
  note_repeated(p, all);
  note_places(p, *found, parts);
  return p;
}

std::optional<listed_images> find_listed_images(const data_profile& p) {
  const auto& columns = p.table.columns;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto& values = columns[i].frequent;
    if (p.is_apart(i) || values.empty()
        || !std::ranges::all_of(values, has_image_ending, &value_count::value))
      continue;
    const auto& first = values.front().value;
    if (const auto folder = folder_with(p.file.parent_path(), first))
      return listed_images{i, *folder};
  }
  return std::nullopt;
}

expected<void> profile_listed_images(data_profile& p, const listed_images& images,
                                     std::string_view text) {
  data_params params;
  params.file = p.file;
  params.images = p.label(images.column);
  params.target = p.label(*p.target_column);
  params.targets = p.target_labels();
  params.header = p.names_line > 0 ? fmt::format("line {}", p.names_line) : p.header;
  params.delimiter = p.delimiter;
  params.decimal = std::string(1, p.decimal);
  params.task = p.task;
  auto list = parse_image_list(text, p.file.string(), params);
  if (!list)
    return tl::unexpected(list.error());
  p.listed_images =
      std::make_shared<const class_folder>(as_folder(*list, images.folder, p.task));
  seen_images all{.paths = std::move(list->files), .seen = {}, .targets = {}};
  std::vector<std::filesystem::path> files;
  for (const auto& path : all.paths)
    files.push_back(images.folder / path);
  all.seen = look_at_images(files);
  all.targets = std::move(list->targets);
  p.images = params.images;
  if (images.folder != p.file.parent_path())
    p.image_folder = images.folder;
  p.rows = 0;
  if (auto set = set_images(p, all); !set)
    return set;
  note_unreadable(p, all);
  note_repeated(p, all);
  const std::size_t used = 1 + std::max<std::size_t>(1, p.targets.size());
  if (p.table.columns.size() > used)
    p.note(fmt::format("the images alone are learnt from, and not the other columns ({})",
                       p.table.columns.size() - used));
  return {};
}

} // namespace clade
