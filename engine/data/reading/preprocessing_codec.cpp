// Grammar (msgpack), version 2:
//
//     preprocessing = [ 2, task: text, shape: [size...], width: natural, [column...],
//                       target column: natural | nil, target: text, decimal: text,
//                       blanks: [real | nil...], means: [real...], deviations: [real...],
//                       largest: real, classes: [text...], target mean: real,
//                       target deviation: real, checksum: [high, low],
//                       layout: natural, sizes: [size...], limits: [real | nil...],
//                       scales: [[mean: real, deviation: real, quantile: real]...] ]
//                       (without the quantile where outputs are none; without the scales,
//                       of which the first are those above, where
//                       there is one output; then without the limits where no input has
//                       one; and without the last four in files of its first day)
//                       (column: column_codec.cpp)
//     task          = "classification" | "regression" | "multilabel" | "quantiles"
//
// A shape [steps, channels] is that of series: there, means and deviations are those of the
// channels, and all steps have the same.
//
// Version 1, which is only read, has 15 elements, of which the first is the task. There,
//
//     names: [text...], target column: natural | nil, target: text, [category...]
//     category      = [ column: natural, name: text, values: [text...] ]
//
// stand where version 2 has its columns, target column, target and decimal.

#include "engine/data/reading/preprocessing.hpp"
#include "engine/data/tables/column_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

namespace clade {
namespace {

// More values no example of a network has (search_spaces/operators/network.cpp).
constexpr std::uint64_t most_values = std::uint64_t{1} << 28;

constexpr std::uint64_t version = 2;
constexpr std::size_t elements = 18, elements_without_layout = 16,
                      elements_of_version_1 = 15;

/// How many numbers of a scale are written: of series those of the first step.
std::size_t written_scales(const preprocessing& how) {
  if (how.shape.layout() != layout::sequence)
    return how.mean.size();
  const auto channels = static_cast<std::size_t>(how.shape.sizes[1]);
  const auto repeats = [&](const std::vector<double>& all) {
    return channels <= all.size()
           && std::equal(all.begin() + static_cast<std::ptrdiff_t>(channels), all.end(),
                         all.begin());
  };
  return repeats(how.mean) && repeats(how.deviation) ? channels : how.mean.size();
}

/// Repeats the numbers of the channels of a series for each step.
void repeat_scales(decoder& in, preprocessing& how) {
  constexpr std::size_t most_inputs = std::size_t{1} << 24; // No series has more.
  if (how.shape.layout() != layout::sequence || how.mean.empty()
      || static_cast<std::int64_t>(how.mean.size()) != how.shape.sizes[1]
      || how.width <= how.mean.size())
    return;
  if (how.width > most_inputs || how.deviation.size() != how.mean.size())
    return in.fail(fmt::format("series of {} values", how.width));
  for (auto* scale : {&how.mean, &how.deviation}) {
    const std::size_t channels = scale->size();
    scale->reserve(how.width);
    while (scale->size() < how.width)
      scale->push_back((*scale)[scale->size() - channels]);
  }
}

// Categories of version 1, among the columns that are there already.
void read_category(decoder& in, preprocessing& how) {
  in.array(3);
  const auto column = in.natural();
  const auto name = in.text(); // For messages alone.
  auto values = decode_texts(in);
  if (in.failed())
    return;
  if (column >= how.columns.size() || values.empty()
      || how.columns[column].kind != encoding_kind::number)
    return in.fail("categories that are not those of the columns");
  how.columns[column].kind = encoding_kind::category;
  how.columns[column].values = std::move(values);
}

// Names, target and categories of version 1.
void read_first_columns(decoder& in, preprocessing& how) {
  constexpr std::size_t most_columns = 1 << 20;
  auto names = decode_texts(in);
  if (!in.is_nil())
    how.target_column = in.natural();
  how.target = in.text();
  const auto categories = in.array();
  if (!in.failed() && !names.empty() && names.size() != how.width)
    return in.fail("names that are not those of the columns");
  if (names.empty() && categories > 0 && how.width > most_columns)
    return in.fail(fmt::format("examples of {} values", how.width));
  if (in.failed() || (names.empty() && categories == 0))
    return;
  how.columns.resize(how.width);
  for (std::size_t i = 0; i < names.size(); ++i)
    how.columns[i].name = std::move(names[i]);
  for (std::size_t i = 0; i < categories && !in.failed(); ++i)
    read_category(in, how);
}

void read_columns(decoder& in, preprocessing& how) {
  how.columns = decode_list(in, decode_column);
  if (!in.is_nil())
    how.target_column = in.natural();
  how.target = in.text();
  const auto decimal = in.text();
  if (decimal != "." && decimal != ",")
    in.fail("numbers with another mark than a point or a comma");
  else
    how.decimal = decimal.front();
}

learning_task read_task(decoder& in) {
  const auto* task = find_learning_task(in.text());
  if (task == nullptr)
    in.fail("a task that is unknown");
  return task == nullptr ? classification : *task;
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

bool inputs_fit(const preprocessing& how) {
  const auto all = how.inputs();
  const auto fits = [&](std::size_t size) { return size == 0 || size == all; };
  return elements_of(how.shape) == all && fits(how.blanks.size()) && fits(how.mean.size())
         && how.mean.size() == how.deviation.size()
         && (how.limit.empty() || how.limit.size() == how.mean.size());
}

bool numbers_are_sound(const preprocessing& how) {
  const auto finite = [](double v) { return std::isfinite(v); };
  const auto divides = [](double v) { return std::isfinite(v) && v > 0; };
  return std::ranges::all_of(how.mean, finite)
         && std::ranges::all_of(how.deviation, divides) && how.largest >= 0
         && std::ranges::all_of(how.limit, [](double v) { return v > 0; })
         && std::ranges::all_of(how.target_scales, [&](const target_scale& s) {
              return finite(s.mean) && divides(s.deviation)
                     && (how.task.has_quantiles() ? s.quantile > 0 && s.quantile < 1
                                                  : s.quantile == 0);
            });
}

void read_layout(decoder& in, preprocessing& how) {
  const auto layout = in.natural();
  how.sizes.sizes = decode_list(in, [](decoder& d) { return d.integer(); });
  if (layout > static_cast<std::uint64_t>(array_layout::channels_last))
    return in.fail("an array of a layout that is unknown");
  how.layout = static_cast<array_layout>(layout);
}

bool layout_fits(const preprocessing& how) {
  return (how.layout != array_layout::channels_last
          || how.shape.layout() == layout::image)
         && (how.sizes.sizes.empty() || elements_of(how.sizes) == how.width);
}

// Checks the facts that `prepare` and those who read new files rely on.
void check(decoder& in, const preprocessing& how) {
  if (how.width < 1 || how.width > most_values)
    return in.fail(fmt::format("examples of {} values", how.width));
  if (!how.columns.empty() && how.columns.size() != how.width)
    return in.fail("columns that are not as many as there are");
  if (how.target_column && *how.target_column > how.width)
    return in.fail("a target that is no column");
  if (!std::ranges::all_of(how.columns,
                           [](const column_encoding& c) { return is_sound(c); }))
    return in.fail("categories that are not those of the columns");
  if (!inputs_fit(how))
    return in.fail("columns that do not fill the shape " + to_text(how.shape));
  if (!layout_fits(how))
    return in.fail("sizes that are not those of the examples");
  if (!numbers_are_sound(how))
    return in.fail("a scale that is no scale");
  if (!how.task.has_numbers() && how.classes.empty())
    in.fail("no classes");
  if (how.target_scales.size() != how.classes.size()
      && (how.target_scales.size() != 1 || how.task.has_quantiles()))
    in.fail("targets that are not as many as their scales");
}

/// Whether each output has a scale of its own.
bool has_scales_of_each(const preprocessing& how) {
  return how.target_scales.size() > 1 || how.task.has_quantiles();
}

} // namespace

void encode(encoder& out, const preprocessing& how) {
  const bool several = has_scales_of_each(how);
  out.array(elements + (several ? 2 : how.limit.empty() ? 0 : 1)).natural(version);
  out.text(how.task.name);
  out.array(how.shape.sizes.size());
  for (const auto size : how.shape.sizes)
    out.integer(size);
  out.natural(how.width).array(how.columns.size());
  for (const auto& c : how.columns)
    encode(out, c);
  if (how.target_column)
    out.natural(*how.target_column);
  else
    out.nil();
  out.text(how.target).text({&how.decimal, 1}).array(how.blanks.size());
  for (const double v : how.blanks)
    if (std::isnan(v))
      out.nil();
    else
      out.real(v);
  const auto scales = written_scales(how);
  encode_list(out, std::span(how.mean).first(scales));
  encode_list(out, std::span(how.deviation).first(scales));
  out.real(how.largest);
  encode_list(out, how.classes);
  const auto& first = how.target_scales.front();
  out.real(first.mean).real(first.deviation);
  out.array(2).natural(how.checksum.high).natural(how.checksum.low);
  out.natural(static_cast<std::uint64_t>(how.layout)).array(how.sizes.sizes.size());
  for (const auto size : how.sizes.sizes)
    out.integer(size);
  if (how.limit.empty() && !several)
    return;
  out.array(how.limit.size());
  for (const double v : how.limit)
    if (std::isinf(v))
      out.nil();
    else
      out.real(v);
  if (!several)
    return;
  out.array(how.target_scales.size());
  for (const target_scale& s : how.target_scales) {
    out.array(s.quantile > 0 ? 3 : 2).real(s.mean).real(s.deviation);
    if (s.quantile > 0)
      out.real(s.quantile);
  }
}

preprocessing decode_preprocessing(decoder& in) {
  const auto number = [](decoder& d) { return d.real(); };
  preprocessing how;
  const auto size = in.array();
  const bool several = size == elements + 2;
  const bool with_limits = several || size == elements + 1;
  if (size != elements && !with_limits && size != elements_without_layout
      && size != elements_of_version_1)
    in.fail(fmt::format("preprocessing of {} parts", size));
  if (size != elements_of_version_1 && in.natural() != version)
    in.fail("preprocessing of a version that is unknown");
  how.task = read_task(in);
  how.shape.sizes = decode_list(in, [](decoder& d) { return d.integer(); });
  how.width = in.natural();
  if (size == elements_of_version_1)
    read_first_columns(in, how);
  else
    read_columns(in, how);
  how.blanks = decode_list(in, [](decoder& d) {
    return d.is_nil() ? std::numeric_limits<double>::quiet_NaN() : decode_finite(d);
  });
  how.mean = decode_list(in, number);
  how.deviation = decode_list(in, number);
  if (!in.failed())
    repeat_scales(in, how);
  how.largest = static_cast<float>(decode_finite(in));
  how.classes = decode_texts(in);
  how.target_scales.front().mean = in.real();
  how.target_scales.front().deviation = in.real();
  in.array(2);
  how.checksum.high = in.natural();
  how.checksum.low = in.natural();
  if (size == elements || with_limits)
    read_layout(in, how);
  if (with_limits)
    how.limit = decode_list(in, [](decoder& d) {
      return d.is_nil() ? std::numeric_limits<double>::infinity() : decode_finite(d);
    });
  if (several)
    how.target_scales = decode_list(in, [](decoder& d) {
      const auto parts = d.array();
      if (parts != 2 && parts != 3)
        d.fail(fmt::format("a scale of {} parts", parts));
      target_scale one;
      one.mean = d.real();
      one.deviation = d.real();
      if (parts == 3)
        one.quantile = d.real();
      return one;
    });
  if (!in.failed())
    check(in, how);
  return how;
}

} // namespace clade
