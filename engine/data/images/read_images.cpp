// Files are read whole, one for each thread; their pixels lie in one buffer as bytes.
#include "engine/data/images/image_folder.hpp"
#include "genome/base/all_processors.hpp"
#include "genome/base/text.hpp"
#include "genome/base/whole_file.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

namespace clade {
namespace {

namespace fs = std::filesystem;

/// A larger file is none of a photograph.
constexpr std::uint64_t most_file_bytes = std::uint64_t{1} << 30;

tl::unexpected<error> wrong(const fs::path& place, std::string message) {
  return fail_in(place.string(), {error_kind::invalid_input, std::move(message)});
}

expected<std::string> read_image_file(const fs::path& file) {
  return read_whole_file(file, {.most_bytes = most_file_bytes});
}

/// Writes the picture's channels one after the other.
void write_planes(const picture& p, std::span<std::uint8_t> into) {
  const std::size_t plane = p.height * p.width;
  for (std::size_t i = 0; i < plane; ++i)
    for (std::size_t c = 0; c < p.channels; ++c)
      into[c * plane + i] = p.pixels[i * p.channels + c];
}

struct image_sizes {
  std::size_t channels, height, width;

  explicit image_sizes(const tensor_shape& s)
      : channels(static_cast<std::size_t>(s.sizes[0])),
        height(static_cast<std::size_t>(s.sizes[1])),
        width(static_cast<std::size_t>(s.sizes[2])) {}
  [[nodiscard]] std::size_t bytes() const { return channels * height * width; }
};

/// Decodes an image to these sizes.
expected<void> decode_into(std::string_view bytes, const image_sizes& to,
                           std::span<std::uint8_t> into) {
  return decode_image(bytes, {to.height, to.width}).map([&](picture&& p) {
    const auto sized =
        scaled_to(with_channels(std::move(p), to.channels), to.height, to.width);
    write_planes(sized, into);
  });
}

/// Several files, decoded.
struct decoded_files {
  large_vector<std::uint8_t> pixels; ///< [files, channels, height, width]
  std::vector<genome_hash> checksums;
  std::vector<std::string> problems; ///< Why it was not decoded; or empty.
};

decoded_files decode_files(const std::vector<fs::path>& files, const image_sizes& to) {
  decoded_files out{.pixels = large_vector<std::uint8_t>(files.size() * to.bytes()),
                    .checksums = std::vector<genome_hash>(files.size()),
                    .problems = std::vector<std::string>(files.size())};
  on_all_processors(files.size(), [&](std::size_t i) {
    const auto bytes = read_image_file(files[i]);
    if (!bytes) {
      out.problems[i] = reason_without(files[i], bytes.error());
      return;
    }
    out.checksums[i] = hash128(*bytes);
    const std::span<std::uint8_t> place(out.pixels.data() + i * to.bytes(), to.bytes());
    if (const auto done = decode_into(*bytes, to, place); !done)
      out.problems[i] = done.error().message;
  });
  return out;
}

/// How many of several files were not decoded, and the first of them.
struct undecoded {
  explicit undecoded(const std::vector<std::string>& problems) {
    for (std::size_t i = 0; i < problems.size(); ++i)
      if (!problems[i].empty() && count++ == 0)
        first = i;
  }

  std::size_t count = 0, first = 0;
};

/// Refuses images of which more cannot be decoded than may be left out.
expected<void> check_unreadable(const std::vector<fs::path>& paths,
                                const std::vector<std::string>& problems,
                                const data_params& params) {
  const auto [count, first] = undecoded(problems);
  const auto bad = static_cast<double>(count), all = static_cast<double>(problems.size());
  if (count == 0 || bad <= params.unreadable * all)
    return {};
  return wrong(paths[first],
               fmt::format("{}{}; remove what cannot be read, or say how large a share "
                           "may be left out, unreadable = {:.2g}",
                           problems[first],
                           count == 1 ? ""
                                      : fmt::format(" (and {} other images of {})",
                                                    with_commas(count - 1),
                                                    with_commas(problems.size())),
                           std::min(1.0, std::ceil(100 * bad / all) / 100)));
}

/// Drops the pixels of what was not decoded.
void keep_decoded(decoded_files& files, std::size_t bytes) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < files.problems.size(); ++i) {
    if (!files.problems[i].empty())
      continue;
    if (kept != i)
      std::copy_n(files.pixels.begin() + static_cast<std::ptrdiff_t>(i * bytes), bytes,
                  files.pixels.begin() + static_cast<std::ptrdiff_t>(kept * bytes));
    ++kept;
  }
  files.pixels.resize(kept * bytes);
}

/// Drops the names of what was not decoded, and notes it.
expected<void> without_problems(decoded_images& images,
                                const std::vector<fs::path>& files,
                                const std::vector<std::string>& problems) {
  const auto [count, first] = undecoded(problems);
  if (count == 0)
    return {};
  if (count == problems.size())
    return wrong(files[first], problems[first]);
  images.notes.push_back(
      fmt::format("{} of {} images cannot be read and have no line, such as {}: {}",
                  with_commas(count), with_commas(problems.size()), files[first].string(),
                  problems[first]));
  std::vector<std::string> names, classes;
  const std::size_t each = images.classes.size() / problems.size();
  for (std::size_t i = 0; i < problems.size(); ++i)
    if (problems[i].empty()) {
      names.push_back(std::move(images.names[i]));
      for (std::size_t k = i * each; k < (i + 1) * each; ++k)
        classes.push_back(std::move(images.classes[k]));
    }
  images.names = std::move(names);
  images.classes = std::move(classes);
  return {};
}

expected<void> check_shape(const fs::path& folder, const tensor_shape& shape) {
  if (shape.sizes.size() == 3 && (shape.sizes[0] == 1 || shape.sizes[0] == 3)
      && shape.sizes[1] <= 4096 && shape.sizes[2] <= 4096)
    return {};
  return wrong(folder, fmt::format("is a folder of images, of which shape = {} can be "
                                   "none; write shape = [3, height, width], or [1, "
                                   "height, width] for shades of grey",
                                   to_text(shape)));
}

} // namespace

std::vector<seen_image> look_at_images(const std::vector<fs::path>& files) {
  std::vector<seen_image> out(files.size());
  on_all_processors(files.size(), [&](std::size_t i) {
    const auto bytes = read_image_file(files[i]);
    if (!bytes) {
      out[i].problem = reason_without(files[i], bytes.error());
      return;
    }
    out[i].checksum = hash128(*bytes);
    const auto header = read_image_header(*bytes);
    if (header)
      out[i].header = *header;
    else
      out[i].problem = header.error().message;
  });
  return out;
}

expected<decoded_examples> read_images(const fs::path& folder,
                                       const std::vector<fs::path>& files,
                                       const data_params& params) {
  const auto paths = below(folder, files);
  const auto shape =
      params.shape.sizes.empty() ? shape_for(look_at_images(paths)) : params.shape;
  if (auto fine = check_shape(folder, shape); !fine)
    return tl::unexpected(std::move(fine).error());
  const image_sizes sizes(shape);
  auto read = decode_files(paths, sizes);
  if (auto fine = check_unreadable(paths, read.problems, params); !fine)
    return tl::unexpected(std::move(fine).error());
  decoded_examples out;
  out.all.origin = folder.string();
  out.all.shape = shape;
  out.all.sizes = shape;
  checksum_of_all all;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    all.add(files[i], read.checksums[i]);
    if (!read.problems[i].empty())
      continue;
    out.decoded.push_back(i);
    out.all.names.push_back(files[i].generic_string());
    out.all.places.push_back(out.all.count++);
  }
  out.all.checksum = all.value();
  keep_decoded(read, sizes.bytes());
  out.all.features = std::move(read.pixels);
  return out;
}

expected<examples> read_image_folder(const fs::path& folder, const data_params& params) {
  if (!params.task.has_classes())
    return wrong(folder, "holds images by class; say task = \"classification\"");
  const auto found = find_classes(folder, folder_kind::images);
  if (!found)
    return tl::unexpected(found.error());
  if (auto fine = check_classes_of(*found); !fine)
    return tl::unexpected(std::move(fine).error());
  return read_images(folder, found->paths(), params).map([&](decoded_examples&& read) {
    read.all.classes = found->classes;
    for (const auto i : read.decoded)
      read.all.labels.push_back(static_cast<std::uint32_t>(found->files[i].label));
    return std::move(read.all);
  });
}

expected<decoded_images> decode_images(const fs::path& folder,
                                       const std::vector<fs::path>& files,
                                       std::vector<std::string> classes,
                                       const tensor_shape& shape) {
  if (auto fine = check_shape(folder, shape); !fine)
    return tl::unexpected(std::move(fine).error());
  decoded_images out{
      .names = {}, .classes = std::move(classes), .pixels = {}, .notes = {}};
  for (const fs::path& file : files)
    out.names.push_back(file.generic_string());
  const image_sizes sizes(shape);
  const auto paths = below(folder, files);
  auto decoded = decode_files(paths, sizes);
  if (auto left = without_problems(out, paths, decoded.problems); !left)
    return tl::unexpected(std::move(left).error());
  keep_decoded(decoded, sizes.bytes());
  out.pixels = std::move(decoded.pixels);
  return out;
}

expected<decoded_images> decode_images(const fs::path& path, const tensor_shape& shape) {
  if (!is_folder(path))
    return decode_images(path.parent_path(), {path.filename()}, {""}, shape);
  const auto found = find_classes(path, folder_kind::images);
  if (!found)
    return tl::unexpected(found.error());
  std::vector<fs::path> files = found->unlabelled;
  std::vector<std::string> classes(files.size());
  for (const auto& image : found->files) {
    files.push_back(image.path);
    classes.push_back(found->classes[image.label]);
  }
  if (files.empty())
    return wrong(path, "holds no image (.jpg, .png, .webp, .gif or .bmp)");
  return decode_images(path, files, std::move(classes), shape);
}

} // namespace clade
