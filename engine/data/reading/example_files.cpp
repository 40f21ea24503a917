// Which files and arrays an experiment names, and the checksum of all of them.
#include "engine/data/columns/examples.hpp"
#include "engine/data/converted/data_file.hpp"
#include "engine/data/folders/class_folder.hpp"
#include "engine/data/reading/image_examples.hpp"
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

expected<genome_hash> checksum_of_files(const data_params& params) {
  std::map<std::filesystem::path, genome_hash> known;
  const auto sum_of = [&](const std::filesystem::path& file) -> expected<genome_hash> {
    if (const auto at = known.find(file); at != known.end())
      return at->second;
    auto sum = checksum_of_data(file);
    if (sum)
      known.emplace(file, *sum);
    return sum;
  };
  std::optional<genome_hash> total;
  for (const auto& from : {std::optional(training_files(params)), test_files(params)}) {
    if (!from)
      continue;
    const auto& file = from->examples.file;
    auto sum = params.images.empty()
                   ? sum_of(file)
                   : read_data_file(file, choice_of(from->examples))
                         .and_then([&](data_file&& table) {
                           return checksum_of_listed(std::move(table), file, params);
                         });
    if (!sum)
      return sum;
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
