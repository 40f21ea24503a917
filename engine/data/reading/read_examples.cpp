// Arrays hold examples along their first dimension; their targets are an array of one
// dimension, in a file of its own or in the same archive, or one column of an array of
// two.

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/columns/examples.hpp"
#include "engine/data/converted/data_file.hpp"
#include "engine/data/formats/cifar.hpp"
#include "engine/data/formats/data_format.hpp"
#include "engine/data/formats/npz.hpp"
#include "engine/data/formats/numeric_array.hpp"
#include "engine/data/formats/series_set.hpp"
#include "engine/data/formats/text_array.hpp"
#include "engine/data/images/image_folder.hpp"
#include "engine/data/reading/image_examples.hpp"
#include "engine/data/reading/preprocessing.hpp"
#include "engine/data/reading/series_examples.hpp"
#include "engine/data/tables/csv.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

namespace clade {
namespace {

using format = data_format;

tl::unexpected<error> wrong(std::string_view place, std::string message) {
  return fail_in(place, {error_kind::invalid_input, std::move(message)});
}

std::string at_byte(const std::string& origin, std::size_t byte) {
  return fmt::format("{}: byte {}", origin, byte);
}

// The text of a CSV.
expected<csv_text> text_of(std::string bytes, const std::string& origin,
                           const std::string& encoding) {
  auto text = to_utf8(std::move(bytes), encoding);
  if (!text)
    return fail_in(origin, std::move(text).error());
  if (const std::size_t nul = text->text.find('\0'); nul != std::string::npos)
    return wrong(at_byte(origin, nul), std::string(zero_byte));
  return text;
}

// The file, or member of an archive, that holds one array.
struct array_bytes {
  std::string origin; ///< For messages: "x.npy", "x.npz: y.npy".
  format kind = format::npy;
  std::string bytes;
};

expected<void> no_archive(const array_source& from) {
  if (from.array.empty())
    return {};
  return wrong(from.file.string(),
               fmt::format("is no .npz archive; remove {}, which names an array of one",
                           from.key));
}

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
    const auto place = [&] { return at_byte(out.origin, a.byte_of(i)); };
    if (!std::isfinite(v) || std::abs(v) > std::numeric_limits<float>::max())
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
  std::unordered_map<std::string_view, std::uint32_t> by_name;
  for (std::size_t i = 0; i < a.texts.size(); ++i) {
    out.places.push_back(a.byte_of(i));
    if (a.texts[i].empty())
      return wrong(at_byte(from.origin, a.byte_of(i)), "the target is blank");
    const auto [at, fresh] =
        by_name.emplace(a.texts[i], static_cast<std::uint32_t>(out.classes.size()));
    if (fresh)
      out.classes.push_back(a.texts[i]);
    out.labels.push_back(at->second);
  }
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
    if (!std::isfinite(v) || std::abs(v) > std::numeric_limits<float>::max())
      return wrong(at_byte(origin, a.byte_of(i)),
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

// The examples' array from `file`, and their targets from it too, if it is an archive, or
// from a file of their own. An archive's bytes go as soon as nothing else is in them.
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

constexpr std::string_view no_table_params =
    "is no table; columns, categories, ignore and blanks are for CSV files";

bool has_table_params(const data_params& params) {
  return !params.categories.empty() || !params.columns.empty() || !params.ignore.empty()
         || params.blanks == blank_rule::mean || params.blanks == blank_rule::drop;
}

bool is_folder(const std::filesystem::path& file) {
  std::error_code unknown;
  return std::filesystem::is_directory(file, unknown);
}

} // namespace

std::string examples::place(std::size_t example) const {
  if (!names.empty())
    return (std::filesystem::path(origin) / names[example]).string();
  return by_line ? fmt::format("{}:{}{}", origin, by_row ? " row " : "", places[example])
                 : at_byte(origin, places[example]);
}

namespace {

/// Numbers the rows of a table that was in no CSV as its file has them.
void number_rows(std::vector<std::uint64_t>& lines, const table_facts& facts) {
  for (std::uint64_t& line : lines)
    line -= facts.named ? 1 : 0;
}

/// Reads a CSV, or what has become one.
expected<examples> read_table(data_file read, const std::string& origin,
                              const data_params& params, const csv_targets* targets) {
  const data_params written = params_of(read, params);
  auto parsed = text_of(std::move(read.bytes), origin, written.encoding)
                    .and_then([&](const csv_text& text) {
                      return parse_csv(text.text, origin, written, targets);
                    });
  if (read.table && !parsed)
    return tl::unexpected(read.table->in_rows(std::move(parsed).error(), origin));
  if (read.table)
    number_rows(parsed->places, *read.table);
  if (parsed) {
    parsed->by_row = read.table.has_value();
    parsed->checksum =
        targets != nullptr ? both(read.checksum, targets->checksum) : read.checksum;
  }
  return parsed;
}

table_choice choice_of(const array_source& from) {
  return {.name = from.array, .key = from.key};
}

} // namespace

expected<examples> read_examples(const example_files& from, const data_params& params) {
  const std::string origin = from.examples.file.string();
  if (is_folder(from.examples.file)) {
    if (!from.targets.file.empty())
      return wrong(origin, "holds images in folders named after their classes; remove "
                           "target_file");
    if (has_table_params(params))
      return wrong(origin, std::string(no_table_params));
    return read_image_folder(from.examples.file, params);
  }
  auto read = read_data_file(from.examples.file, choice_of(from.examples));
  if (!read)
    return tl::unexpected(read.error());
  const format f = format_of(from.examples.file, read->bytes);
  if (f != format::npz && !read->table)
    for (const array_source* one : {&from.examples, &from.targets})
      if (one->file == from.examples.file)
        if (auto fine = no_archive(*one); !fine)
          return tl::unexpected(std::move(fine).error());
  if (!params.images.empty()) {
    if (f != format::csv || !from.targets.file.empty())
      return wrong(origin, "`images` names a column of a CSV that has the targets, too");
    const auto written = params_of(*read, params);
    const auto text = text_of(std::move(read->bytes), origin, written.encoding);
    if (!text)
      return tl::unexpected(text.error());
    auto listed = read_listed_images(text->text, from.examples.file, written);
    if (listed)
      listed->checksum = both(read->checksum, listed->checksum);
    return listed;
  }
  if (f == format::csv) {
    std::optional<csv_targets> targets;
    if (!from.targets.file.empty()) {
      auto column = read_csv_targets(from.targets.file);
      if (!column)
        return tl::unexpected(std::move(column).error());
      targets = std::move(*column);
    }
    return read_table(std::move(*read), origin, params, targets ? &*targets : nullptr);
  }
  if (has_table_params(params))
    return wrong(origin, std::string(no_table_params));
  if (f == format::cifar || f == format::series) {
    if (!from.targets.file.empty())
      return wrong(origin, "holds its targets itself; remove target_file");
    auto parsed =
        f == format::cifar
            ? parse_cifar(read->bytes, origin, params)
            : parse_series(read->bytes, origin).and_then([&](const series_set& set) {
                return series_examples(set, origin, params);
              });
    if (parsed)
      parsed->checksum = read->checksum;
    return parsed;
  }
  return read_arrays(from, std::move(*read), params);
}

namespace {

expected<raw_rows> read_new_table(data_file read, const std::filesystem::path& file,
                                  const data_params& params, const preprocessing& how) {
  const std::string origin = file.string();
  const data_params written = params_of(read, {});
  auto rows = text_of(std::move(read.bytes), origin, written.encoding)
                  .and_then([&](const csv_text& text) {
                    if (!params.images.empty())
                      return read_raw_listed_images(text.text, file,
                                                    params_of(read, params), how);
                    return parse_new_csv(text.text, origin,
                                         read.table && read.table->named ? written.header
                                                                         : params.header,
                                         how, written);
                  });
  if (!read.table)
    return rows;
  if (!rows)
    return tl::unexpected(read.table->in_rows(std::move(rows).error(), origin));
  number_rows(rows->lines, *read.table);
  rows->by_row = true;
  return rows;
}

} // namespace

expected<raw_rows> read_raw_rows(const array_source& from, const data_params& params,
                                 const preprocessing& how) {
  if (is_folder(from.file) || has_image_ending(from.file.filename().string()))
    return read_raw_images(from.file, how);
  auto which = choice_of(from);
  which.least_features = how.columns.size();
  which.sentences = how.takes_text_lines();
  auto read = read_data_file(from.file, which, data_limits(/*streams=*/true));
  if (!read)
    return tl::unexpected(read.error());
  raw_rows out{.origin = from.file.string(), .count = 0, .values = {}, .lines = {}};
  const format f = format_of(from.file, read->bytes);
  if (f == format::csv)
    return read_new_table(std::move(*read), from.file, params, how);
  if (f == format::series)
    return parse_series(read->bytes, out.origin).and_then([&](const series_set& set) {
      return new_series(set, out.origin, how);
    });
  if (!how.takes_plain_numbers())
    return wrong(out.origin, "is an array, but the training data has columns of texts");
  examples e;
  if (f == format::cifar) {
    auto parsed = parse_cifar(read->bytes, out.origin, params);
    if (!parsed)
      return tl::unexpected(parsed.error());
    e = std::move(*parsed);
  } else {
    auto source = from;
    if (f == format::npz && source.array.empty())
      source.array = params.array;
    const auto array = array_in(source, read->bytes);
    if (!array)
      return tl::unexpected(array.error());
    const auto a = parse_array(*array);
    if (!a)
      return tl::unexpected(a.error());
    e.count = static_cast<std::size_t>(a->sizes[0]);
    if (auto fits = check_sizes(array->origin, *a, how); !fits)
      return tl::unexpected(std::move(fits).error());
    const bool with_target = a->sizes.size() == 2 && how.target_column
                             && a->count() == e.count * (how.width + 1);
    if (auto taken = take_features(e, array->origin, *a,
                                   with_target ? how.target_column : std::nullopt);
        !taken)
      return tl::unexpected(std::move(taken).error());
  }
  if (e.features.size() != e.count * how.width)
    return wrong(
        out.origin,
        fmt::format("an example has {} values, where those of the training data have {}",
                    e.features.size() / e.count, how.width));
  if (f != format::cifar && how.layout == array_layout::channels_last)
    move_channels_first(e.features, how.shape);
  out.count = e.count;
  out.values = std::move(e.features);
  return out;
}

} // namespace clade
