// Arrays hold examples along their first dimension; their targets are an array of one
// dimension, in a file of its own or in the same archive, or one column of an array of
// two.

#include "engine/data/reading/array_examples.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/columns/array_layout.hpp"
#include "engine/data/columns/code_book.hpp"
#include "engine/data/converted/data_file.hpp"
#include "engine/data/formats/data_format.hpp"
#include "engine/data/formats/npz.hpp"
#include "engine/data/formats/numeric_array.hpp"
#include "engine/data/formats/text_array.hpp"
#include "engine/data/reading/array_file.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
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

// Takes the bytes of the file of targets; of an archive, unzips its array, and takes none.
expected<array_bytes> targets_in(const array_source& from, std::string& bytes,
                                 const example_count& of) {
  const std::string origin = from.file.string();
  const format f = format_of(from.file, bytes);
  if (f != format::npz) {
    if (auto fine = no_archive(from); !fine)
      return tl::unexpected(std::move(fine).error());
    return array_bytes{origin, f, std::exchange(bytes, {})};
  }
  auto member = targets_in_archive(from.file, bytes, from.array, from.key, of);
  if (!member)
    return tl::unexpected(std::move(member).error());
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

// Opens the array of examples in the content of its file, which outlives it.
expected<array_file> examples_in(const array_source& from, const file_bytes& file) {
  const format f = format_of(from.file, file.bytes);
  if (f == format::npz)
    return array_in_archive(from.file, file.bytes, from.array, from.key, file.checksum);
  if (auto fine = no_archive(from); !fine)
    return tl::unexpected(std::move(fine).error());
  const auto origin = from.file.string();
  auto a = f == format::npy ? parse_npy(file.bytes) : parse_idx(file.bytes);
  if (!a)
    return fail_in(origin, std::move(a).error());
  return array_file{
      .origin = origin, .bytes = nullptr, .array = {std::move(*a), file.checksum}};
}

// Takes targets out of an array, or out of its parts in turn.
class target_reader {
public:
  target_reader(examples& out, const learning_task& task) : out_(out), task_(task) {}

  // They are elements first, first + stride, ... of `a`.
  expected<void> take(const numeric_array& a, std::size_t first, std::size_t stride) {
    for (std::size_t i = first; i < a.count(); i += stride)
      if (auto taken = take(a[i], a.byte_of(i)); !taken)
        return taken;
    return {};
  }

private:
  expected<void> take(double v, std::uint64_t byte) {
    constexpr double largest_exact = 9007199254740992.0; // 2^53
    out_.places.push_back(byte);
    const auto place = [&] { return byte_place(out_.origin, byte); };
    if (!is_finite_float(v))
      return wrong(place(), "the target " + std::string(why_no_float(v)));
    if (!task_.has_classes()) {
      out_.targets.push_back(v);
      return {};
    }
    if (v != std::floor(v) || std::abs(v) > largest_exact)
      return wrong(place(),
                   "the target is not a whole number, and so no class; for numbers say "
                   "task = \"regression\"");
    const auto whole = static_cast<std::int64_t>(v);
    const auto [at, fresh] =
        by_value_.emplace(whole, static_cast<std::uint32_t>(out_.classes.size()));
    if (fresh)
      out_.classes.push_back(std::to_string(whole));
    out_.labels.push_back(at->second);
    return {};
  }

  examples& out_;
  const learning_task& task_;
  std::unordered_map<std::int64_t, std::uint32_t> by_value_;
};

expected<void> check_one_target(const std::string& origin, const learning_task& task) {
  if (!task.has_labels())
    return {};
  return wrong(origin, "has one target for each example; the labels of an array are an "
                       "array [examples, labels] of 1 and 0");
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

/// Takes several targets of each example: numbers, or 1 of each label that it has, else 0.
expected<void> take_several_targets(examples& out, const array_bytes& from,
                                    const numeric_array& a, const learning_task& task) {
  const auto each = static_cast<std::size_t>(a.sizes[1]);
  if (task.has_classes())
    return wrong(from.origin,
                 fmt::format("holds {} targets of each example, which are numbers or "
                             "labels; say task = \"regression\" or task = \"multilabel\"",
                             each));
  for (std::size_t k = 0; k < each; ++k)
    out.classes.push_back(std::to_string(k + 1));
  for (std::size_t i = 0; i < a.count(); ++i) {
    if (i % each == 0)
      out.places.push_back(a.byte_of(i));
    const double v = a[i];
    if (!is_finite_float(v))
      return wrong(byte_place(from.origin, a.byte_of(i)),
                   "the target " + std::string(why_no_float(v)));
    if (task.has_labels() && v != 0 && v != 1)
      return wrong(byte_place(from.origin, a.byte_of(i)),
                   fmt::format("a label is {}, where 1 or 0 must be", v));
    out.targets.push_back(v);
  }
  return {};
}

/// Takes the targets of these examples from an array of their own.
expected<void> take_target_array(examples& out, const array_bytes& from,
                                 const learning_task& task, const example_count& of) {
  if (from.kind == format::npy && holds_texts(from.bytes)) {
    const auto texts = parse_npy_texts(from.bytes);
    if (!texts)
      return fail_in(from.origin, texts.error());
    return check_target_sizes(from.origin, texts->sizes, of).and_then([&] {
      return take_text_targets(out, from, *texts, task);
    });
  }
  const auto a = parse_array(from);
  if (!a)
    return tl::unexpected(a.error());
  if (a->sizes.size() == 2 && a->sizes[1] > 1
      && static_cast<std::size_t>(a->sizes[0]) == of.examples)
    return take_several_targets(out, from, *a, task);
  return check_target_sizes(from.origin, a->sizes, of)
      .and_then([&] { return check_one_target(from.origin, task); })
      .and_then([&] { return target_reader(out, task).take(*a, 0, 1); });
}

/// The place within an example of the file of each of its features, in their order: all
/// places but `skipped`.
std::vector<std::size_t> places_but(std::size_t width,
                                    std::optional<std::size_t> skipped) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < width; ++i)
    if (i != skipped)
      places.push_back(i);
  return places;
}

/// Does `take_features` for bytes, which are all numbers.
void take_bytes(examples& out, const numeric_array& part, std::size_t width,
                const std::vector<std::size_t>& places) {
  const std::span all(reinterpret_cast<const std::uint8_t*>(part.values.data()),
                      part.values.size());
  if (places.size() == width && std::ranges::is_sorted(places))
    return out.features.append(all);
  std::vector<std::uint8_t> row(places.size());
  for (std::size_t first = 0; first + width <= all.size(); first += width) {
    for (std::size_t i = 0; i < places.size(); ++i)
      row[i] = all[first + places[i]];
    out.features.append(std::span<const std::uint8_t>(row));
  }
}

/// Takes the features of each example of a part of an array from these places in it.
expected<void> take_features(examples& out, const std::string& origin,
                             const numeric_array& part, std::size_t width,
                             const std::vector<std::size_t>& places) {
  if (part.type == number_type::u8) {
    take_bytes(out, part, width, places);
    return {};
  }
  std::vector<double> row(places.size());
  for (std::size_t first = 0; first + width <= part.count(); first += width) {
    for (std::size_t i = 0; i < places.size(); ++i)
      row[i] = part[first + places[i]];
    for (std::size_t i = 0; i < places.size(); ++i)
      if (!is_finite_float(row[i]))
        return wrong(byte_place(origin, part.byte_of(first + places[i])),
                     "the value " + std::string(why_no_float(row[i])));
    out.features.append(std::span<const double>(row));
  }
  return {};
}

// [n, h, w] holds images of one channel, all else what it says.
tensor_shape example_shape(const std::vector<std::int64_t>& sizes) {
  tensor_shape s{{sizes.begin() + 1, sizes.end()}};
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

expected<examples> with_target_column(const std::string& origin, array_values& a,
                                      const data_params& params) {
  if (a.sizes().size() != 2 || a.sizes()[1] < 2)
    return wrong(
        origin,
        fmt::format(
            "an array of {} has no target column; name the file of the targets, "
            "target_file = \"...\", or their array in a .npz, target_array = \"...\"",
            to_text(tensor_shape{a.sizes()})));
  if (auto fine = check_one_target(origin, params.task); !fine)
    return tl::unexpected(std::move(fine).error());
  const auto columns = static_cast<std::size_t>(a.sizes()[1]);
  const auto column = target_column(params.target, columns);
  if (!column)
    return wrong(origin,
                 fmt::format("no column is the target \"{}\": an array has no names of "
                             "columns; use a number from 1 to {}, or \"last\"",
                             params.target, columns));
  examples out;
  out.origin = origin;
  out.count = static_cast<std::size_t>(a.sizes()[0]);
  out.shape.sizes = {a.sizes()[1] - 1};
  out.target_column = column;
  out.features.reserve(out.count * (columns - 1));
  const auto places = places_but(columns, column);
  target_reader targets(out, params.task);
  auto taken = a.for_each_part([&](std::size_t, const numeric_array& part) {
    return targets.take(part, *column, columns).and_then([&] {
      return take_features(out, origin, part, columns, places);
    });
  });
  if (!taken)
    return tl::unexpected(std::move(taken).error());
  out.checksum = a.checksum();
  return out;
}

expected<examples> with_targets(const std::string& origin, array_values& a,
                                const array_bytes& from, const data_params& params) {
  const auto& all = a.sizes();
  const auto layout = find_layout(std::span(all).subspan(1), params.shape, params.layout);
  if (!layout)
    return fail_in(origin, layout.error());
  if (const tensor_shape sizes{{all.begin() + 1, all.end()}};
      params.shape.layout() == layout::sequence && sizes.layout() == layout::sequence
      && sizes != params.shape)
    return wrong(origin,
                 fmt::format("holds examples of {}, where shape = {} takes [steps, "
                             "channels]; x.transpose(0, 2, 1) of NumPy swaps the two",
                             to_text(sizes), to_text(params.shape)));
  const auto count = static_cast<std::size_t>(all[0]);
  examples out;
  out.origin = from.origin;
  if (auto taken = take_target_array(out, from, params.task, {origin, count}); !taken)
    return tl::unexpected(std::move(taken).error());
  out.count = count;
  out.layout = *layout;
  out.sizes.sizes.assign(all.begin() + 1, all.end());
  out.shape = as_image(example_shape(all), *layout);
  out.features.reserve(a.count());
  const auto places = *layout == array_layout::channels_last
                          ? places_in_channels_last(out.shape)
                          : places_but(a.width(), std::nullopt);
  auto taken = a.for_each_part([&](std::size_t, const numeric_array& part) {
    return take_features(out, origin, part, a.width(), places);
  });
  if (!taken)
    return tl::unexpected(std::move(taken).error());
  out.checksum = a.checksum();
  return out;
}

// Images and series that come later have the sizes of the training data's, in the same
// order.
expected<void> check_sizes(const std::string& origin,
                           const std::vector<std::int64_t>& all,
                           const preprocessing& how) {
  const tensor_shape sizes{{all.begin() + 1, all.end()}};
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

namespace {

/// Reads the targets from `archive`, or from their own file where there is none, and then
/// the examples.
expected<examples> read_both(const example_files& from, const std::string& origin,
                             array_values values, file_bytes* archive,
                             const data_params& params) {
  if (values.sizes().empty() || values.count() == 0)
    return wrong(origin, "holds no examples");
  if (from.targets.file.empty())
    return with_target_column(origin, values, params);
  file_bytes own;
  if (archive == nullptr) {
    auto read = read_data_file(from.targets.file);
    if (!read)
      return tl::unexpected(std::move(read).error());
    own = std::move(*read);
    archive = &own;
  }
  const auto targets =
      targets_in(from.targets, archive->bytes,
                 {origin, static_cast<std::size_t>(values.sizes().front())});
  if (!targets)
    return tl::unexpected(targets.error());
  own.bytes = {};
  if (targets->kind != format::npy && targets->kind != format::idx)
    return wrong(targets->origin, "is neither a .npy, a .npz nor an IDX file of targets");
  auto read = with_targets(origin, values, *targets, params);
  if (read)
    read->checksum = both(read->checksum, archive->checksum);
  return read;
}

} // namespace

expected<examples> read_arrays(const example_files& from, file_bytes file,
                               const data_params& params) {
  auto opened = examples_in(from.examples, file);
  if (!opened)
    return tl::unexpected(std::move(opened).error());
  const bool same = from.targets.file == from.examples.file
                    && format_of(from.examples.file, file.bytes) == format::npz;
  return read_both(from, opened->origin, std::move(opened->array), same ? &file : nullptr,
                   params);
}

expected<examples> read_array(const example_files& from, array_values values,
                              const data_params& params) {
  return read_both(from, from.examples.file.string(), std::move(values), nullptr, params);
}

expected<examples> read_new_array(const array_source& from, const file_bytes& file,
                                  const data_params& params, const preprocessing& how) {
  auto source = from;
  if (source.array.empty() && format_of(from.file, file.bytes) == format::npz)
    source.array = params.array;
  auto opened = examples_in(source, file);
  if (!opened)
    return tl::unexpected(std::move(opened).error());
  return read_new_array(opened->origin, std::move(opened->array), how);
}

expected<examples> read_new_array(const std::string& origin, array_values values,
                                  const preprocessing& how) {
  const auto& sizes = values.sizes();
  if (sizes.empty() || values.count() == 0)
    return wrong(origin, "holds no examples");
  examples e;
  e.count = static_cast<std::size_t>(sizes[0]);
  if (auto fits = check_sizes(origin, sizes, how); !fits)
    return tl::unexpected(std::move(fits).error());
  const auto width = values.width();
  const bool with_target =
      sizes.size() == 2 && how.target_column && width == how.width + 1;
  const bool moved = how.layout == array_layout::channels_last && width == how.width
                     && how.shape.layout() == layout::image;
  const auto places =
      moved ? places_in_channels_last(how.shape)
            : places_but(width, with_target ? how.target_column : std::nullopt);
  e.features.reserve(e.count * places.size());
  auto taken = values.for_each_part([&](std::size_t, const numeric_array& part) {
    return take_features(e, origin, part, width, places);
  });
  if (!taken)
    return tl::unexpected(std::move(taken).error());
  return e;
}

} // namespace clade
