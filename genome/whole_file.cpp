// A stream is opened so that reading waits; anything else is opened with O_NONBLOCK, so
// that a file of the kernel that has nothing to say yet answers EAGAIN. What a file is,
// is asked before it is opened, since opening and closing a pipe would end its writer.

#include "genome/whole_file.hpp"

#include "genome/unique_fd.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace clade {
namespace {

tl::unexpected<error> refuse(const std::filesystem::path& file, std::string message) {
  return fail_in(file.string(), {error_kind::invalid_input, std::move(message)});
}

bool is_stream(mode_t mode) {
  return S_ISFIFO(mode) || S_ISSOCK(mode);
}

tl::unexpected<error> cannot_open(const std::filesystem::path& file) {
  if (errno == ENOENT || errno == ENOTDIR)
    return fail_in(file.string(), {error_kind::not_found, "no such file"});
  if (errno == EACCES || errno == EPERM)
    return fail_in(file.string(),
                   {error_kind::not_found, "cannot be opened; may you read it?"});
  return fail_in(file.string(), {error_kind::not_found, std::string("cannot be opened: ")
                                                            + std::strerror(errno)});
}

tl::unexpected<error> too_large(const std::filesystem::path& file, std::uint64_t most) {
  return refuse(file, "is larger than " + binary_size(most));
}

// A terminal is a device that people type at; other devices are not to be read.
expected<void> check_kind(const std::filesystem::path& file, mode_t mode, bool streams,
                          bool terminal) {
  if (S_ISREG(mode))
    return {};
  if (S_ISDIR(mode))
    return refuse(file, "is a folder, not a file");
  if (!is_stream(mode) && !terminal)
    return refuse(file, "is a device, not a file");
  if (!streams)
    return refuse(file, "is a pipe or terminal, which can be read only once; write it to "
                        "a file, and name that");
  return {};
}

bool is_terminal(const std::filesystem::path& file) {
  const unique_fd in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  return in && ::isatty(in.get()) == 1;
}

expected<std::string> read_to_end(const std::filesystem::path& file, int from,
                                  std::uint64_t expected_bytes, std::uint64_t most) {
  std::string all;
  all.reserve(expected_bytes);
  std::array<char, 1 << 16> chunk{};
  for (;;) {
    const auto n = ::read(from, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 && errno == EAGAIN)
      return refuse(file, "has no end; only files that have one are read");
    if (n < 0)
      return fail_in(file.string(),
                     {error_kind::io, std::string("could not be read to its end: ")
                                          + std::strerror(errno)});
    if (n == 0)
      return all;
    all.append(chunk.data(), static_cast<std::size_t>(n));
    if (all.size() > most)
      return too_large(file, most);
  }
}

} // namespace

expected<void> check_readable_kind(const std::filesystem::path& file, bool streams) {
  struct stat is {};
  if (::stat(file.c_str(), &is) != 0)
    return cannot_open(file);
  return check_kind(file, is.st_mode, streams, S_ISCHR(is.st_mode) && is_terminal(file));
}

expected<std::string> read_whole_file(const std::filesystem::path& file,
                                      const file_limits& limits) {
  if (auto fine = check_readable_kind(file, limits.streams); !fine)
    return tl::unexpected(std::move(fine).error());
  struct stat is {};
  if (::stat(file.c_str(), &is) != 0)
    return cannot_open(file);
  const bool regular = S_ISREG(is.st_mode);
  const unique_fd in(
      ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | (regular ? O_NONBLOCK : 0)));
  if (!in || ::fstat(in.get(), &is) != 0)
    return cannot_open(file);
  if (regular != S_ISREG(is.st_mode))
    return refuse(file, "was replaced while it was opened");
  const auto size = regular ? static_cast<std::uint64_t>(is.st_size) : 0;
  if (size > limits.most_bytes)
    return too_large(file, limits.most_bytes);
  try {
    return read_to_end(file, in.get(), size, limits.most_bytes);
  } catch (const std::bad_alloc&) {
    return fail_in(file.string(), {error_kind::io, "not enough memory to hold it"});
  }
}

std::string binary_size(std::uint64_t bytes) {
  constexpr std::array<const char*, 4> units{" bytes", " KiB", " MiB", " GiB"};
  std::size_t unit = 0;
  for (; unit + 1 < units.size() && bytes >= 1024; ++unit)
    bytes /= 1024;
  return std::to_string(bytes) + units[unit];
}

} // namespace clade
