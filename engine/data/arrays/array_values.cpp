#include "engine/data/arrays/array_values.hpp"

#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/formats/data_format.hpp"
#include "engine/data/formats/file_bytes.hpp"
#include "engine/data/formats/npy_header.hpp"
#include "genome/base/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace clade {
namespace {

constexpr std::size_t part_bytes = std::size_t{16} << 20;

} // namespace

// Reads until that many bytes are there.
expected<void> array_values::read_file(std::uint64_t from, std::size_t bytes) {
  buffer_.resize(bytes);
  std::size_t got = 0;
  while (got < bytes) {
    const auto more = ::pread(file_.get(), buffer_.data() + got, bytes - got,
                              static_cast<off_t>(from + got));
    if (more < 0 && errno == EINTR)
      continue;
    if (more < 0)
      return fail_in(origin_, {error_kind::io, fmt::format("byte {}: {}", from + got,
                                                           std::strerror(errno))});
    if (more == 0)
      return fail_in(origin_,
                     {error_kind::invalid_input,
                      fmt::format("byte {}: the file ends here now; it became shorter "
                                  "while it was read",
                                  from + got)});
    got += static_cast<std::size_t>(more);
  }
  return {};
}

expected<void> array_values::read_bytes(std::uint64_t from, std::size_t bytes) {
  if (!packed_)
    return read_file(from, bytes);
  buffer_.resize(bytes);
  if (auto read = packed_->read(from, buffer_); !read)
    return fail_in(origin_, std::move(read).error());
  return {};
}

expected<array_values> array_values::of(npz_array packed, const std::string& file,
                                        const genome_hash& checksum) {
  const auto origin = fmt::format("{}: {}", file, printable(packed.name()));
  const auto size = packed.size();
  auto head = parse_npy(packed.front(), size);
  if (!head)
    return fail_in(origin, std::move(head).error());
  if (size > max_unzipped_bytes)
    return fail_in(origin,
                   {error_kind::invalid_input,
                    fmt::format("unzips to {}, where at most {} are read; save it as a "
                                ".npy, which is read part by part",
                                binary_size(size), binary_size(max_unzipped_bytes))});
  array_values out;
  out.head_ = std::move(*head);
  out.head_.values = {};
  out.count_ =
      static_cast<std::size_t>(size - out.head_.offset) / size_of(out.head_.type);
  out.origin_ = file;
  out.checksum_ = checksum;
  out.packed_.emplace(std::move(packed));
  return out;
}

expected<std::optional<array_values>>
array_values::open(const std::filesystem::path& file) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown) || !check_readable_kind(file))
    return std::nullopt;
  array_values out;
  out.origin_ = file.string();
  out.file_.reset(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat is {};
  if (!out.file_ || ::fstat(out.file_.get(), &is) != 0 || !S_ISREG(is.st_mode))
    return std::nullopt;
  const auto size = static_cast<std::uint64_t>(is.st_size);
  if (!out.read_file(
          0, static_cast<std::size_t>(std::min<std::uint64_t>(size, array_front_bytes))))
    return std::nullopt;
  const auto format = format_of(file, out.buffer_);
  const bool npy = format == data_format::npy && looks_like_npy(out.buffer_);
  if (!npy && (format != data_format::idx || !looks_like_idx(out.buffer_)))
    return std::nullopt;
  auto head = npy ? parse_npy(out.buffer_, size) : parse_idx(out.buffer_, size);
  if (!head)
    return fail_in(file.string(), std::move(head).error());
  out.head_ = std::move(*head);
  out.head_.values = {};
  out.count_ =
      static_cast<std::size_t>(size - out.head_.offset) / size_of(out.head_.type);
  return out;
}

std::size_t array_values::width() const {
  const auto examples = head_.sizes.empty() ? 0 : head_.sizes.front();
  return examples <= 0 ? 0 : count_ / static_cast<std::size_t>(examples);
}

expected<numeric_array> array_values::part(std::size_t first, std::size_t count) {
  numeric_array out = head_;
  const auto value_bytes = size_of(head_.type);
  out.offset = head_.byte_of(first);
  if (!file_ && !packed_) {
    out.values = head_.values.substr(first * value_bytes, count * value_bytes);
    return out;
  }
  if (auto read = read_bytes(out.offset, count * value_bytes); !read)
    return tl::unexpected(std::move(read).error());
  out.values = buffer_;
  return out;
}

expected<void> array_values::for_each_part(
    const std::function<expected<void>(std::size_t, const numeric_array&)>& take) {
  const auto each = std::max<std::size_t>(1, width());
  const auto most =
      std::max<std::size_t>(1, part_bytes / (each * size_of(head_.type))) * each;
  running_hash128 sum;
  if (file_) {
    if (auto read = read_file(0, head_.offset); !read)
      return read;
    sum.add(buffer_);
  }
  for (std::size_t first = 0; first < count_; first += most) {
    const auto values = part(first, std::min(most, count_ - first));
    if (!values)
      return tl::unexpected(values.error());
    if (file_)
      sum.add(values->values);
    if (auto taken = take(first / each, *values); !taken)
      return taken;
  }
  if (file_)
    checksum_ = sum.value();
  return {};
}

} // namespace clade
