// Grammar (msgpack):
//
//     preprocessing = [ task: text, shape: [size...], width: natural, names: [text...],
//                       target column: natural | nil, target: text, [category...],
//                       blanks: [real | nil...], means: [real...], deviations: [real...],
//                       largest: real, classes: [text...], target mean: real,
//                       target deviation: real, checksum: [high, low] ]
//     category      = [ column: natural, name: text, values: [text...] ]
//     task          = "classification" | "regression"

#include "engine/data/preprocessing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace clade {
namespace {

// More values no example of a network has (search_spaces/network.cpp).
constexpr std::uint64_t most_values = std::uint64_t{1} << 28;

void write(encoder& out, const std::vector<std::string>& texts) {
  out.array(texts.size());
  for (const auto& t : texts)
    out.text(t);
}

void write(encoder& out, const std::vector<double>& numbers) {
  out.array(numbers.size());
  for (const double v : numbers)
    out.real(v);
}

std::vector<std::string> read_texts(decoder& in) {
  return decode_list(in, [](decoder& d) { return d.text(); });
}

float read_float(decoder& in) {
  const double v = in.real();
  if (std::abs(v) <= std::numeric_limits<float>::max())
    return static_cast<float>(v);
  in.fail("a number that is not finite");
  return 0;
}

category_column read_category(decoder& in) {
  in.array(3);
  category_column c;
  c.column = in.natural();
  c.name = in.text();
  c.values = read_texts(in);
  return c;
}

task_kind read_task(decoder& in) {
  const auto task = in.text();
  if (task != "classification" && task != "regression")
    in.fail("a task that is neither classification nor regression");
  return task == "regression" ? task_kind::regression : task_kind::classification;
}

std::optional<std::uint64_t> elements_of(const tensor_shape& shape) {
  std::uint64_t n = 1;
  for (const auto size : shape.sizes) {
    if (size < 1 || static_cast<std::uint64_t>(size) > most_values / n)
      return std::nullopt;
    n *= static_cast<std::uint64_t>(size);
  }
  return n;
}

bool categories_fit(const preprocessing& how) {
  std::size_t next = 0;
  for (const auto& c : how.categories) {
    if (c.column < next || c.column >= how.width || c.values.empty())
      return false;
    next = c.column + 1;
  }
  return true;
}

bool columns_fit(const preprocessing& how) {
  const auto all = how.expanded_width();
  const auto fits = [&](std::size_t size) { return size == 0 || size == all; };
  return elements_of(how.shape) == all && fits(how.blanks.size()) && fits(how.mean.size())
         && how.mean.size() == how.deviation.size();
}

bool numbers_are_sound(const preprocessing& how) {
  const auto finite = [](double v) { return std::isfinite(v); };
  const auto divides = [](double v) { return std::isfinite(v) && v > 0; };
  return std::ranges::all_of(how.mean, finite)
         && std::ranges::all_of(how.deviation, divides) && how.largest >= 0
         && finite(how.target_mean) && divides(how.target_deviation);
}

// What `prepare` and those who read new files rely on.
void check(decoder& in, const preprocessing& how) {
  if (how.width < 1 || how.width > most_values)
    return in.fail("examples of " + std::to_string(how.width) + " values");
  if (!how.names.empty() && how.names.size() != how.width)
    return in.fail("names that are not those of the columns");
  if (how.target_column && *how.target_column > how.width)
    return in.fail("a target that is no column");
  if (!categories_fit(how))
    return in.fail("categories that are not those of the columns");
  if (!columns_fit(how))
    return in.fail("columns that do not fill the shape " + to_text(how.shape));
  if (!numbers_are_sound(how))
    return in.fail("a scale that is no scale");
  if (how.task == task_kind::classification && how.classes.empty())
    in.fail("no classes");
}

} // namespace

void encode(encoder& out, const preprocessing& how) {
  out.array(15).text(how.task == task_kind::regression ? "regression" : "classification");
  out.array(how.shape.sizes.size());
  for (const auto size : how.shape.sizes)
    out.integer(size);
  out.natural(how.width);
  write(out, how.names);
  if (how.target_column)
    out.natural(*how.target_column);
  else
    out.nil();
  out.text(how.target).array(how.categories.size());
  for (const auto& c : how.categories) {
    out.array(3).natural(c.column).text(c.name);
    write(out, c.values);
  }
  out.array(how.blanks.size());
  for (const float v : how.blanks)
    if (std::isnan(v))
      out.nil();
    else
      out.real(v);
  write(out, how.mean);
  write(out, how.deviation);
  out.real(how.largest);
  write(out, how.classes);
  out.real(how.target_mean).real(how.target_deviation);
  out.array(2).natural(how.checksum.high).natural(how.checksum.low);
}

preprocessing decode_preprocessing(decoder& in) {
  const auto number = [](decoder& d) { return d.real(); };
  preprocessing how;
  in.array(15);
  how.task = read_task(in);
  how.shape.sizes = decode_list(in, [](decoder& d) { return d.integer(); });
  how.width = in.natural();
  how.names = read_texts(in);
  if (!in.is_nil())
    how.target_column = in.natural();
  how.target = in.text();
  how.categories = decode_list(in, read_category);
  how.blanks = decode_list(in, [](decoder& d) {
    return d.is_nil() ? std::numeric_limits<float>::quiet_NaN() : read_float(d);
  });
  how.mean = decode_list(in, number);
  how.deviation = decode_list(in, number);
  how.largest = read_float(in);
  how.classes = read_texts(in);
  how.target_mean = in.real();
  how.target_deviation = in.real();
  in.array(2);
  how.checksum.high = in.natural();
  how.checksum.low = in.natural();
  if (!in.failed())
    check(in, how);
  return how;
}

} // namespace clade
