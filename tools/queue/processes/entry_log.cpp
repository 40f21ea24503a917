#include "tools/queue/processes/entry_log.hpp"

#include "genome/base/unique_fd.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

// A piece that is freed becomes a hole of the file, which whoever reads it passes over. A
// program that writes zeros makes none.

namespace clade {

namespace {

constexpr std::uint64_t first_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t block_bytes = 512; ///< In which stat counts.

tl::unexpected<error> failure(const std::filesystem::path& file, const char* what) {
  return fail(error_kind::io,
              fmt::format("{}: {}: {}", file.string(), what, std::strerror(errno)));
}

/// The first byte that is there, from that offset on; the offset itself where the file
/// system does not know, or nothing is.
std::uint64_t data_from(int file, std::uint64_t offset) {
  const auto found = ::lseek(file, static_cast<off_t>(offset), SEEK_DATA);
  return found < 0 ? offset : static_cast<std::uint64_t>(found);
}

} // namespace

expected<void> shorten_log(const std::filesystem::path& file, std::uint64_t most) {
  const unique_fd log(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  struct stat s {};
  if (!log || ::fstat(log.get(), &s) != 0)
    return errno == ENOENT ? expected<void>{} : failure(file, "cannot be opened");
  if (static_cast<std::uint64_t>(s.st_blocks) * block_bytes <= most)
    return {};
  const auto size = static_cast<std::uint64_t>(s.st_size);
  // Whole blocks alone are freed: of others it would make zeros.
  const auto unit =
      std::max<std::uint64_t>(static_cast<std::uint64_t>(s.st_blksize), 4096);
  const auto from = (first_bytes + unit - 1) / unit * unit;
  const auto to = (size - std::min(size, most / 2)) / unit * unit;
  if (to <= from
      || ::fallocate(log.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                     static_cast<off_t>(from), static_cast<off_t>(to - from))
             == 0)
    return {};
  return failure(file, "its middle cannot be freed");
}

expected<std::uint64_t> log_end(const std::filesystem::path& file) {
  struct stat s {};
  if (::stat(file.c_str(), &s) != 0)
    return errno == ENOENT ? expected<std::uint64_t>(0)
                           : failure(file, "cannot be looked at");
  return static_cast<std::uint64_t>(s.st_size);
}

std::chrono::milliseconds pause_between_looks(const log_growth& g) {
  constexpr std::chrono::milliseconds least(5), longest(1000);
  // It may begin to write at any time.
  constexpr std::uint64_t bytes_per_ms = (std::uint64_t{128} << 20) / 1000;
  const auto most =
      std::clamp(std::chrono::milliseconds(g.most / bytes_per_ms), least, longest);
  if (g.within < least)
    return least; // That says nothing yet.
  const auto seconds = std::chrono::duration<double>(g.within).count();
  const auto rate = static_cast<double>(g.grown) / seconds;
  const auto quiet = 2 * std::chrono::duration_cast<std::chrono::milliseconds>(g.within);
  const auto fills = static_cast<double>(g.most) / 4 / std::max(rate, 1.0) * 1000;
  return std::clamp(std::min(quiet, std::chrono::milliseconds(
                                        static_cast<std::int64_t>(std::min(fills, 1e6)))),
                    least, most);
}

expected<log_piece> read_log(const std::filesystem::path& file, std::uint64_t offset,
                             std::size_t most) {
  log_piece piece{.offset = offset};
  constexpr auto longest = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
  if (most > longest || offset > longest - most)
    return piece; // No file is that long.
  const unique_fd log(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!log)
    return errno == ENOENT ? expected<log_piece>(std::move(piece))
                           : failure(file, "cannot be opened");
  while (true) {
    piece.offset = data_from(log.get(), piece.offset);
    piece.text.resize(most);
    const auto count =
        ::pread(log.get(), piece.text.data(), most, static_cast<off_t>(piece.offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return failure(file, "cannot be read");
    // Some of it may have been freed while it was read, which gave zeros.
    const auto hole = ::lseek(log.get(), static_cast<off_t>(piece.offset), SEEK_HOLE);
    const auto whole = hole < 0 ? count : std::min<off_t>(count, hole - piece.offset);
    piece.text.resize(static_cast<std::size_t>(whole));
    if (whole > 0 || count == 0)
      return piece;
  }
}

} // namespace clade
