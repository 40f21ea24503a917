// An array of two dimensions is a table without names; of three or more, examples are
// images. Targets are an array of one dimension: another file, another array of the same
// archive, or a column.

#include "engine/data/bytes/files_beside.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/formats/array_names.hpp"
#include "engine/data/formats/cifar.hpp"
#include "engine/data/formats/data_format.hpp"
#include "engine/data/formats/file_bytes.hpp"
#include "engine/data/profile/data_kinds.hpp"
#include "engine/data/profile/target_guess.hpp"
#include "engine/data/reading/array_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace clade {
namespace {

tl::unexpected<error> wrong(const std::string& origin, std::string message) {
  return fail_in(origin, {error_kind::invalid_input, std::move(message)});
}

/// Finds the examples, the targets and the test set in an archive, by its names.
expected<void> find_in_archive(data_profile& p, const profile_request& request) {
  const auto names = read_array_names(p.file);
  if (!names)
    return tl::unexpected(names.error());
  auto found = arrays_by_name(*names);
  if (found.examples.empty() && names->size() > 1)
    return wrong(p.file.string(),
                 fmt::format("no array is named like examples; there are {}: save them "
                             "as numpy.savez(\"data.npz\", x=..., y=...)",
                             all_in_quotes(*names)));
  p.array = names->size() == 1 ? names->front() : found.examples;
  const bool named = std::ranges::find(*names, request.target) != names->end();
  if (!request.target.empty() && (named || names->size() > 1)) {
    p.target_array = request.target;
    std::erase(found.others, request.target);
    if (found.targets != request.target)
      // The arrays of the test set are of another target, too.
      for (std::string* array :
           {&found.targets, &found.test_examples, &found.test_targets})
        if (!array->empty())
          found.others.push_back(std::exchange(*array, {}));
  } else if (names->size() > 1) {
    p.target_array = found.targets;
    if (found.targets.empty())
      return wrong(
          p.file.string(),
          "no array is named like targets; say which is to be predicted, --target "
          "ARRAY, such as "
              + all_in_quotes(found.others));
  }
  p.test_array = found.test_examples;
  p.test_target_array = found.test_targets;
  p.unused_arrays = std::move(found.others);
  return {};
}

/// Finds the examples and the targets, as far as names tell.
expected<void> find_arrays(data_profile& p, const profile_request& request,
                           bool archive) {
  std::error_code ignored;
  const bool file = std::filesystem::is_regular_file(request.target, ignored);
  p.target_found = request.target.empty() ? target_reason::labels : target_reason::asked;
  if (archive)
    if (auto found = find_in_archive(p, request); !found)
      return found;
  if (!archive && request.target.empty())
    p.target_file = target_file_beside(p.file).value_or("");
  if (file) {
    p.target_file = request.target;
    p.target_array.clear(), p.test_array.clear(), p.test_target_array.clear();
  }
  return {};
}

/// A test set beside the examples, where its targets are beside it too.
expected<void> find_test(data_profile& p, const profile_request& request) {
  const bool asked = !request.test_file.empty();
  const auto test = asked ? std::optional(request.test_file) : test_file_beside(p.file);
  if (!test || (!asked && !p.test_array.empty()))
    return {};
  if (!p.array.empty()) {
    const auto names = read_array_names(*test);
    if (!names)
      return tl::unexpected(names.error());
    auto found = arrays_by_name(*names);
    if (found.test_examples.empty())
      found.test_examples = found.examples, found.test_targets = found.targets;
    if (found.test_examples.empty() || found.test_targets.empty())
      return {};
    p.test_file = *test;
    p.test_array = std::move(found.test_examples);
    p.test_target_array = std::move(found.test_targets);
  } else if (asked || p.target_file.empty()) {
    p.test_file = *test;
  } else if (const auto targets = target_file_beside(*test)) {
    p.test_file = *test;
    p.test_target_file = *targets;
  }
  return {};
}

/// At most 5,000,000 values are looked at: of larger arrays, rows at equal distances, and
/// not more than 100,000.
expected<table_profile> profile_columns(array_values& a) {
  const auto rows = static_cast<std::size_t>(a.sizes()[0]);
  const auto width = a.width();
  table_profiler profiler{std::vector<std::string>(width)};
  std::vector<std::string> texts(width);
  const auto add = [&](const numeric_array& part) {
    for (std::size_t first = 0; first + width <= part.count(); first += width) {
      for (std::size_t i = 0; i < width; ++i)
        texts[i] = text_of(part[first + i]);
      const std::vector<std::string_view> fields(texts.begin(), texts.end());
      profiler.add(fields);
    }
  };
  if (rows * width <= 5'000'000) {
    auto all = a.for_each_part([&](std::size_t, const numeric_array& part) {
      add(part);
      return expected<void>();
    });
    if (!all)
      return tl::unexpected(std::move(all).error());
    return profiler.finish();
  }
  const std::size_t stride = std::max(rows * width / 5'000'000, rows / 100'000) + 1;
  for (std::size_t row = 0; row < rows; row += stride) {
    const auto part = a.part(row * width, width);
    if (!part)
      return tl::unexpected(part.error());
    add(*part);
  }
  return profiler.finish();
}

expected<void> set_targets(data_profile& p, const profile_request& request,
                           const array_file& examples) {
  if (!p.target_file.empty() || !p.target_array.empty()) {
    const auto targets =
        read_target_file(p.target_file.empty() ? p.file : p.target_file, p.target_array,
                         {examples.origin, static_cast<std::size_t>(p.rows)});
    if (!targets)
      return tl::unexpected(targets.error());
    const auto& all = targets->sizes;
    if (all.size() == 2 && all[1] > 1 && static_cast<std::uint64_t>(all[0]) == p.rows)
      p.outputs = static_cast<std::size_t>(all[1]);
    column_profiler values("");
    for (const std::string& text : targets->texts)
      values.add(text);
    p.target = values.finish();
    p.target_whole = targets->whole;
    return {};
  }
  const auto& sizes = examples.array.sizes();
  if (sizes.size() != 2 || sizes[1] < 2)
    return wrong(examples.origin,
                 fmt::format("an array of {} has no target column; name the file of the "
                             "targets, --target FILE",
                             to_text(tensor_shape{sizes})));
  const auto columns = static_cast<std::size_t>(sizes[1]);
  std::size_t n = request.target.empty() || request.target == "last" ? columns : 0;
  std::from_chars(request.target.data(), request.target.data() + request.target.size(),
                  n);
  if (n < 1 || n > columns)
    return wrong(examples.origin,
                 fmt::format("no column is the target \"{}\"; use a number from 1 to {}, "
                             "\"last\", or a file of targets",
                             request.target, columns));
  p.target_column = n - 1;
  p.target_found = request.target.empty() ? target_reason::last : target_reason::asked;
  p.target = p.table.columns[n - 1];
  return {};
}

expected<void> set_shape(data_profile& p, const profile_request& request,
                         const array_file& examples) {
  const auto& sizes = examples.array.sizes();
  p.shape.sizes.assign(sizes.begin() + 1, sizes.end());
  if (p.target_column)
    --p.shape.sizes.front();
  const auto layout = find_layout(p.shape.sizes, {}, request.layout);
  if (!layout)
    return wrong(examples.origin, layout.error().message
                                      + "; for clade new that is --layout channels_last "
                                        "or --layout channels_first");
  // Said wherever it says something, so that the file tells how pixels are read.
  if (p.image())
    p.layout =
        *layout == array_layout::channels_last ? "channels_last" : "channels_first";
  p.shape = as_image(p.shape, *layout);
  if (p.shape.sizes.size() == 2)
    p.shape.sizes.insert(p.shape.sizes.begin(), 1);
  return {};
}

} // namespace

expected<data_profile> profile_array(const profile_request& request) {
  data_profile p;
  p.file = request.file;
  const auto front = read_front(request.file, 16);
  if (!front)
    return tl::unexpected(front.error());
  const auto format = format_of(request.file, *front);
  p.format = format == data_format::idx   ? "IDX"
             : format == data_format::npz ? "NumPy archive"
                                          : "NumPy array";
  if (auto found = find_arrays(p, request, format == data_format::npz); !found)
    return tl::unexpected(std::move(found).error());
  auto examples = open_array_file(p.file, p.array);
  if (!examples)
    return tl::unexpected(examples.error());
  const auto& sizes = examples->array.sizes();
  if (sizes.empty() || examples->array.count() == 0)
    return wrong(examples->origin, "holds no examples");
  p.rows = static_cast<std::uint64_t>(sizes[0]);
  // Targets that are not of these examples are refused before the examples are looked at.
  const bool apart = !p.target_file.empty() || !p.target_array.empty();
  if (auto set = apart ? set_targets(p, request, *examples) : expected<void>(); !set)
    return tl::unexpected(set.error());
  if (sizes.size() == 2) {
    auto columns = profile_columns(examples->array);
    if (!columns)
      return tl::unexpected(std::move(columns).error());
    p.table = std::move(*columns);
  }
  if (auto set = apart ? expected<void>() : set_targets(p, request, *examples); !set)
    return tl::unexpected(set.error());
  if (auto set = set_shape(p, request, *examples); !set)
    return tl::unexpected(set.error());
  if (auto found = find_test(p, request); !found)
    return tl::unexpected(std::move(found).error());
  finish_profile(p, request);
  return p;
}

expected<data_profile> profile_cifar(const profile_request& request) {
  data_profile p;
  p.format = "CIFAR";
  p.file = request.file;
  auto read = read_file(request.file);
  if (!read)
    return tl::unexpected(std::move(read).error());
  data_params params;
  params.file = request.file;
  if (!request.target.empty())
    params.target = request.target;
  const auto examples = parse_cifar(read->bytes, request.file.string(), params);
  if (!examples)
    return tl::unexpected(examples.error());
  p.rows = examples->count;
  p.shape = examples->shape;
  p.target_found = request.target.empty() ? target_reason::labels : target_reason::asked;
  column_profiler labels("");
  for (const auto label : examples->labels)
    labels.add(examples->classes[label]);
  p.target = labels.finish();
  p.target_whole = true;
  if (auto found = find_test(p, request); !found)
    return tl::unexpected(std::move(found).error());
  finish_profile(p, request);
  return p;
}

} // namespace clade
