#include "genome/base/portable_math.hpp"
#include "genome/genes/unit_cube.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

// Drawing from one parameter's domain, and moving within it. A move is normal with a
// deviation of 0.15 of the domain (of its logarithm, where that is uniform); whole
// numbers and ordered lists move by at least one place. Reals are rounded to few decimal
// digits by to_chars and from_chars, which are exact, and logarithms are portable ones,
// so that all machines draw the same numbers.

namespace clade {

namespace {

constexpr double deviation = 0.15;
constexpr int attempts = 8;

double rounded(const real_domain& d, double v) {
  const double size = std::max(std::fabs(d.low), std::fabs(d.high));
  if (d.low == d.high)
    return d.low;
  double unit = 1e-3; // of the last digit at `size`
  for (; unit * 1e3 > size; unit /= 10) {
  }
  for (; unit * 1e4 <= size; unit *= 10) {
  }
  int digits = 4;
  for (; digits < 17 && unit > (d.high - d.low) * 2e-3; unit /= 10)
    ++digits;
  char text[40];
  const auto written = std::to_chars(text, text + sizeof text, v,
                                     std::chars_format::scientific, digits - 1);
  std::from_chars(text, written.ptr, v);
  return std::clamp(v, d.low, d.high);
}

/// The value at `place` of the way from low to high.
double at(const real_domain& d, double place) {
  place = std::clamp(place, 0.0, 1.0);
  if (!d.log)
    return rounded(d, d.low + place * (d.high - d.low));
  const double low = portable_log(d.low), high = portable_log(d.high);
  return rounded(d, portable_exp(low + place * (high - low)));
}

double place_of(const real_domain& d, double v) {
  if (!d.log)
    return (v - d.low) / (d.high - d.low);
  const double low = portable_log(d.low), high = portable_log(d.high);
  return (portable_log(v) - low) / (high - low);
}

/// The values of an integer domain are numbered from 0; their count less one always fits.
std::uint64_t last(const integer_domain& d) {
  return (static_cast<std::uint64_t>(d.high) - static_cast<std::uint64_t>(d.low))
         / static_cast<std::uint64_t>(d.step);
}

std::int64_t nth(const integer_domain& d, std::uint64_t n) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(d.low)
                                   + n * static_cast<std::uint64_t>(d.step));
}

std::uint64_t number_of(const integer_domain& d, std::int64_t v) {
  return (static_cast<std::uint64_t>(v) - static_cast<std::uint64_t>(d.low))
         / static_cast<std::uint64_t>(d.step);
}

/// The number of the greatest value that is not above `v`, a real.
std::uint64_t number_below(const integer_domain& d, double v) {
  const double n =
      std::floor((v - static_cast<double>(d.low)) / static_cast<double>(d.step));
  if (!(n > 0))
    return 0;
  return n >= static_cast<double>(last(d)) ? last(d) : static_cast<std::uint64_t>(n);
}

value draw_value(const real_domain& d, random_stream& random) {
  return at(d, random.uniform());
}

value draw_value(const integer_domain& d, random_stream& random) {
  if (!d.log) {
    const std::uint64_t values = last(d) + 1; // 0 stands for 2^64
    return nth(d, values == 0 ? random.next() : random.below(values));
  }
  const double low = portable_log(static_cast<double>(d.low));
  const double high = portable_log(static_cast<double>(d.high) + 1);
  return nth(d, number_below(d, portable_exp(low + random.uniform() * (high - low))));
}

value draw_value(const choice_domain& d, random_stream& random) {
  return d.options[random.below(d.options.size())];
}

value draw_value(const derivation_domain& d, random_stream& random) {
  return to_text(*d.rules, draw(d, random));
}

/// The derivation that a value of the domain is.
derivation derivation_of(const derivation_domain& d, const value& v) {
  return *parse_derivation(d, std::get<std::string>(v));
}

value move(const real_domain& d, const value& current, random_stream& random) {
  const double v = std::get<double>(current);
  if (d.low == d.high)
    return v;
  const double place = place_of(d, v);
  for (int i = 0; i < attempts; ++i) {
    const double moved = at(d, place + deviation * random.normal());
    if (moved != v)
      return moved;
  }
  return v == d.low ? d.high : d.low;
}

value move(const integer_domain& d, const value& current, random_stream& random) {
  const std::uint64_t n = number_of(d, std::get<std::int64_t>(current)), end = last(d);
  if (end == 0)
    return current;
  const double by = deviation * random.normal();
  bool up = by > 0;
  if ((up && n == end) || (!up && n == 0))
    up = !up;
  std::uint64_t target = n;
  if (d.log) {
    const double ratio =
        (static_cast<double>(d.high) + 1) / static_cast<double>(d.low); // over the domain
    const double scale =
        portable_exp((up ? 1 : -1) * std::fabs(by) * portable_log(ratio));
    target = number_below(d, static_cast<double>(nth(d, n)) * scale + 0.5);
  } else {
    const double distance = std::fabs(by) * static_cast<double>(end);
    const auto whole = static_cast<std::uint64_t>(std::min(distance, 9e18) + 0.5);
    target = up ? n + std::min(whole, end - n) : n - std::min(whole, n);
  }
  if (up ? target <= n : target >= n)
    target = up ? n + 1 : n - 1;
  return nth(d, target);
}

value move(const choice_domain& d, const value& current, random_stream& random) {
  const auto it = std::ranges::find(d.options, current);
  const auto n = static_cast<std::size_t>(it - d.options.begin());
  if (d.options.size() < 2)
    return current;
  if (!d.ordered) {
    const std::size_t other = random.below(d.options.size() - 1);
    return d.options[other < n ? other : other + 1];
  }
  bool up = random.below(2) == 1;
  if ((up && n + 1 == d.options.size()) || (!up && n == 0))
    up = !up;
  return d.options[up ? n + 1 : n - 1];
}

value move(const derivation_domain& d, const value& current, random_stream& random) {
  return to_text(*d.rules, perturbed(d, derivation_of(d, current), random));
}

bool holds(const real_domain& d, const value& v) {
  const auto* real = std::get_if<double>(&v);
  return real != nullptr && *real >= d.low && *real <= d.high;
}

bool holds(const integer_domain& d, const value& v) {
  const auto* n = std::get_if<std::int64_t>(&v);
  return n != nullptr && *n >= d.low && *n <= d.high && nth(d, number_of(d, *n)) == *n;
}

bool holds(const choice_domain& d, const value& v) {
  return std::ranges::find(d.options, v) != d.options.end();
}

bool holds(const derivation_domain& d, const value& v) {
  const auto* text = std::get_if<std::string>(&v);
  return text != nullptr && parse_derivation(d, *text).has_value();
}

double unit_of(const real_domain& d, const value& v) {
  const double real = std::get<double>(v);
  if (real == d.low || real == d.high)
    return real == d.low ? 0 : 1;
  return std::clamp(place_of(d, real), 0.0, 1.0);
}

double middle_of_bin(std::size_t n, double count) {
  return (static_cast<double>(n) + 0.5) / count;
}

double unit_of(const integer_domain& d, const value& v) {
  const std::uint64_t n = number_of(d, std::get<std::int64_t>(v));
  if (!d.log)
    return middle_of_bin(n, static_cast<double>(last(d)) + 1);
  const double low = portable_log(static_cast<double>(d.low));
  const double end = portable_log(static_cast<double>(d.high) + 1);
  const double from = portable_log(static_cast<double>(nth(d, n)));
  const double to = n == last(d) ? end : portable_log(static_cast<double>(nth(d, n + 1)));
  return (0.5 * (from + to) - low) / (end - low);
}

double unit_of(const choice_domain& d, const value& v) {
  const auto n = std::ranges::find(d.options, v) - d.options.begin();
  return middle_of_bin(static_cast<std::size_t>(n),
                       static_cast<double>(d.options.size()));
}

double unit_of(const derivation_domain&, const value&) {
  return 0.5;
}

value value_at(const real_domain& d, double place) {
  if (place == 0 || place == 1)
    return place == 0 ? d.low : d.high;
  return at(d, place);
}

value value_at(const integer_domain& d, double place) {
  if (!d.log) {
    const double n = std::floor(place * (static_cast<double>(last(d)) + 1));
    return nth(d, n >= static_cast<double>(last(d)) ? last(d)
                                                    : static_cast<std::uint64_t>(n));
  }
  const double low = portable_log(static_cast<double>(d.low));
  const double high = portable_log(static_cast<double>(d.high) + 1);
  return nth(d, number_below(d, portable_exp(low + place * (high - low))));
}

value value_at(const choice_domain& d, double place) {
  const auto n = static_cast<std::size_t>(place * static_cast<double>(d.options.size()));
  return d.options[std::min(n, d.options.size() - 1)];
}

value value_at(const derivation_domain& d, double) {
  return to_text(*d.rules, least_derivation(d));
}

std::optional<value> stepped(const real_domain&, const value&, int) {
  return std::nullopt;
}

std::optional<value> stepped(const integer_domain& d, const value& current, int steps) {
  const std::int64_t v = std::get<std::int64_t>(current);
  const std::uint64_t n = number_of(d, v);
  if (steps > 0 ? n == last(d) : n == 0)
    return std::nullopt;
  if (!d.log)
    return nth(d, steps > 0 ? n + 1 : n - 1);
  const double target = static_cast<double>(v) * (steps > 0 ? 2.0 : 0.5);
  const std::uint64_t there = number_below(d, target);
  return nth(d, steps > 0 ? std::max(there, n + 1) : std::min(there, n - 1));
}

std::optional<value> stepped(const choice_domain& d, const value& current, int steps) {
  const auto n = std::ranges::find(d.options, current) - d.options.begin() + steps;
  if (!d.ordered || n < 0 || n >= std::ssize(d.options))
    return std::nullopt;
  return d.options[static_cast<std::size_t>(n)];
}

std::optional<value> stepped(const derivation_domain&, const value&, int) {
  return std::nullopt;
}

} // namespace

value sample(const parameter& p, random_stream& random) {
  return std::visit([&](const auto& d) { return draw_value(d, random); }, p.domain);
}

value perturb(const parameter& p, const value& current, random_stream& random) {
  if (!contains(p, current))
    return sample(p, random);
  return std::visit([&](const auto& d) { return move(d, current, random); }, p.domain);
}

std::optional<value> step(const parameter& p, const value& current, int steps) {
  if (!contains(p, current))
    return std::nullopt;
  return std::visit([&](const auto& d) { return stepped(d, current, steps); }, p.domain);
}

bool contains(const parameter& p, const value& v) {
  return std::visit([&](const auto& d) { return holds(d, v); }, p.domain);
}

double to_unit(const parameter& p, const value& v) {
  return std::visit([&](const auto& d) { return unit_of(d, v); }, p.domain);
}

value from_unit(const parameter& p, double place) {
  const double within = place > 0 ? std::min(place, 1.0) : 0.0;
  return std::visit([&](const auto& d) { return value_at(d, within); }, p.domain);
}

std::pair<std::string, std::string> change_text(const parameter& p, const value& before,
                                                const value& after) {
  const auto* d = std::get_if<derivation_domain>(&p.domain);
  if (d == nullptr)
    return {to_text(before), to_text(after)};
  return differing_parts(*d->rules, derivation_of(*d, before), derivation_of(*d, after));
}

value crossed(const parameter& p, const value& mine, const value& theirs,
              random_stream& random) {
  const auto* d = std::get_if<derivation_domain>(&p.domain);
  if (d == nullptr)
    return mine;
  return to_text(*d->rules,
                 crossed(*d, derivation_of(*d, mine), derivation_of(*d, theirs), random));
}

bool is_ordered(const parameter& p) {
  if (std::holds_alternative<derivation_domain>(p.domain))
    return false;
  const auto* choice = std::get_if<choice_domain>(&p.domain);
  return choice == nullptr || choice->ordered || choice->options.size() < 2;
}

bool varies(const parameter& p) {
  if (const auto* real = std::get_if<real_domain>(&p.domain))
    return real->low < real->high;
  if (const auto* whole = std::get_if<integer_domain>(&p.domain))
    return last(*whole) > 0;
  if (const auto* trees = std::get_if<derivation_domain>(&p.domain))
    return trees->rules->varies(trees->start, trees->depth);
  return std::get<choice_domain>(p.domain).options.size() > 1;
}

} // namespace clade
