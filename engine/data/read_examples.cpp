// What a file is, is known by its first bytes: .npy and IDX have magic numbers (and names
// that are trusted when those are damaged), CIFAR's batches are known by the name .bin,
// all else is CSV. Arrays hold examples along
// their first dimension; their targets are an array of one dimension in a file of its
// own, or one column of an array of two.

#include "engine/data/cifar.hpp"
#include "engine/data/csv.hpp"
#include "engine/data/examples.hpp"
#include "engine/data/file_bytes.hpp"
#include "engine/data/numeric_array.hpp"
#include "genome/hash.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

namespace clade {
namespace {

enum class format : std::uint8_t { csv, idx, npy, cifar };

format format_of(const std::filesystem::path& file, std::string_view bytes) {
  const std::string name = file.filename().string();
  // First: any bytes may begin a picture, another format's magic number too.
  if (name.ends_with(".bin") || name.ends_with(".bin.gz"))
    return format::cifar;
  if (looks_like_npy(bytes) || name.ends_with(".npy") || name.ends_with(".npy.gz"))
    return format::npy;
  if (looks_like_idx(bytes) || name.ends_with("-ubyte") || name.ends_with("-ubyte.gz")
      || name.ends_with(".idx") || name.ends_with(".idx.gz"))
    return format::idx;
  return format::csv;
}

tl::unexpected<error> wrong(std::string_view place, std::string message) {
  return fail_in(place, {error_kind::invalid_input, std::move(message)});
}

std::string at_byte(const std::string& origin, std::size_t byte) {
  return origin + ": byte " + std::to_string(byte);
}

expected<numeric_array> parse_array(format f, const std::string& origin,
                                    std::string_view bytes) {
  auto a = f == format::npy ? parse_npy(bytes) : parse_idx(bytes);
  if (!a)
    return fail_in(origin, std::move(a).error());
  if (a->sizes.empty() || a->values.empty())
    return wrong(origin, "holds no examples");
  return a;
}

// The targets are elements first, first + stride, ... of `a`.
expected<void> take_targets(examples& out, const numeric_array& a, std::size_t first,
                            std::size_t stride, task_kind task) {
  constexpr double largest_exact = 9007199254740992.0; // 2^53
  std::unordered_map<std::int64_t, std::uint32_t> by_value;
  for (std::size_t i = first; i < a.count(); i += stride) {
    const double v = a[i];
    out.places.push_back(a.byte_of(i));
    const auto place = [&] { return at_byte(out.origin, a.byte_of(i)); };
    if (!std::isfinite(v) || std::abs(v) > std::numeric_limits<float>::max())
      return wrong(place(), "the target is not a finite number");
    if (task == task_kind::regression) {
      out.targets.push_back(v);
      continue;
    }
    if (v != std::floor(v) || std::abs(v) > largest_exact)
      return wrong(place(),
                   "the target is not a whole number, and so no class; for numbers say "
                   "task = \"regression\"");
    const auto whole = static_cast<std::int64_t>(v);
    const auto [at, fresh] =
        by_value.emplace(whole, static_cast<std::uint32_t>(out.classes.size()));
    if (fresh)
      out.classes.push_back(std::to_string(whole));
    out.labels.push_back(at->second);
  }
  return {};
}

// All but column `skipped` (of an array of two dimensions).
expected<void> take_features(examples& out, const std::string& origin,
                             const numeric_array& a, std::optional<std::size_t> skipped) {
  const auto width = a.count() / out.count;
  out.features.reserve(a.count());
  for (std::size_t i = 0; i < a.count(); ++i) {
    if (skipped && i % width == *skipped)
      continue;
    const double v = a[i];
    if (!std::isfinite(v) || std::abs(v) > std::numeric_limits<float>::max())
      return wrong(at_byte(origin, a.byte_of(i)), "the value is not a finite number");
    out.features.push_back(static_cast<float>(v));
  }
  return {};
}

// [n, h, w] holds images of one channel, all else what it says.
tensor_shape example_shape(const numeric_array& a) {
  tensor_shape s{{a.sizes.begin() + 1, a.sizes.end()}};
  if (s.sizes.size() == 2)
    s.sizes.insert(s.sizes.begin(), 1);
  if (s.sizes.empty())
    s.sizes.push_back(1);
  return s;
}

std::optional<std::size_t> target_column(const std::string& target, std::size_t columns) {
  if (target == "last")
    return columns - 1;
  std::size_t n = 0;
  const auto [end, status] =
      std::from_chars(target.data(), target.data() + target.size(), n);
  if (status != std::errc{} || end != target.data() + target.size() || n == 0
      || n > columns)
    return std::nullopt;
  return n - 1;
}

expected<examples> with_target_column(const std::string& origin, const numeric_array& a,
                                      const data_params& params) {
  if (a.sizes.size() != 2 || a.sizes[1] < 2)
    return wrong(origin, "an array of " + to_text(tensor_shape{a.sizes})
                             + " has no target column; name the file of the targets, "
                               "target_file = \"...\"");
  const auto columns = static_cast<std::size_t>(a.sizes[1]);
  const auto column = target_column(params.target, columns);
  if (!column)
    return wrong(origin,
                 "no column is the target \"" + params.target
                     + "\": an array has no names of columns; use a number from 1 to "
                     + std::to_string(columns) + ", or \"last\"");
  examples out;
  out.origin = origin;
  out.count = static_cast<std::size_t>(a.sizes[0]);
  out.shape.sizes = {a.sizes[1] - 1};
  if (auto taken = take_targets(out, a, *column, columns, params.task); !taken)
    return tl::unexpected(std::move(taken).error());
  if (auto taken = take_features(out, origin, a, column); !taken)
    return tl::unexpected(std::move(taken).error());
  return out;
}

expected<examples> with_target_file(const std::string& origin, const numeric_array& a,
                                    const std::filesystem::path& target_file,
                                    const data_params& params) {
  const std::string target_origin = target_file.string();
  const auto file = read_file(target_file);
  if (!file)
    return tl::unexpected(file.error());
  const format f = format_of(target_file, file->bytes);
  if (f != format::npy && f != format::idx)
    return wrong(target_origin, "is neither a .npy nor an IDX file of targets");
  const auto targets = parse_array(f, target_origin, file->bytes);
  if (!targets)
    return tl::unexpected(targets.error());
  const auto count = static_cast<std::size_t>(a.sizes[0]);
  if (targets->count() != targets->sizes[0] + std::size_t{0} || targets->count() != count)
    return wrong(target_origin,
                 "holds targets of " + to_text(tensor_shape{targets->sizes}) + ", where "
                     + origin + " holds " + std::to_string(count) + " examples");
  examples out;
  out.origin = target_origin;
  out.count = count;
  out.shape = example_shape(a);
  if (auto taken = take_targets(out, *targets, 0, 1, params.task); !taken)
    return tl::unexpected(std::move(taken).error());
  if (auto taken = take_features(out, origin, a, std::nullopt); !taken)
    return tl::unexpected(std::move(taken).error());
  out.checksum = file->checksum;
  return out;
}

} // namespace

std::string examples::place(std::size_t example) const {
  return by_line ? origin + ":" + std::to_string(places[example])
                 : at_byte(origin, places[example]);
}

expected<examples> read_examples(const std::filesystem::path& file,
                                 const std::filesystem::path& target_file,
                                 const data_params& params) {
  const std::string origin = file.string();
  const auto read = read_file(file);
  if (!read)
    return tl::unexpected(read.error());
  const format f = format_of(file, read->bytes);
  if (f == format::csv) {
    if (!target_file.empty())
      return wrong(origin, "is neither a .npy nor an IDX file, as it must be beside a "
                           "target_file");
    if (const std::size_t nul = read->bytes.find('\0'); nul != std::string::npos)
      return wrong(at_byte(origin, nul),
                   "a zero byte: the file is neither CSV, .npy nor IDX");
    auto parsed = parse_csv(read->bytes, origin, params);
    if (parsed)
      parsed->checksum = read->checksum;
    return parsed;
  }
  if (!params.categories.empty() || params.blanks != blank_rule::refuse)
    return wrong(origin, "is an array; categories and blanks are for CSV files");
  if (f == format::cifar) {
    if (!target_file.empty())
      return wrong(origin, "holds its targets itself; remove target_file");
    auto parsed = parse_cifar(read->bytes, origin, params);
    if (parsed)
      parsed->checksum = read->checksum;
    return parsed;
  }
  const auto array = parse_array(f, origin, read->bytes);
  if (!array)
    return tl::unexpected(array.error());
  auto parsed = target_file.empty()
                    ? with_target_column(origin, *array, params)
                    : with_target_file(origin, *array, target_file, params);
  if (parsed)
    parsed->checksum =
        target_file.empty() ? read->checksum : both(read->checksum, parsed->checksum);
  return parsed;
}

genome_hash both(genome_hash a, genome_hash b) {
  const std::array<std::uint64_t, 4> words{a.high, a.low, b.high, b.low};
  std::array<char, sizeof words> raw;
  std::memcpy(raw.data(), words.data(), sizeof words);
  return hash128(raw);
}

expected<genome_hash> checksum_of_files(const data_params& params) {
  std::optional<genome_hash> total;
  for (const auto& [file, target_file] :
       {std::pair(params.file, params.target_file),
        std::pair(params.test_file, params.test_target_file)}) {
    if (file.empty())
      continue;
    auto sum = checksum_of_file(file);
    if (!sum)
      return sum;
    if (!target_file.empty()) {
      const auto targets = checksum_of_file(target_file);
      if (!targets)
        return targets;
      sum = both(*sum, *targets);
    }
    total = total ? both(*total, *sum) : *sum;
  }
  return *total;
}

} // namespace clade
