#include "engine/data/reading/array_file.hpp"

#include "engine/data/converted/data_file.hpp"
#include "engine/data/folders/class_folder.hpp"
#include "engine/data/formats/data_format.hpp"
#include "engine/data/formats/npz.hpp"
#include "engine/data/formats/text_array.hpp"

#include <array>
#include <charconv>

namespace clade {

namespace {

/// The bytes of one array, of a file or of a member of an archive.
struct array_bytes {
  std::string origin;
  data_format format = data_format::npy;
  std::string bytes;
};

expected<array_bytes> read_array_bytes(const std::filesystem::path& file,
                                       const std::string& name, std::string_view key) {
  auto read = read_data_file(file);
  if (!read)
    return tl::unexpected(std::move(read).error());
  array_bytes out{.origin = file.string(),
                  .format = format_of(file, read->bytes),
                  .bytes = std::move(read->bytes)};
  if (out.format == data_format::npz) {
    auto member = read_npz(out.bytes, name, key);
    if (!member)
      return fail_in(out.origin, std::move(member).error());
    out.origin += ": " + member->name;
    out.bytes = std::move(member->bytes);
    out.format = data_format::npy;
  }
  if (out.format != data_format::npy && out.format != data_format::idx)
    return fail_in(out.origin, {error_kind::invalid_input,
                                "is neither a .npy, a .npz nor an IDX file"});
  return out;
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
  auto read = read_array_bytes(file, name, key);
  if (!read)
    return tl::unexpected(std::move(read).error());
  array_file out{.origin = std::move(read->origin),
                 .bytes = std::make_unique<std::string>(std::move(read->bytes)),
                 .array = {}};
  auto parsed =
      read->format == data_format::npy ? parse_npy(*out.bytes) : parse_idx(*out.bytes);
  if (!parsed)
    return fail_in(out.origin, std::move(parsed).error());
  out.array = {std::move(*parsed), {}};
  return out;
}

expected<target_file> read_target_file(const std::filesystem::path& file,
                                       const std::string& name) {
  const auto read = read_array_bytes(file, name, "target_array");
  if (!read)
    return tl::unexpected(read.error());
  target_file out{.origin = read->origin, .sizes = {}, .texts = {}};
  if (read->format == data_format::npy && holds_texts(read->bytes)) {
    auto texts = parse_npy_texts(read->bytes);
    if (!texts)
      return fail_in(out.origin, std::move(texts).error());
    out.sizes = std::move(texts->sizes);
    out.texts = std::move(texts->texts);
    return out;
  }
  const auto parsed =
      read->format == data_format::npy ? parse_npy(read->bytes) : parse_idx(read->bytes);
  if (!parsed)
    return fail_in(out.origin, parsed.error());
  out.sizes = parsed->sizes;
  out.whole = parsed->type != number_type::f32 && parsed->type != number_type::f64;
  for (std::size_t i = 0; i < parsed->count(); ++i)
    out.texts.push_back(text_of((*parsed)[i]));
  return out;
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
