#include "genome/codec/blob.hpp"

#include "genome/base/whole_file.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace clade {

blob_file::~blob_file() {
  std::error_code ignored;
  if (temporary)
    std::filesystem::remove(path, ignored);
}

blob::blob(bytes content) : size_(content.size()) {
  if (content.empty())
    return;
  checksum_ = hash64(content);
  memory_ = std::make_shared<const bytes>(std::move(content));
}

blob::blob(std::shared_ptr<const blob_file> file, std::uint64_t offset,
           std::uint64_t size, std::uint64_t checksum)
    : file_(std::move(file)),
      offset_(offset),
      size_(size),
      checksum_(checksum) {}

blob blob::absent(std::uint64_t size, std::uint64_t checksum, std::string why) {
  blob b;
  b.size_ = size;
  b.checksum_ = checksum;
  b.why_ = std::move(why);
  return b;
}

expected<bytes> blob::read(std::uint64_t offset, std::size_t most) const {
  const auto size = std::min<std::uint64_t>(most, size_ - std::min(offset, size_));
  if (size == 0)
    return bytes();
  if (memory_)
    return bytes(*memory_, offset, size);
  if (!file_)
    return fail(error_kind::io, fmt::format("{} are not here{}", binary_size(size_),
                                            why_.empty() ? "" : ": " + why_));
  bytes piece(size, '\0');
  for (std::size_t done = 0; done < size;) {
    const auto n = ::pread(file_->descriptor.get(), piece.data() + done, size - done,
                           static_cast<off_t>(offset_ + offset + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return fail(error_kind::io,
                  fmt::format("{}: cannot be read: {}", file_->path.string(),
                              n == 0 ? "it became shorter"
                                     : std::system_category().message(errno)));
    done += static_cast<std::size_t>(n);
  }
  return piece;
}

expected<shared_bytes> blob::load() const {
  if (memory_)
    return memory_;
  return read(0, size_).map(
      [](bytes content) { return std::make_shared<const bytes>(std::move(content)); });
}

} // namespace clade
