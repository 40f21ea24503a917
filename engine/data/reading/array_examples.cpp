// Arrays hold examples along their first dimension; their targets are an array of one
// dimension, in a file of its own or in the same archive, or one column of an array of
// two.

#include "engine/data/reading/array_examples.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/columns/code_book.hpp"
#include "engine/data/converted/data_file.hpp"
#include "engine/data/formats/data_format.hpp"
#include "engine/data/formats/npz.hpp"
#include "engine/data/formats/numeric_array.hpp"
#include "engine/data/formats/text_array.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

namespace clade {
namespace {

using format = data_format;

tl::unexpected<error> wrong(std::string_view place, std::string message) {
  return fail_in(place, {error_kind::invalid_input, std::move(message)});
}

// The file, or member of an archive, that holds one array.
struct array_bytes {
  std::string origin; ///< For messages: "x.npy", "x.npz: y.npy".
  format kind = format::npy;
  std::string bytes;
};

// Copies a member out of an archive, but takes another file's bytes.
expected<array_bytes> array_in(const array_source& from, std::string& bytes) {
  const std::string origin = from.file.string();
  const format f = format_of(from.file, bytes);
  if (f != format::npz) {
    if (auto fine = no_archive(from); !fine)
      return tl::unexpected(std::move(fine).error());
    return array_bytes{origin, f, std::exchange(bytes, {})};
  }
  auto member = read_npz(bytes, from.array, from.key);
  if (!member)
    return fail_in(origin, std::move(member).error());
  return array_bytes{fmt::format("{}: {}", origin, member->name), format::npy,
                     std::move(member->bytes)};
}

expected<numeric_array> parse_array(const array_bytes& from) {
  auto a = from.kind == format::npy ? parse_npy(from.bytes) : parse_idx(from.bytes);
  if (!a)
    return fail_in(from.origin, std::move(a).error());
  if (a->sizes.empty() || a->values.empty())
    return wrong(from.origin, "holds no examples");
  return a;
}

// The targets are elements first, first + stride, ... of `a`.
expected<void> take_targets(examples& out, const numeric_array& a, std::size_t first,
                            std::size_t stride, const learning_task& task) {
  constexpr double largest_exact = 9007199254740992.0; // 2^53
  std::unordered_map<std::int64_t, std::uint32_t> by_value;
  for (std::size_t i = first; i < a.count(); i += stride) {
    const double v = a[i];
    out.places.push_back(a.byte_of(i));
    const auto place = [&] { return byte_place(out.origin, a.byte_of(i)); };
    if (!is_finite_float(v))
      return wrong(place(), "the target " + std::string(why_no_float(v)));
    if (!task.has_classes()) {
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

/// Refuses targets that are not one for each of the examples, those of `origin`.
expected<void> check_count(const array_bytes& from,
                           const std::vector<std::int64_t>& sizes, std::size_t targets,
                           const std::string& origin, std::size_t examples) {
  if (targets == examples)
    return {};
  return wrong(from.origin, fmt::format("holds targets of {}, where {} holds {} examples",
                                        to_text(tensor_shape{sizes}), origin, examples));
}

/// The targets are texts, and so names of classes.
expected<void> take_text_targets(examples& out, const array_bytes& from,
                                 const text_array& a, const learning_task& task) {
  if (!task.has_classes())
    return wrong(from.origin, "holds texts, where the targets of a regression are "
                              "numbers; for classes say task = \"classification\"");
  code_book classes;
  for (std::size_t i = 0; i < a.texts.size(); ++i) {
    out.places.push_back(a.byte_of(i));
    if (a.texts[i].empty())
      return wrong(byte_place(from.origin, a.byte_of(i)), "the target is blank");
    out.labels.push_back(classes.code_of(a.texts[i]));
  }
  out.classes = std::move(classes.texts);
  return {};
}

/// Takes the targets of the `count` examples of `origin` from an array of their own.
expected<void> take_target_array(examples& out, const array_bytes& from,
                                 const learning_task& task, const std::string& origin,
                                 std::size_t count) {
  if (from.kind == format::npy && holds_texts(from.bytes)) {
    const auto texts = parse_npy_texts(from.bytes);
    if (!texts)
      return fail_in(from.origin, texts.error());
    return check_count(from, texts->sizes, texts->texts.size(), origin, count)
        .and_then([&] { return take_text_targets(out, from, *texts, task); });
  }
  const auto a = parse_array(from);
  if (!a)
    return tl::unexpected(a.error());
  return check_count(from, a->sizes, a->count(), origin, count).and_then([&] {
    return take_targets(out, *a, 0, 1, task);
  });
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
    if (!is_finite_float(v))
      return wrong(byte_place(origin, a.byte_of(i)),
                   "the value " + std::string(why_no_float(v)));
    out.features.push_back(v);
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
  const auto n = parse_number<std::size_t>(target).value_or(0);
  if (n == 0 || n > columns)
    return std::nullopt;
  return n - 1;
}

expected<examples> with_target_column(const std::string& origin, const numeric_array& a,
                                      const data_params& params) {
  if (a.sizes.size() != 2 || a.sizes[1] < 2)
    return wrong(
        origin,
        fmt::format(
            "an array of {} has no target column; name the file of the targets, "
            "target_file = \"...\", or their array in a .npz, target_array = \"...\"",
            to_text(tensor_shape{a.sizes})));
  const auto columns = static_cast<std::size_t>(a.sizes[1]);
  const auto column = target_column(params.target, columns);
  if (!column)
    return wrong(origin,
                 fmt::format("no column is the target \"{}\": an array has no names of "
                             "columns; use a number from 1 to {}, or \"last\"",
                             params.target, columns));
  examples out;
  out.origin = origin;
  out.count = static_cast<std::size_t>(a.sizes[0]);
  out.shape.sizes = {a.sizes[1] - 1};
  out.target_column = column;
  if (auto taken = take_targets(out, a, *column, columns, params.task); !taken)
    return tl::unexpected(std::move(taken).error());
  if (auto taken = take_features(out, origin, a, column); !taken)
    return tl::unexpected(std::move(taken).error());
  return out;
}

expected<examples> with_targets(const std::string& origin, const numeric_array& a,
                                const array_bytes& from, const data_params& params) {
  const auto layout =
      find_layout(std::span(a.sizes).subspan(1), params.shape, params.layout);
  if (!layout)
    return fail_in(origin, layout.error());
  if (const tensor_shape sizes{{a.sizes.begin() + 1, a.sizes.end()}};
      params.shape.layout() == layout::sequence && sizes.layout() == layout::sequence
      && sizes != params.shape)
    return wrong(origin,
                 fmt::format("holds examples of {}, where shape = {} takes [steps, "
                             "channels]; x.transpose(0, 2, 1) of NumPy swaps the two",
                             to_text(sizes), to_text(params.shape)));
  const auto count = static_cast<std::size_t>(a.sizes[0]);
  examples out;
  out.origin = from.origin;
  if (auto taken = take_target_array(out, from, params.task, origin, count); !taken)
    return tl::unexpected(std::move(taken).error());
  out.count = count;
  out.layout = *layout;
  out.sizes.sizes.assign(a.sizes.begin() + 1, a.sizes.end());
  out.shape = as_image(example_shape(a), *layout);
  if (auto taken = take_features(out, origin, a, std::nullopt); !taken)
    return tl::unexpected(std::move(taken).error());
  if (*layout == array_layout::channels_last)
    move_channels_first(out.features, out.shape);
  return out;
}

// Images and series that come later have the sizes of the training data's, in the same
// order.
expected<void> check_sizes(const std::string& origin, const numeric_array& a,
                           const preprocessing& how) {
  const tensor_shape sizes{{a.sizes.begin() + 1, a.sizes.end()}};
  const auto wanted = in_file(how.shape, how.layout);
  if (sizes.layout() == layout::vector || sizes.layout() != wanted.layout()
      || sizes == wanted)
    return {};
  return wrong(
      origin, fmt::format("holds examples of {}, where those of the training data are {}",
                          to_text(sizes), to_text(wanted)));
}

} // namespace

expected<void> no_archive(const array_source& from) {
  if (from.array.empty())
    return {};
  return wrong(from.file.string(),
               fmt::format("is no .npz archive; remove {}, which names an array of one",
                           from.key));
}

// An archive's bytes go as soon as nothing else is in them.
expected<examples> read_arrays(const example_files& from, file_bytes file,
                               const data_params& params) {
  const auto array = array_in(from.examples, file.bytes);
  if (!array)
    return tl::unexpected(array.error());
  const bool apart = from.targets.file != from.examples.file || file.bytes.empty();
  if (apart)
    file.bytes = {};
  const auto a = parse_array(*array);
  if (!a)
    return tl::unexpected(a.error());
  if (from.targets.file.empty()) {
    auto read = with_target_column(array->origin, *a, params);
    if (read)
      read->checksum = file.checksum;
    return read;
  }
  const genome_hash checksum = file.checksum;
  if (apart) {
    auto read = read_data_file(from.targets.file);
    if (!read)
      return tl::unexpected(std::move(read).error());
    file = std::move(*read);
  }
  const auto targets = array_in(from.targets, file.bytes);
  if (!targets)
    return tl::unexpected(targets.error());
  file.bytes = {};
  if (targets->kind != format::npy && targets->kind != format::idx)
    return wrong(targets->origin, "is neither a .npy, a .npz nor an IDX file of targets");
  auto read = with_targets(array->origin, *a, *targets, params);
  if (read)
    read->checksum = both(checksum, file.checksum);
  return read;
}

expected<examples> read_new_array(const array_source& from, std::string& bytes,
                                  const data_params& params, const preprocessing& how) {
  auto source = from;
  if (source.array.empty() && format_of(from.file, bytes) == format::npz)
    source.array = params.array;
  const auto array = array_in(source, bytes);
  if (!array)
    return tl::unexpected(array.error());
  const auto a = parse_array(*array);
  if (!a)
    return tl::unexpected(a.error());
  examples e;
  e.count = static_cast<std::size_t>(a->sizes[0]);
  if (auto fits = check_sizes(array->origin, *a, how); !fits)
    return tl::unexpected(std::move(fits).error());
  const bool with_target = a->sizes.size() == 2 && how.target_column
                           && a->count() == e.count * (how.width + 1);
  if (auto taken = take_features(e, array->origin, *a,
                                 with_target ? how.target_column : std::nullopt);
      !taken)
    return tl::unexpected(std::move(taken).error());
  return e;
}

} // namespace clade
