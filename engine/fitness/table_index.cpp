// Exact: open addressing over a hash of a row's codes; a look-up reads a slot and the
// codes of one row. Nearest: every row is looked at. A parameter's place is a whole number
// from 0 to `whole`: of a range, in its logarithm where the range is logarithmic; of an
// ordered choice by its number in the list. Places of an unordered choice are as far
// apart as can be wherever they differ. The distance is the sum of squares, whole numbers
// throughout, so that every machine finds the same row. Places lie in blocks of eight
// rows, parameter by parameter, for the loop over a block to be one of vectors.
#include "engine/fitness/table_index.hpp"

#include "genome/portable_math.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace clade {

namespace {

constexpr std::size_t block = 8;
constexpr std::uint32_t whole = 1 << 15;

/// As a fraction of the domain.
double fraction(double low, double high, bool log, double v) {
  if (!(low < high))
    return 0;
  if (!log)
    return (v - low) / (high - low);
  const double from = portable_log(low), to = portable_log(high);
  return (portable_log(v) - from) / (to - from);
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
      codes_[i] = std::isnan(values[i]) ? absent
                  : range ? static_cast<std::uint32_t>(
                                std::ranges::lower_bound(occurring, values[i])
                                - occurring.begin())
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

std::uint32_t table_index::place_of(std::size_t parameter, double v) const {
  const auto& domain = parameters_[parameter].domain;
  double at = 0;
  if (const auto* real = std::get_if<real_domain>(&domain))
    at = fraction(real->low, real->high, real->log, v);
  else if (const auto* n = std::get_if<integer_domain>(&domain))
    at = fraction(static_cast<double>(n->low), static_cast<double>(n->high), n->log, v);
  else if (const auto& choice = std::get<choice_domain>(domain); !choice.ordered)
    return static_cast<std::uint32_t>(v);
  else
    at = fraction(0, static_cast<double>(choice.options.size() - 1), false, v);
  return static_cast<std::uint32_t>(std::clamp(at, 0.0, 1.0) * whole + 0.5);
}

void table_index::lay_out(std::span<const double> values) {
  const std::size_t count = parameters_.size();
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
  std::vector<std::uint32_t> wanted(count);
  std::vector<bool> by_order(count);
  for (std::size_t p = 0; p < count; ++p) {
    const value* v = clade::find(settings, parameters_[p].name);
    if (v == nullptr || !contains(parameters_[p], *v))
      return std::nullopt;
    const auto* choice = std::get_if<choice_domain>(&parameters_[p].domain);
    by_order[p] = choice == nullptr || choice->ordered;
    wanted[p] = place_of(p, choice != nullptr ? static_cast<double>(*code_of(p, *v))
                                              : *number_of(*v));
  }
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint32_t best = 0;
  for (std::size_t first = 0; first < rows_; first += block) {
    std::array<std::uint64_t, block> distance{};
    const std::uint32_t* places = places_.data() + first * count;
    for (std::size_t p = 0; p < count; ++p, places += block) {
      const std::uint32_t there = wanted[p];
      if (by_order[p])
        for (std::size_t i = 0; i < block; ++i) {
          const auto off = std::max(places[i], there) - std::min(places[i], there);
          distance[i] += std::uint64_t{off} * off;
        }
      else
        for (std::size_t i = 0; i < block; ++i)
          distance[i] += places[i] == there ? 0 : std::uint64_t{whole} * whole;
    }
    const std::size_t there = std::min(block, rows_ - first);
    for (std::size_t i = 0; i < there; ++i)
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
