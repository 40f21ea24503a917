// Which files and arrays an experiment names, and the checksum of all of them.
#include "engine/data/columns/csv_form.hpp"
#include "engine/data/columns/examples.hpp"
#include "engine/data/formats/data_format.hpp"
#include "engine/data/formats/file_bytes.hpp"
#include "engine/data/images/image_folder.hpp"
#include "engine/data/tables/image_list.hpp"
#include "genome/genes/hash.hpp"

#include <array>
#include <cstring>
#include <map>
#include <optional>

namespace clade {

std::string array_source::place() const {
  return file.string() + (array.empty() ? "" : ": " + array);
}

example_files training_files(const data_params& p) {
  const bool beside = p.target_file.empty() && !p.target_array.empty();
  return {.examples = {p.file, p.array, "array"},
          .targets = {beside ? p.file : p.target_file, p.target_array, "target_array"}};
}

std::optional<example_files> test_files(const data_params& p) {
  if (p.test_file.empty() && p.test_array.empty())
    return std::nullopt;
  example_files out{
      .examples = {p.test_file, p.test_array, "test_array"},
      .targets = {p.test_target_file, p.test_target_array, "test_target_array"}};
  if (p.test_file.empty())
    out.examples.file = p.file;
  if (p.test_target_file.empty() && !p.test_target_array.empty())
    out.targets.file =
        p.test_file.empty() && !p.target_file.empty() ? p.target_file : out.examples.file;
  return out;
}

genome_hash both(genome_hash a, genome_hash b) {
  const std::array<std::uint64_t, 4> words{a.high, a.low, b.high, b.low};
  std::array<char, sizeof words> raw;
  std::memcpy(raw.data(), words.data(), sizeof words);
  return hash128(raw);
}

namespace {

/// The checksum of the images that a table names.
expected<genome_hash> checksum_of_listed(const std::filesystem::path& table,
                                         const data_params& params) {
  return read_file(table)
      .and_then([&](file_bytes&& read) {
        return to_utf8(std::move(read.bytes), params.encoding);
      })
      .and_then([&](const csv_text& text) {
        return parse_image_list(text.text, table.string(), params);
      })
      .map([&](const image_list& list) {
        return checksum_of(image_folder_of(table, params), list.files);
      });
}

} // namespace

expected<genome_hash> checksum_of_files(const data_params& params) {
  std::map<std::filesystem::path, genome_hash> known;
  const auto sum_of = [&](const std::filesystem::path& file) -> expected<genome_hash> {
    if (const auto at = known.find(file); at != known.end())
      return at->second;
    std::error_code unknown;
    auto sum = std::filesystem::is_directory(file, unknown) ? checksum_of_images(file)
                                                            : checksum_of_file(file);
    if (sum)
      known.emplace(file, *sum);
    return sum;
  };
  std::optional<genome_hash> total;
  for (const auto& from : {std::optional(training_files(params)), test_files(params)}) {
    if (!from)
      continue;
    auto sum = sum_of(from->examples.file);
    if (!sum)
      return sum;
    if (!params.images.empty()) {
      const auto images = checksum_of_listed(from->examples.file, params);
      if (!images)
        return images;
      sum = both(*sum, *images);
    }
    if (!from->targets.file.empty()) {
      const auto targets = sum_of(from->targets.file);
      if (!targets)
        return targets;
      sum = both(*sum, *targets);
    }
    total = total ? both(*total, *sum) : *sum;
  }
  return *total;
}

} // namespace clade
