#include "engine/data/reading/array_file.hpp"

#include "engine/data/converted/data_file.hpp"
#include "engine/data/folders/class_folder.hpp"
#include "engine/data/formats/data_format.hpp"
#include "engine/data/formats/npz.hpp"
#include "engine/data/formats/text_array.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

namespace clade {

namespace {

/// The content of a file, and its format, which is one of arrays.
struct array_bytes {
  data_format format = data_format::npy;
  std::string bytes;
  genome_hash checksum;
};

expected<array_bytes> read_array_bytes(const std::filesystem::path& file) {
  auto read = read_data_file(file);
  if (!read)
    return tl::unexpected(std::move(read).error());
  array_bytes out{.format = format_of(file, read->bytes),
                  .bytes = std::move(read->bytes),
                  .checksum = read->checksum};
  if (out.format != data_format::npy && out.format != data_format::idx
      && out.format != data_format::npz)
    return fail_in(file.string(), {error_kind::invalid_input,
                                   "is neither a .npy, a .npz nor an IDX file"});
  return out;
}

/// Returns the sizes of an array of `size` bytes, of which these are the first.
expected<std::vector<std::int64_t>> sizes_of(std::string_view front, std::uint64_t size) {
  if (holds_texts(front))
    return parse_npy_text_header(front, size).map([](const text_array& a) {
      return a.sizes;
    });
  return parse_npy(front, size).map([](const numeric_array& a) { return a.sizes; });
}

} // namespace

std::string text_of(double v) {
  std::array<char, 32> digits;
  return {digits.data(),
          std::to_chars(digits.data(), digits.data() + digits.size(), v).ptr};
}

expected<array_file> open_array_file(const std::filesystem::path& file,
                                     const std::string& name, std::string_view key) {
  if (auto values = array_values::open(file); !values)
    return tl::unexpected(std::move(values).error());
  else if (*values)
    return array_file{
        .origin = file.string(), .bytes = nullptr, .array = std::move(**values)};
  auto read = read_array_bytes(file);
  if (!read)
    return tl::unexpected(std::move(read).error());
  array_file out{.origin = file.string(),
                 .bytes = std::make_unique<std::string>(std::move(read->bytes)),
                 .array = {}};
  if (read->format == data_format::npz)
    return array_in_archive(file, *out.bytes, name, key, read->checksum)
        .map([&](array_file&& in) {
          in.bytes = std::move(out.bytes);
          return std::move(in);
        });
  auto parsed =
      read->format == data_format::npy ? parse_npy(*out.bytes) : parse_idx(*out.bytes);
  if (!parsed)
    return fail_in(out.origin, std::move(parsed).error());
  out.array = {std::move(*parsed), {}};
  return out;
}

expected<array_file> array_in_archive(const std::filesystem::path& file,
                                      std::string_view archive, const std::string& name,
                                      std::string_view key, const genome_hash& checksum) {
  array_file out{.origin = file.string(), .bytes = nullptr, .array = {}};
  auto packed = npz_array::open(archive, name, key);
  if (!packed)
    return fail_in(out.origin, std::move(packed).error());
  const auto member = packed->name();
  auto values = array_values::of(std::move(*packed), out.origin, checksum);
  if (!values)
    return tl::unexpected(std::move(values).error());
  out.origin += ": " + member;
  out.array = std::move(*values);
  return out;
}

expected<void> check_target_sizes(const std::string& origin,
                                  const std::vector<std::int64_t>& sizes,
                                  const example_count& of) {
  std::size_t count = 1;
  for (const auto size : sizes)
    count *= static_cast<std::size_t>(size);
  const bool several = sizes.size() == 2 && sizes[1] > 1
                       && static_cast<std::size_t>(sizes[0]) == of.examples;
  if (several || count == of.examples)
    return {};
  return fail_in(origin,
                 {error_kind::invalid_input,
                  fmt::format("holds targets of {}, where {} holds {} examples",
                              to_text(tensor_shape{sizes}), of.origin, of.examples)});
}

expected<npz_member> targets_in_archive(const std::filesystem::path& file,
                                        std::string_view archive, const std::string& name,
                                        std::string_view key, const example_count& of) {
  auto packed = npz_array::open(archive, name, key);
  if (!packed)
    return fail_in(file.string(), std::move(packed).error());
  const auto origin = fmt::format("{}: {}", file.string(), packed->name());
  const auto sizes = sizes_of(packed->front(), packed->size());
  if (!sizes)
    return fail_in(origin, sizes.error());
  if (auto right = check_target_sizes(origin, *sizes, of); !right)
    return tl::unexpected(std::move(right).error());
  auto member = read_npz(std::move(*packed));
  if (!member)
    return fail_in(file.string(), std::move(member).error());
  return member;
}

expected<target_file> read_target_file(const std::filesystem::path& file,
                                       const std::string& name, const example_count& of) {
  auto read = read_array_bytes(file);
  if (!read)
    return tl::unexpected(std::move(read).error());
  target_file out{.origin = file.string(), .sizes = {}, .texts = {}};
  if (read->format == data_format::npz) {
    auto member = targets_in_archive(file, read->bytes, name, "target_array", of);
    if (!member)
      return tl::unexpected(std::move(member).error());
    out.origin += ": " + member->name;
    read->bytes = std::move(member->bytes);
    read->format = data_format::npy;
  }
  if (read->format == data_format::npy && holds_texts(read->bytes)) {
    auto texts = parse_npy_texts(read->bytes);
    if (!texts)
      return fail_in(out.origin, std::move(texts).error());
    out.sizes = std::move(texts->sizes);
    out.texts = std::move(texts->texts);
  } else {
    const auto parsed = read->format == data_format::npy ? parse_npy(read->bytes)
                                                         : parse_idx(read->bytes);
    if (!parsed)
      return fail_in(out.origin, parsed.error());
    out.sizes = parsed->sizes;
    out.whole = parsed->type != number_type::f32 && parsed->type != number_type::f64;
    for (std::size_t i = 0; i < parsed->count(); ++i)
      out.texts.push_back(text_of((*parsed)[i]));
  }
  return check_target_sizes(out.origin, out.sizes, of).map([&] {
    return std::move(out);
  });
}

expected<std::vector<std::string>> read_array_names(const std::filesystem::path& file) {
  const auto read = read_data_file(file);
  if (!read)
    return tl::unexpected(read.error());
  auto names = arrays_of(read->bytes);
  if (!names)
    return fail_in(file.string(), std::move(names).error());
  return names;
}

expected<layout> layout_of(const data_params& params) {
  if (!params.shape.sizes.empty())
    return params.shape.layout().value_or(layout::vector);
  if (is_folder(params.file))
    return is_text_folder(params.file) ? layout::vector : layout::image;
  if (!params.images.empty())
    return layout::image;
  if (params.forecast.of_examples())
    return layout::sequence;
  const auto front = read_front(params.file, telling_bytes);
  if (!front)
    return tl::unexpected(front.error());
  switch (format_of(params.file, *front)) {
  case data_format::csv:
    return layout::vector;
  case data_format::cifar:
    return layout::image;
  case data_format::series:
    return layout::sequence;
  default:
    break;
  }
  const auto opened = open_array_file(params.file, params.array);
  if (!opened)
    return tl::unexpected(opened.error());
  return opened->array.sizes().size() >= 3 ? layout::image : layout::vector;
}

} // namespace clade
