// Files are read into `examples` (read_examples.cpp), at most `limit` of each are kept,
// columns are encoded, the test file's are put behind the others, the shape is checked,
// classes are sorted (class_labels.cpp), the split is made (split.cpp), and blanks are
// filled and features scaled by what the train part alone says (features.cpp).

#include "engine/data/reading/data_set.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/columns/date_column.hpp"
#include "engine/data/columns/examples.hpp"
#include "engine/data/columns/split.hpp"
#include "engine/data/numbers/number_form.hpp"
#include "engine/data/reading/class_labels.hpp"
#include "engine/data/reading/features.hpp"
#include "engine/data/reading/preprocessing.hpp"
#include "engine/data/tables/label_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <numeric>
#include <optional>
#include <stdexcept>

namespace clade {
namespace {

tl::unexpected<error> wrong(std::string message) {
  return fail(error_kind::invalid_input, std::move(message));
}

void keep(examples& e, std::vector<std::uint32_t> kept) {
  const std::size_t width = e.features.size() / e.count;
  const auto take = [&](auto& v, std::size_t w) {
    if (v.empty())
      return;
    for (std::size_t i = 0; i < kept.size(); ++i)
      std::copy_n(v.begin() + static_cast<std::ptrdiff_t>(kept[i] * w), w,
                  v.begin() + static_cast<std::ptrdiff_t>(i * w));
    v.resize(kept.size() * w);
    v.shrink_to_fit();
  };
  e.features.keep_rows(kept, width);
  take(e.labels, 1);
  take(e.targets, outputs_of(e));
  take(e.weights, 1);
  take(e.places, 1);
  take(e.split_codes, 1);
  take(e.parts, 1);
  take(e.names, 1);
  take(e.steps.ahead, 1);
  take(e.steps.offset, 1);
  take(e.steps.scale, 1);
  take(e.steps.naive, 1);
  e.steps.drawn.clear(); // Some of their steps may be gone.
  e.count = kept.size();
  e.kept = std::move(kept);
}

// Number 0 is the file to train on, 1 the test file.
expected<examples> read_limited(const example_files& from, const data_params& params,
                                std::uint64_t seed, std::uint64_t number) {
  auto e = read_examples(from, params);
  if (!e)
    return e;
  if (e->count > std::numeric_limits<std::uint32_t>::max())
    return wrong(from.examples.place() + ": more than 4,294,967,295 examples");
  const auto limit =
      number == 0 ? params.limit : params.test_limit.value_or(params.limit);
  if (limit > 0 && limit < e->count)
    keep(*e, draw(static_cast<std::size_t>(limit), e->count, seed, number));
  return e;
}

// Whether a file's examples can be taken for ones of the shape asked for.
expected<tensor_shape> shape_of(const examples& e, const data_params& params) {
  if (params.shape.sizes.empty() || params.shape == e.shape)
    return e.shape;
  if (params.shape.elements() == e.shape.elements())
    return params.shape;
  return wrong(fmt::format(
      "{}: an example has {} values besides the target, where shape = {} takes {}",
      training_files(params).examples.place(), e.shape.elements(), to_text(params.shape),
      params.shape.elements()));
}

// By example the time, as a number or in seconds.
expected<std::vector<double>> times_of(const examples& e) {
  date_column dates;
  bool numbers = true, all_dates = true;
  for (const std::string& text : e.split_values) {
    numbers = numbers && read_number(text, e.decimal);
    all_dates = all_dates && dates.add(text) == date_column::fit::date;
  }
  if (!numbers && !all_dates)
    return wrong(e.origin
                 + ": split by time: the column holds neither dates nor numbers alone");
  std::vector<double> times;
  for (const std::uint32_t code : e.split_codes) {
    const std::string& text = e.split_values[code];
    times.push_back(numbers ? read_number(text, e.decimal)->value
                            : *field_date(text, dates.order()));
  }
  return times;
}

expected<split_parts> split_as_asked(const examples& e,
                                     std::span<const std::int64_t> labels,
                                     const data_params& params,
                                     const split_shares& shares, std::uint64_t seed) {
  if (!e.parts.empty())
    return split_as_given(e.parts);
  if (params.split_by == split_rule::random)
    return split(labels, shares, seed);
  if (e.split_codes.empty())
    return wrong(e.origin + ": split by time or group is for CSV files");
  if (params.split_by == split_rule::group)
    return split_by_group(labels, e.split_codes, shares, seed);
  return times_of(e).map(
      [&](const std::vector<double>& times) { return split_by_time(times, shares); });
}

expected<void> set_parts(const examples& e, const examples* test,
                         const data_params& params, std::uint64_t seed, data_set& data) {
  data.parts_by_chance = params.split_by == split_rule::random && e.parts.empty();
  const split_shares shares{params.train, params.validation,
                            test == nullptr ? params.test : 0};
  const std::vector<std::int64_t> same(data.labels.empty() ? e.count : 0, 0);
  const std::span<const std::int64_t> labels = data.labels.empty() ? same : data.labels;
  auto parts = split_as_asked(e, labels.first(e.count), params, shares, seed);
  if (!parts)
    return tl::unexpected(std::move(parts).error());
  data.train = std::move(parts->train);
  data.validation = std::move(parts->validation);
  data.test = std::move(parts->test);
  if (test != nullptr) {
    data.test.resize(test->count);
    std::iota(data.test.begin(), data.test.end(), static_cast<std::uint32_t>(e.count));
  }
  for (const auto& [name, part, share] :
       {std::tuple("train", &data.train, shares.train),
        std::tuple("validation", &data.validation, shares.validation),
        std::tuple("test", &data.test, shares.test)})
    if (part->empty() && share > 0)
      return wrong(fmt::format("{}: {} examples are too few: the {} part has none",
                               e.origin, e.count, name));
  return {};
}

void set_places(const examples& e, const examples* test, data_set& data) {
  const examples& from = test == nullptr ? e : *test;
  const std::size_t first = test == nullptr ? 0 : e.count;
  data.by_line = from.by_line;
  for (const std::uint32_t i : data.test) {
    const std::size_t at = i - first;
    data.test_places.push_back(from.by_line        ? from.places[at]
                               : from.kept.empty() ? at
                                                   : from.kept[at]);
    if (!from.names.empty())
      data.test_names.push_back(from.names[at]);
  }
}

/// The mean and deviation of a target over the train part.
target_scale scale_of_train(const examples& e, const data_set& data, std::size_t output) {
  const std::size_t outputs = outputs_of(e);
  const auto at = [&](std::uint32_t i) { return e.targets[i * outputs + output]; };
  target_scale scale;
  double sum = 0;
  for (const std::uint32_t i : data.train)
    sum += at(i);
  const auto n = static_cast<double>(data.train.size());
  scale.mean = sum / n;
  double squares = 0;
  for (const std::uint32_t i : data.train)
    squares += (at(i) - scale.mean) * (at(i) - scale.mean);
  scale.deviation = std::sqrt(squares / n);
  return scale;
}

expected<void> set_scales(const examples& e, data_set& data) {
  data.target_scales.clear();
  for (std::size_t output = 0; output < outputs_of(e); ++output) {
    const auto scale = scale_of_train(e, data, output);
    if (!(scale.deviation > 0))
      return wrong(
          e.origin
          + (data.classes.empty()
                 ? ": every target of the train part is the same number"
                 : fmt::format(": {} is the same number in all of the train part",
                               in_quotes(data.classes[output]))));
    data.target_scales.push_back(scale);
  }
  return {};
}

expected<void> check_labels(const examples& e, const data_set& data) {
  if (data.classes.empty())
    return wrong(e.origin + ": no example has a label");
  if (std::ranges::all_of(data.train, [&](std::uint32_t i) {
        return std::equal(e.targets.begin(), e.targets.begin() + std::ssize(data.classes),
                          e.targets.begin() + std::ssize(data.classes) * i);
      }))
    return wrong(e.origin + ": all examples of the train part have the same labels");
  return {};
}

/// Makes an output of each quantile; all have the same target.
expected<void> set_quantiles(const examples& e, std::span<const double> quantiles,
                             data_set& data) {
  if (outputs_of(e) > 1)
    return wrong(fmt::format("{}: quantiles are of one number, and each example has {}",
                             e.origin, outputs_of(e)));
  const auto scale = data.target_scales.front();
  data.target_scales.clear();
  for (const double quantile : quantiles) {
    data.classes.push_back(quantile_name(quantile));
    data.target_scales.push_back({scale.mean, scale.deviation, quantile});
  }
  std::vector<float> each;
  for (const float target : data.targets)
    each.insert(each.end(), quantiles.size(), target);
  data.targets = std::move(each);
  return {};
}

expected<void> set_targets(const examples& e, const examples* test,
                           const data_params& params, data_set& data) {
  data.classes = e.classes;
  if (auto fine = data.task.has_labels() ? check_labels(e, data) : set_scales(e, data);
      !fine)
    return fine;
  const std::size_t outputs = outputs_of(e);
  for (const examples* part : {&e, test})
    if (part != nullptr)
      for (std::size_t i = 0; i < part->targets.size(); ++i) {
        const auto& scale = scale_of(data.target_scales, i % outputs);
        data.targets.push_back(
            static_cast<float>((part->targets[i] - scale.mean) / scale.deviation));
      }
  return data.task.has_quantiles() ? set_quantiles(e, params.quantiles, data)
                                   : expected<void>();
}

expected<void> set_weights(const examples& e, const examples* test,
                           const data_params& params, data_set& data) {
  if (e.weights.empty() && !params.weights.empty())
    return wrong(e.origin + ": weights are a column of a table, and this is none");
  if (e.weights.empty())
    return {};
  double sum = 0;
  for (const auto i : data.train)
    sum += e.weights[i];
  if (!(sum > 0))
    return wrong(e.origin + ": the weights of all rows of the train part are 0");
  const double mean = sum / static_cast<double>(data.train.size());
  for (const double w : e.weights)
    data.weights.push_back(static_cast<float>(w / mean));
  if (test != nullptr) // They are not trained on.
    data.weights.resize(data.examples, 1);
  return {};
}

/// Fills blanks and scales by what the train part says. Takes the features of `e`; `how`
/// gets what was done to them.
expected<void> set_features(examples& e, const examples* test,
                            const std::vector<bool>& unscaled, const data_params& params,
                            data_set& data, preprocessing& how) {
  exact_numbers features = std::move(e.features);
  if (test != nullptr) {
    features.reserve(features.size() + test->features.size());
    features.append(test->features);
  }
  const feature_rows rows{features, features.size() / data.examples, data.train};
  std::vector<std::optional<robust_scale>> robust;
  const auto form = data.shape.layout();
  if (params.scale == scale_rule::automatic && form == layout::vector)
    robust = outlying_columns(rows, unscaled);
  data.robust = columns_of(e, robust);
  if (!e.columns.empty()) {
    how.blanks = means_of(rows);
    for (std::size_t c = 0; c < robust.size(); ++c)
      if (robust[c])
        how.blanks[c] = robust[c]->median;
    if (auto filled = fill_blanks(rows, how.blanks); !filled)
      return fail_in(e.origin, std::move(filled).error());
  }
  if (form == layout::image) {
    how.largest = largest_of(rows);
    data.features = divided(std::move(features), how.largest);
  } else {
    auto scales = form == layout::sequence ? scales_of_channels(rows, data.shape)
                                           : scales_of(rows, unscaled, robust);
    data.features = scaled(std::move(features), scales);
    how.mean = std::move(scales.mean);
    how.deviation = std::move(scales.deviation);
    how.limit = std::move(scales.limit);
  }
  return {};
}

/// Notes how new examples are prepared for networks of these.
void set_preparation(data_set& data, preprocessing how) {
  how.task = data.task;
  how.shape = data.shape;
  how.classes = data.classes;
  how.target_scales = data.target_scales;
  how.checksum = data.checksum;
  encoder out;
  encode(out, how);
  data.preparation = out.take();
}

expected<data_set> assemble(examples e, std::optional<examples> test,
                            const data_params& params, std::uint64_t seed) {
  data_set data;
  preprocessing how;
  data.task = params.task;
  how.layout = e.layout;
  how.sizes = e.sizes;
  data.layout = e.layout;
  how.width = e.columns.empty() ? e.features.size() / e.count : e.columns.size();
  how.target_column = e.target_column;
  how.target = e.target;
  how.decimal = e.decimal;
  const examples* tested = test ? &*test : nullptr;
  data.examples = e.count + (test ? test->count : 0);
  data.checksum = test ? both(e.checksum, test->checksum) : e.checksum;
  if (params.task.has_classes())
    if (auto set = set_labels(e, tested, data); !set)
      return tl::unexpected(std::move(set).error());
  if (auto set = set_parts(e, tested, params, seed, data); !set)
    return tl::unexpected(std::move(set).error());
  set_places(e, tested, data);
  if (!e.steps.ahead.empty())
    data.steps = std::make_shared<const forecast_steps>(std::move(e.steps));
  if (!params.task.has_classes())
    if (auto set = set_targets(e, tested, params, data); !set)
      return tl::unexpected(std::move(set).error());
  if (auto set = set_weights(e, tested, params, data); !set)
    return tl::unexpected(std::move(set).error());
  const bool impute = params.blanks == blank_rule::impute;
  // The network's inputs are counted where a shape is asked for.
  if (impute && params.shape.sizes.empty())
    add_blank_inputs(e, data.train);
  const auto unscaled =
      encode_columns(e, data.train, test ? &*test : nullptr, !impute,
                     {.rule = params.texts,
                      .seed = seed,
                      .by_group = params.split_by == split_rule::group});
  if (!unscaled)
    return tl::unexpected(unscaled.error());
  const auto shape = shape_of(e, params);
  if (!shape)
    return tl::unexpected(shape.error());
  data.shape = *shape;
  if (test && test->shape.elements() != e.shape.elements())
    return wrong(
        fmt::format("{}: an example has {} values besides the target, where {} has {}",
                    test_files(params)->examples.place(), test->shape.elements(),
                    training_files(params).examples.place(), e.shape.elements()));
  if (auto set = set_features(e, tested, *unscaled, params, data, how); !set)
    return tl::unexpected(std::move(set).error());
  data.numbers = numbers_of(e.columns);
  data.columns = input_columns_of(e.columns);
  how.columns = std::move(e.columns);
  set_preparation(data, std::move(how));
  return data;
}

expected<data_set> load_files(const data_params& params, std::uint64_t seed) {
  auto e = read_limited(training_files(params), params, seed, 0);
  if (!e)
    return tl::unexpected(std::move(e).error());
  const auto tested = test_files(params);
  if (!tested)
    return assemble(std::move(*e), std::nullopt, params, seed);
  // If nobody says a shape, series and files of images get that of those to train on.
  auto like_training = params;
  if (e->shape.layout() == layout::sequence
      || (!e->names.empty() && e->shape.layout() == layout::image))
    like_training.shape = e->shape;
  auto test = read_limited(*tested, like_training, seed, 1);
  if (!test)
    return tl::unexpected(std::move(test).error());
  if (params.task.has_labels())
    if (auto aligned = align_labels(*test, e->classes); !aligned)
      return tl::unexpected(std::move(aligned).error());
  return assemble(std::move(*e), std::move(*test), params, seed);
}

expected<data_set> load_shared(const data_params& params, std::uint64_t seed,
                               const data_cache& cache) {
  const auto key = key_of(cache, params, seed);
  if (!key)
    return load_files(params, seed);
  if (auto found = find_cached(cache, *key))
    return std::move(*found);
  const cache_lock alone(cache, *key);
  if (auto found = find_cached(cache, *key))
    return std::move(*found);
  auto data = load_files(params, seed);
  // Files that changed in between are not what the key says.
  if (!data || data->checksum != key->checksum)
    return data;
  return keep_cached(cache, *key, std::move(*data));
}

} // namespace

problem data_set::as_problem() const {
  return {shape, task.outputs(classes.size()), numbers, !task.has_classes()};
}

expected<data_set> load_data(const data_params& params, std::uint64_t seed,
                             const data_cache& cache) {
  if (auto valid = validate(params); !valid)
    return tl::unexpected(std::move(valid).error());
  try {
    return load_shared(params, params.seed.value_or(seed), cache);
  } catch (const std::bad_alloc&) {
    return fail_in(
        params.file.string(),
        {error_kind::io,
         "the examples fit neither into memory nor on the disk of the cache; free some "
         "room there, name another folder in the variable CLADE_CACHE, or set "
         "data.limit"});
  } catch (const std::length_error&) {
    return fail_in(params.file.string(),
                   {error_kind::io, "too large to be held in memory"});
  }
}

expected<preprocessing> fit_preprocessing(const data_params& params, std::uint64_t seed,
                                          const data_cache& cache) {
  return load_data(params, seed, cache)
      .and_then([&](const data_set& data) -> expected<preprocessing> {
        decoder in(data.preparation);
        auto how = decode_preprocessing(in);
        if (auto whole = in.finish(); !whole)
          return fail_in(params.file.string(), std::move(whole).error());
        return how;
      });
}

} // namespace clade
