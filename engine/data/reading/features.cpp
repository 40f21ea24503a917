// Everything that is estimated (means, deviations, the largest magnitude) comes from the
// train part alone, so that nothing of the other parts leaks into training. Sums run in
// order of examples, in double. The inputs of a category stay 0 and 1: a rare one, scaled
// to deviation 1, would be a rare and huge input. The steps of a series share the scale of
// their channel, so that its form stays what it is.

#include "engine/data/reading/features.hpp"

#include "engine/data/reading/preprocessing.hpp"
#include "engine/data/texts/text_scores.hpp"
#include "engine/data/texts/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace clade {
namespace {

// The inputs of each value of a column of texts, and of a blank. Sentences are encoded
// again for each example, since their inputs are many.
struct encoded_values {
  std::vector<exact_numbers> by_code;
  std::vector<text_meaning> meanings;
  exact_numbers blank;
  std::optional<text_encoder> encoder{};
};

/// Larger tables are read row by row: of each column alone a sample is.
constexpr std::size_t most_values_in_turns = std::size_t{1} << 28;
constexpr std::size_t most_sampled_rows = std::size_t{1} << 18;

/// The scores of the columns of texts, by place among `examples::texts`.
using scores_of_columns = std::vector<learnt_scores>;

encoded_values encode_values(const text_column& texts, const column_encoding& column) {
  encoded_values out;
  if (column.kind == encoding_kind::text) {
    out.encoder.emplace(column);
    out.encoder->encode("", out.blank);
    return out;
  }
  for (const std::string& value : texts.values)
    out.meanings.push_back(encode_text(column, value, out.by_code.emplace_back()));
  encode_text(column, "", out.blank);
  return out;
}

tl::unexpected<error> unknown_value(const examples& e, std::size_t example,
                                    const text_column& texts, std::size_t code,
                                    const std::string& known_from) {
  return fail(error_kind::invalid_input,
              fmt::format("{}: {} is \"{}\", which {} does not have there",
                          e.place(example), texts.name, texts.values[code], known_from));
}

// Encodes the columns as the file to train on has them. If a column is named in `strict`,
// a value that it does not have is an error. `learnt` is empty where `e` is not what was
// learnt from.
expected<void> encode(examples& e, const std::vector<column_encoding>& columns,
                      const std::optional<std::string>& strict,
                      const scores_of_columns& learnt) {
  const std::size_t width = e.features.size() / e.count;
  std::vector<const column_encoding*> by_feature;
  std::size_t inputs = 0;
  for (const column_encoding& c : columns) {
    inputs += c.inputs();
    if (c.kind != encoding_kind::ignore)
      by_feature.push_back(&c);
  }
  std::vector<encoded_values> encoded;
  for (const text_column& t : e.texts)
    encoded.push_back(encode_values(t, *by_feature[t.feature]));
  exact_numbers out;
  out.reserve(e.count * inputs);
  for (std::size_t i = 0; i < e.count; ++i)
    for (std::size_t f = 0, t = 0; f < width; ++f) {
      const double value = e.features[i * width + f];
      if (t == e.texts.size() || e.texts[t].feature != f) {
        encode_number(*by_feature[f], value, out);
        continue;
      }
      const auto* texts = &encoded[t].blank;
      if (!std::isnan(value) && encoded[t].encoder) {
        const auto scores = learnt.empty() ? std::span<const double>()
                                           : learnt[t].of(static_cast<std::uint32_t>(i));
        encoded[t].encoder->encode(e.texts[t].values[static_cast<std::size_t>(value)],
                                   out, scores);
        ++t;
        continue;
      }
      if (!std::isnan(value)) {
        const auto code = static_cast<std::size_t>(value);
        texts = &encoded[t].by_code[code];
        if (strict && encoded[t].meanings[code] != text_meaning::value)
          return unknown_value(e, i, e.texts[t], code, *strict);
      }
      out.append(*texts);
      ++t;
    }
  e.features = std::move(out);
  e.shape.sizes = {static_cast<std::int64_t>(inputs)};
  return {};
}

/// A column of texts that has no input says nothing; one beside which there is nothing else
/// is an error.
expected<scores_of_columns> learn_texts(examples& e, std::span<const std::uint32_t> train,
                                        std::size_t further, const text_learning& how) {
  const auto is_text = [&](const text_column& t) {
    return e.columns[t.column].kind == encoding_kind::text;
  };
  const auto columns = static_cast<std::size_t>(std::ranges::count_if(e.texts, is_text));
  scores_of_columns all(e.texts.size());
  for (std::size_t i = 0; i < e.texts.size(); ++i) {
    const text_column& t = e.texts[i];
    if (!is_text(t))
      continue;
    auto& column = e.columns[t.column];
    const auto listed = list_texts(e, t, train);
    if (how.rule == text_rule::scores)
      all[i] = learn_text_scores(e, listed, how.seed, how.by_group);
    column.scores = std::move(all[i].scores);
    using namespace vocabulary_rules;
    const auto most =
        terms_of_each(column.scores.count() > 0 ? most_beside_scores : most_terms,
                      columns, e.count + further);
    auto learnt = telling_vocabulary(e, listed, most);
    column.values = std::move(learnt.terms);
    column.weights = std::move(learnt.weights);
  }
  if (std::ranges::any_of(e.columns, [](const auto& c) { return c.inputs() > 0; }))
    return all;
  return fail(error_kind::invalid_input,
              e.origin
                  + ": no word of the training part's texts tells anything of the target "
                    "beyond chance; more rows, or a column beside the texts, may");
}

bool plain_numbers(const examples& e) {
  return e.texts.empty()
         && std::ranges::none_of(e.columns, &column_encoding::blank_input);
}

} // namespace

void add_blank_inputs(examples& e, std::span<const std::uint32_t> train) {
  const std::size_t width = e.features.size() / e.count;
  std::vector<column_encoding*> by_feature;
  for (column_encoding& c : e.columns)
    if (c.kind != encoding_kind::ignore)
      by_feature.push_back(&c);
  for (std::size_t f = 0; f < by_feature.size(); ++f)
    by_feature[f]->blank_input = std::ranges::any_of(
        train, [&](std::uint32_t i) { return std::isnan(e.features[i * width + f]); });
}

expected<std::vector<bool>> encode_columns(examples& e,
                                           std::span<const std::uint32_t> train,
                                           examples* test, bool strict,
                                           const text_learning& texts) {
  if (plain_numbers(e))
    return std::vector<bool>(e.features.size() / e.count, false);
  for (const text_column& t : e.texts)
    if (auto& c = e.columns[t.column]; c.kind == encoding_kind::category) {
      c.values = t.values;
      std::ranges::sort(c.values);
    }
  const auto learnt = learn_texts(e, train, test == nullptr ? 0 : test->count, texts);
  if (!learnt)
    return tl::unexpected(learnt.error());
  const auto known_from = strict ? std::optional(e.origin) : std::nullopt;
  if (auto encoded = encode(e, e.columns, known_from, *learnt); !encoded)
    return tl::unexpected(std::move(encoded).error());
  if (test != nullptr && test->texts.size() == e.texts.size())
    if (auto encoded = encode(*test, e.columns, known_from, {}); !encoded)
      return tl::unexpected(std::move(encoded).error());
  std::vector<bool> unscaled;
  for (const column_encoding& c : e.columns)
    append_unscaled(c, unscaled);
  return unscaled;
}

std::vector<double> means_of(const feature_rows& rows) {
  std::vector<double> sum(rows.width, 0);
  std::vector<std::size_t> count(rows.width, 0);
  for (const std::uint32_t i : rows.train)
    for (std::size_t c = 0; c < rows.width; ++c)
      if (const double v = rows.values[i * rows.width + c]; !std::isnan(v)) {
        sum[c] += v;
        ++count[c];
      }
  std::vector<double> means(rows.width, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t c = 0; c < rows.width; ++c)
    if (count[c] > 0) {
      const double mean = sum[c] / static_cast<double>(count[c]);
      means[c] = rows.values.wide() ? mean : double{static_cast<float>(mean)};
    }
  return means;
}

expected<void> fill_blanks(const feature_rows& rows, const std::vector<double>& fills) {
  for (std::size_t i = 0; i < rows.values.size(); ++i) {
    const std::size_t c = i % rows.width;
    if (!std::isnan(rows.values[i]))
      continue;
    if (std::isnan(fills[c]))
      return fail(
          error_kind::invalid_input,
          fmt::format(
              "feature {} has no value in the train part, so there is no mean to put in "
              "place of its blanks; ignore the column or say blanks = \"drop\"",
              c + 1));
    rows.values.set(i, fills[c]);
  }
  return {};
}

std::vector<std::optional<robust_scale>>
outlying_columns(const feature_rows& rows, const std::vector<bool>& unscaled) {
  std::vector<std::optional<robust_scale>> found(rows.width);
  std::vector<double> values;
  // Reading one column of a table that is larger than memory costs as much as all.
  const std::size_t stride =
      rows.train.size() * rows.width > most_values_in_turns
          ? std::max<std::size_t>(1, rows.train.size() / most_sampled_rows)
          : 1;
  for (std::size_t c = 0; c < rows.width; ++c) {
    if (unscaled[c])
      continue;
    values.clear();
    for (std::size_t k = 0; k < rows.train.size(); k += stride)
      if (const double v = rows.values[rows.train[k] * rows.width + c]; !std::isnan(v))
        values.push_back(v);
    found[c] = find_robust_scale(values);
  }
  return found;
}

std::vector<std::string>
columns_of(const examples& e, const std::vector<std::optional<robust_scale>>& robust) {
  std::vector<std::string> names;
  const auto has = [&](std::size_t first, std::size_t inputs) {
    return std::any_of(robust.begin() + static_cast<std::ptrdiff_t>(first),
                       robust.begin() + static_cast<std::ptrdiff_t>(first + inputs),
                       [](const auto& scale) { return scale.has_value(); });
  };
  std::size_t input = 0;
  for (const auto& c : named_columns(input_columns_of(e.columns), robust.size())) {
    if (input >= robust.size())
      break;
    if (has(input, c.inputs))
      names.push_back(c.name);
    input += c.inputs;
  }
  return names;
}

column_scales scales_of(const feature_rows& rows, const std::vector<bool>& unscaled,
                        const std::vector<std::optional<robust_scale>>& robust) {
  const std::size_t width = rows.width;
  std::vector<double> mean(width, 0), deviation(width, 0);
  const auto n = static_cast<double>(rows.train.size());
  for (const std::uint32_t i : rows.train)
    for (std::size_t c = 0; c < width; ++c)
      mean[c] += rows.values[i * width + c];
  for (double& m : mean)
    m /= n;
  for (const std::uint32_t i : rows.train)
    for (std::size_t c = 0; c < width; ++c) {
      const double d = rows.values[i * width + c] - mean[c];
      deviation[c] += d * d;
    }
  for (double& d : deviation)
    d = d > 0 ? std::sqrt(d / n) : 1;
  for (std::size_t c = 0; c < width; ++c)
    if (unscaled[c]) {
      mean[c] = 0;
      deviation[c] = 1;
    }
  column_scales scales{std::move(mean), std::move(deviation)};
  for (std::size_t c = 0; c < robust.size(); ++c)
    if (robust[c]) {
      scales.mean[c] = robust[c]->median;
      scales.deviation[c] = robust[c]->deviation;
      scales.limit.resize(width, std::numeric_limits<double>::infinity());
      scales.limit[c] = robust_scale::limit;
    }
  return scales;
}

column_scales scales_of_channels(const feature_rows& rows, const tensor_shape& shape) {
  const auto channels = static_cast<std::size_t>(shape.sizes.at(1));
  std::vector<double> mean(channels, 0), squares(channels, 0), count(channels, 0);
  const auto each = [&](auto&& take) {
    for (const std::uint32_t i : rows.train)
      for (std::size_t c = 0; c < rows.width; ++c)
        if (const double v = rows.values[i * rows.width + c]; !std::isnan(v))
          take(c % channels, v);
  };
  each([&](std::size_t c, double v) { mean[c] += v, ++count[c]; });
  for (std::size_t c = 0; c < channels; ++c)
    mean[c] /= std::max(count[c], 1.0);
  each([&](std::size_t c, double v) { squares[c] += (v - mean[c]) * (v - mean[c]); });
  for (std::size_t i = 0; i < rows.values.size(); ++i)
    if (std::isnan(rows.values[i]))
      rows.values.set(i, mean[i % channels]);
  column_scales scales;
  for (std::size_t i = 0; i < rows.width; ++i) {
    const std::size_t c = i % channels;
    scales.mean.push_back(mean[c]);
    scales.deviation.push_back(squares[c] > 0 ? std::sqrt(squares[c] / count[c]) : 1);
  }
  return scales;
}

large_vector<float> scaled(exact_numbers values, const column_scales& scales) {
  return values.take_as([&, c = std::size_t{0}](std::size_t, double v) mutable {
    const auto x = static_cast<float>((v - scales.mean[c]) / scales.deviation[c]);
    const auto scaled = scales.limit.empty() ? x : limited(x, scales.limit[c]);
    c = c + 1 == scales.mean.size() ? 0 : c + 1;
    return scaled;
  });
}

float largest_of(const feature_rows& rows) {
  float largest = 0;
  if (const auto bytes = rows.values.bytes(); !bytes.empty()) {
    for (const std::uint32_t i : rows.train)
      largest = std::max(largest, static_cast<float>(std::ranges::max(
                                      bytes.subspan(i * rows.width, rows.width))));
    return largest;
  }
  for (const std::uint32_t i : rows.train)
    for (std::size_t c = 0; c < rows.width; ++c)
      largest = std::max(largest,
                         std::abs(static_cast<float>(rows.values[i * rows.width + c])));
  return largest;
}

stored_numbers divided(exact_numbers values, float largest) {
  const float divisor = largest > 0 ? largest : 1;
  if (values.are_bytes())
    return {values.take_bytes(), divisor};
  return values.take_as(
      [&](std::size_t, double v) { return static_cast<float>(v) / divisor; });
}

} // namespace clade
