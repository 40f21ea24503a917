// Exact: open addressing over a hash of a row's codes; a look-up reads a slot and the
// codes of one row. Nearest: every row is looked at. A parameter's place is a number from
// 0 to 1: of a range, in its logarithm where the range is logarithmic; of an ordered
// choice by its number in the list. If values of an unordered choice differ, they are 1
// apart. The distance is the sum of squares. Places lie in blocks of eight rows,
// parameter by parameter, for the loop over a block to be one of vectors; it adds in one
// order, without fused operations, so that every machine finds the same row.
#include "engine/evaluation/table/table_index.hpp"

#include "genome/base/portable_math.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace clade {

namespace {

constexpr std::size_t block = 8;

struct bounds {
  double low = 0, high = 0;
  bool log = false;
};

/// For a choice, the bounds are the numbers of its options.
bounds bounds_of(const parameter& p) {
  if (const auto* real = std::get_if<real_domain>(&p.domain))
    return {real->low, real->high, real->log};
  if (const auto* whole = std::get_if<integer_domain>(&p.domain))
    return {static_cast<double>(whole->low), static_cast<double>(whole->high),
            whole->log};
  return {0, static_cast<double>(std::get<choice_domain>(p.domain).options.size() - 1)};
}

bool by_order(const parameter& p) {
  const auto* choice = std::get_if<choice_domain>(&p.domain);
  return choice == nullptr || choice->ordered;
}

std::optional<double> number_of(const value& v) {
  if (const auto* n = std::get_if<std::int64_t>(&v))
    return static_cast<double>(*n);
  if (const auto* n = std::get_if<double>(&v))
    return *n;
  return std::nullopt;
}

} // namespace

table_index::table_index(const content& c)
    : parameters_(c.parameters),
      lookup_(c.lookup),
      rows_(c.parameters.empty()
                ? 0
                : static_cast<std::uint32_t>(c.values.size() / c.parameters.size())) {
  encode(c.values);
  fill_slots();
  if (lookup_ == table_lookup::nearest)
    lay_out(c.values);
}

void table_index::encode(std::span<const double> values) {
  const std::size_t count = parameters_.size();
  occurring_.resize(count);
  codes_.resize(values.size());
  for (std::size_t p = 0; p < count; ++p) {
    const bool range = !std::holds_alternative<choice_domain>(parameters_[p].domain);
    auto& occurring = occurring_[p];
    if (range) {
      for (std::size_t i = p; i < values.size(); i += count)
        if (!std::isnan(values[i]))
          occurring.push_back(values[i]);
      std::ranges::sort(occurring);
      occurring.erase(std::ranges::unique(occurring).begin(), occurring.end());
    }
    for (std::size_t i = p; i < values.size(); i += count)
      codes_[i] =
          std::isnan(values[i]) ? absent
          : range               ? static_cast<std::uint32_t>(
                std::ranges::lower_bound(occurring, values[i]) - occurring.begin())
                  : static_cast<std::uint32_t>(values[i]);
  }
}

std::size_t table_index::slot_of(std::span<const std::uint32_t> codes) const {
  std::uint64_t hash = 0;
  for (const auto code : codes) {
    hash = (hash ^ code) * 0x9E37'79B9'7F4A'7C15;
    hash ^= hash >> 32;
  }
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const auto row = slots_[at];
    if (row == 0
        || std::equal(codes.begin(), codes.end(),
                      codes_.begin() + std::ptrdiff_t((row - 1) * codes.size())))
      return at;
  }
}

void table_index::fill_slots() {
  std::size_t size = 2;
  while (size < std::size_t{rows_} * 2)
    size *= 2;
  slots_.assign(size, 0);
  for (std::uint32_t row = 0; row < rows_; ++row) {
    auto& slot = slots_[slot_of(
        std::span(codes_).subspan(row * parameters_.size(), parameters_.size()))];
    if (slot != 0 && !duplicate_)
      duplicate_.emplace(row, slot - 1);
    if (slot == 0)
      slot = row + 1;
  }
}

float table_index::place_of(std::size_t parameter, double v) const {
  const scale& by = scales_[parameter];
  return static_cast<float>(((by.log ? portable_log(v) : v) - by.from) * by.factor);
}

void table_index::lay_out(std::span<const double> values) {
  const std::size_t count = parameters_.size();
  for (const parameter& p : parameters_) {
    const bounds b = bounds_of(p);
    const double from = b.log ? portable_log(b.low) : b.low;
    const double to = b.log ? portable_log(b.high) : b.high;
    const bool ordered = by_order(p);
    scales_.push_back({.from = ordered ? from : 0,
                       .factor = !ordered    ? 1
                                 : from < to ? 1 / (to - from)
                                             : 0,
                       .log = b.log,
                       .ordered = ordered});
  }
  places_.assign((rows_ + block - 1) / block * block * count, 0);
  for (std::size_t row = 0; row < rows_; ++row)
    for (std::size_t p = 0; p < count; ++p)
      places_[(row / block * count + p) * block + row % block] =
          place_of(p, values[row * count + p]);
}

std::optional<std::uint32_t> table_index::code_of(std::size_t parameter,
                                                  const value& v) const {
  if (const auto* choice = std::get_if<choice_domain>(&parameters_[parameter].domain)) {
    const auto found = std::ranges::find(choice->options, v);
    if (found == choice->options.end())
      return std::nullopt;
    return static_cast<std::uint32_t>(found - choice->options.begin());
  }
  const auto& occurring = occurring_[parameter];
  const auto number = number_of(v);
  if (!number)
    return std::nullopt;
  const auto found = std::ranges::lower_bound(occurring, *number);
  if (found == occurring.end() || *found != *number)
    return std::nullopt;
  return static_cast<std::uint32_t>(found - occurring.begin());
}

std::optional<std::uint32_t>
table_index::find_exact(const std::vector<setting>& settings) const {
  std::array<std::uint32_t, 64> few{};
  std::vector<std::uint32_t> many(parameters_.size() > few.size() ? parameters_.size()
                                                                  : 0);
  const std::span codes(many.empty() ? few.data() : many.data(), parameters_.size());
  std::size_t known = 0;
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    const value* v = clade::find(settings, parameters_[p].name);
    codes[p] = absent;
    if (v == nullptr)
      continue;
    const auto code = code_of(p, *v);
    if (!code)
      return std::nullopt;
    codes[p] = *code;
    ++known;
  }
  const auto row = known == settings.size() ? slots_[slot_of(codes)] : 0;
  return row == 0 ? std::nullopt : std::optional(row - 1);
}

std::optional<std::uint32_t>
table_index::find_nearest(const std::vector<setting>& settings) const {
  const std::size_t count = parameters_.size();
  std::vector<float> wanted(count);
  for (std::size_t p = 0; p < count; ++p) {
    const value* v = clade::find(settings, parameters_[p].name);
    if (v == nullptr || !contains(parameters_[p], *v))
      return std::nullopt;
    const bool choice = std::holds_alternative<choice_domain>(parameters_[p].domain);
    wanted[p] =
        place_of(p, choice ? static_cast<double>(*code_of(p, *v)) : *number_of(*v));
  }
  float least = std::numeric_limits<float>::infinity();
  std::uint32_t best = 0;
  for (std::size_t first = 0; first < rows_; first += block) {
    std::array<float, block> distance{};
    const float* places = places_.data() + first * count;
    for (std::size_t p = 0; p < count; ++p, places += block) {
      const float there = wanted[p];
      if (scales_[p].ordered)
        for (std::size_t i = 0; i < block; ++i)
          distance[i] += (places[i] - there) * (places[i] - there);
      else
        for (std::size_t i = 0; i < block; ++i)
          distance[i] += places[i] == there ? 0.0F : 1.0F;
    }
    const std::size_t rows = std::min(block, rows_ - first);
    for (std::size_t i = 0; i < rows; ++i)
      if (distance[i] < least) {
        least = distance[i];
        best = static_cast<std::uint32_t>(first + i);
      }
  }
  return best;
}

std::optional<std::uint32_t>
table_index::find(const std::vector<setting>& settings) const {
  if (rows_ == 0)
    return std::nullopt;
  return lookup_ == table_lookup::exact ? find_exact(settings) : find_nearest(settings);
}

} // namespace clade
