// Grammar (msgpack):
//
//     column        = [ kind: text, name: text, values: [text...], blank input: boolean,
//                       order of a date: natural, time of day: boolean, unit: text,
//                       weights: [real...], scores ]
//                       (without the scores where there are none, without the weights
//                       where there are none either, and without the unit where there is
//                       not that either)
//     scores        = [ terms: [text...], weights: [real...],
//                       coefficients: binary of float32, little endian, term by term,
//                       intercepts: [real...] ]
#include "engine/data/tables/column_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

namespace clade {
namespace {

constexpr std::size_t column_parts = 6; // But for the unit, the weights and the scores.

void encode_scores(encoder& out, const text_scores& scores) {
  out.array(4);
  encode_list(out, scores.terms);
  encode_list(out, scores.weights);
  bytes coefficients;
  for (const float v : scores.fit.coefficients) {
    const auto bits = std::bit_cast<std::uint32_t>(v);
    for (unsigned shift = 0; shift < 32; shift += 8)
      coefficients.push_back(static_cast<char>((bits >> shift) & 0xff));
  }
  out.binary(coefficients).array(scores.count());
  for (const float v : scores.fit.intercepts)
    out.real(v);
}

std::vector<float> read_coefficients(decoder& in) {
  const auto stored = in.binary();
  std::vector<float> out(stored.size() / 4);
  if (stored.size() % 4 != 0)
    in.fail("coefficients that are no numbers of 32 bits");
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint32_t bits = 0;
    for (unsigned b = 0; b < 4; ++b)
      bits |= std::uint32_t{static_cast<unsigned char>(stored[4 * i + b])} << (8 * b);
    out[i] = std::bit_cast<float>(bits);
  }
  return out;
}

text_scores read_scores(decoder& in) {
  in.array(4);
  text_scores scores;
  scores.terms = decode_texts(in);
  scores.weights = decode_list(in, decode_finite);
  scores.fit.coefficients = read_coefficients(in);
  scores.fit.intercepts =
      decode_list(in, [](decoder& d) { return static_cast<float>(decode_finite(d)); });
  return scores;
}

bool in_order(const std::vector<std::string>& texts) {
  return std::ranges::adjacent_find(texts, std::greater_equal()) == texts.end();
}

bool are_above_0(const std::vector<double>& weights) {
  return std::ranges::all_of(weights, [](double w) { return w > 0; });
}

bool is_sound(const text_scores& s) {
  return s.weights.size() == s.terms.size() && are_above_0(s.weights) && in_order(s.terms)
         && s.fit.coefficients.size() == s.terms.size() * s.count()
         && std::ranges::all_of(s.fit.coefficients,
                                [](float v) { return std::isfinite(v); });
}

} // namespace

void encode_list(encoder& out, const std::vector<std::string>& texts) {
  out.array(texts.size());
  for (const auto& t : texts)
    out.text(t);
}

void encode_list(encoder& out, std::span<const double> numbers) {
  out.array(numbers.size());
  for (const double v : numbers)
    out.real(v);
}

std::vector<std::string> decode_texts(decoder& in) {
  return decode_list(in, [](decoder& d) { return d.text(); });
}

double decode_finite(decoder& in) {
  const double v = in.real();
  if (std::abs(v) <= std::numeric_limits<float>::max())
    return v;
  in.fail("a number that is not finite");
  return 0;
}

void encode(encoder& out, const column_encoding& c) {
  const std::size_t further = c.scores.count() > 0 ? 3
                              : !c.weights.empty() ? 2
                              : c.unit.empty()     ? 0
                                                   : 1;
  out.array(column_parts + further).text(to_text(c.kind)).text(c.name);
  encode_list(out, c.values);
  out.boolean(c.blank_input).natural(static_cast<std::uint64_t>(c.order));
  out.boolean(c.time_of_day);
  if (further > 0)
    out.text(c.unit);
  if (further > 1)
    encode_list(out, c.weights);
  if (further > 2)
    encode_scores(out, c.scores);
}

column_encoding decode_column(decoder& in) {
  const auto parts = in.array();
  if (parts < column_parts || parts > column_parts + 3)
    in.fail(fmt::format("a column of {} parts", parts));
  column_encoding c;
  const auto kind = parse_encoding_kind(in.text());
  if (!kind)
    in.fail("a column of a kind that is unknown");
  c.kind = kind.value_or(encoding_kind::number);
  c.name = in.text();
  c.values = decode_texts(in);
  c.blank_input = in.boolean();
  const auto order = in.natural();
  if (order > static_cast<std::uint64_t>(date_order::month_day_year))
    in.fail("a date in an order that is unknown");
  else
    c.order = static_cast<date_order>(order);
  c.time_of_day = in.boolean();
  if (parts > column_parts)
    c.unit = in.text();
  if (parts > column_parts + 1)
    c.weights = decode_list(in, decode_finite);
  if (parts > column_parts + 2)
    c.scores = read_scores(in);
  return c;
}

// Values are looked up by order.
bool is_sound(const column_encoding& c) {
  const bool text = c.kind == encoding_kind::text;
  return (text || (c.kind == encoding_kind::category) != c.values.empty())
         && c.weights.size() == (text ? c.values.size() : 0) && are_above_0(c.weights)
         && in_order(c.values) && (text || c.scores == text_scores{})
         && is_sound(c.scores) && (c.kind != encoding_kind::ignore || !c.blank_input);
}

} // namespace clade
