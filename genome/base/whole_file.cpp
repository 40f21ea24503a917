// A stream is opened so that reading waits, a pipe as soon as somebody writes it; anything
// else is opened with O_NONBLOCK, so that a file of the kernel that has nothing to say yet
// answers EAGAIN. The kind of a file is asked before it is opened, since opening and
// closing a pipe would end its writer.

#include "genome/base/whole_file.hpp"

#include "genome/base/unique_fd.hpp"

#include <fcntl.h>
#include <poll.h>
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

/// Reads what follows `all`, which is what was read already.
expected<std::string> read_to_end(const std::filesystem::path& file, int from,
                                  std::string all, std::uint64_t most) {
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

/// Waits until something can be read of a pipe that is open with O_NONBLOCK, and lets
/// reading wait from then on. Returns what was read of it in doing so.
expected<std::string> wait_for_writer(const std::filesystem::path& file, int pipe,
                                      std::chrono::milliseconds patience) {
  const auto failed = [&] {
    return fail_in(file.string(), {error_kind::io, std::string("cannot be read: ")
                                                       + std::strerror(errno)});
  };
  std::string first;
  pollfd one{.fd = pipe, .events = POLLIN, .revents = 0};
  auto timeout = static_cast<int>(patience.count());
  while (::poll(&one, 1, timeout) <= 0) {
    // Only an attempt to read tells a pipe that nobody has open, which is at its end.
    char c = 0;
    const auto n = ::read(pipe, &c, 1);
    if (n == 0)
      return refuse(file,
                    "is a pipe that nobody writes to; start what writes it, or name "
                    "a file");
    if (n > 0) {
      first = c;
      break;
    }
    if (errno != EAGAIN && errno != EINTR)
      return failed();
    timeout = -1;
  }
  const int flags = ::fcntl(pipe, F_GETFL);
  if (flags < 0 || ::fcntl(pipe, F_SETFL, flags & ~O_NONBLOCK) != 0)
    return failed();
  return first;
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
  const bool regular = S_ISREG(is.st_mode), pipe = S_ISFIFO(is.st_mode);
  const unique_fd in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY
                                              | (regular || pipe ? O_NONBLOCK : 0)));
  if (!in || ::fstat(in.get(), &is) != 0)
    return cannot_open(file);
  if (regular != S_ISREG(is.st_mode))
    return refuse(file, "was replaced while it was opened");
  expected<std::string> first;
  if (pipe)
    first = wait_for_writer(file, in.get(), limits.writer_within);
  if (!first)
    return first;
  const auto size = regular ? static_cast<std::uint64_t>(is.st_size) : 0;
  if (size > limits.most_bytes)
    return too_large(file, limits.most_bytes);
  try {
    first->reserve(size);
    return read_to_end(file, in.get(), std::move(*first), limits.most_bytes);
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
