#include "engine/data/array_file.hpp"

#include "engine/data/data_format.hpp"
#include "engine/data/file_bytes.hpp"
#include "engine/data/npz.hpp"

namespace clade {

expected<array_file> read_array_file(const std::filesystem::path& file,
                                     const std::string& name, std::string_view key) {
  auto read = read_file(file);
  if (!read)
    return tl::unexpected(std::move(read).error());
  array_file out{.origin = file.string(), .bytes = {}, .array = {}};
  data_format format = format_of(file, read->bytes);
  if (format == data_format::npz) {
    auto member = read_npz(read->bytes, name, key);
    if (!member)
      return fail_in(out.origin, std::move(member).error());
    out.origin += ": " + member->name;
    read->bytes = std::move(member->bytes);
    format = data_format::npy;
  }
  out.bytes = std::make_unique<std::string>(std::move(read->bytes));
  if (format != data_format::npy && format != data_format::idx)
    return fail_in(out.origin, {error_kind::invalid_input,
                                "is neither a .npy, a .npz nor an IDX file"});
  auto parsed =
      format == data_format::npy ? parse_npy(*out.bytes) : parse_idx(*out.bytes);
  if (!parsed)
    return fail_in(out.origin, std::move(parsed).error());
  out.array = std::move(*parsed);
  return out;
}

expected<layout> layout_of(const data_params& params) {
  if (!params.shape.sizes.empty())
    return params.shape.layout().value_or(layout::vector);
  const auto front = read_front(params.file, 16);
  if (!front)
    return tl::unexpected(front.error());
  switch (format_of(params.file, *front)) {
  case data_format::csv:
    return layout::vector;
  case data_format::cifar:
    return layout::image;
  default:
    break;
  }
  const auto read = read_array_file(params.file, params.array);
  if (!read)
    return tl::unexpected(read.error());
  return read->array.sizes.size() >= 3 ? layout::image : layout::vector;
}

} // namespace clade
