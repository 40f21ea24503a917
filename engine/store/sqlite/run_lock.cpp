// An open file description lock (fcntl, F_OFD_SETLK), and not flock: whether it is held
// can be asked (F_OFD_GETLK) without taking it for a moment, which could turn away a
// writer that starts just then. The kernel does not tell whose such a lock is, so the
// file says it.
#include "engine/store/sqlite/run_lock.hpp"

#include "engine/store/sqlite/store_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>

namespace clade {

namespace {

struct flock whole_file() {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  return range;
}

pid_t read_pid(int descriptor) {
  std::array<char, 32> text{};
  const auto size = pread(descriptor, text.data(), text.size(), 0);
  pid_t pid = 0;
  if (size > 0)
    std::from_chars(text.data(), text.data() + size, pid);
  return pid;
}

tl::unexpected<error> cannot(const std::filesystem::path& file, const char* what) {
  return fail(error_kind::io, fmt::format("{}: cannot {} it: {}", file.string(), what,
                                          std::strerror(errno)));
}

} // namespace

std::filesystem::path lock_file_of(const std::filesystem::path& store_file) {
  std::error_code failed;
  auto file = std::filesystem::weakly_canonical(store_file, failed);
  if (failed)
    file = store_file;
  file += ".lock";
  return file;
}

expected<run_lock> run_lock::take(const std::filesystem::path& store_file) {
  if (auto one = check_one_name(store_file); !one)
    return tl::unexpected(one.error());
  const auto file = lock_file_of(store_file);
  run_lock lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.descriptor_ < 0)
    return cannot(file, "open");
  auto range = whole_file();
  if (fcntl(lock.descriptor_, F_OFD_SETLK, &range) != 0) {
    if (errno != EAGAIN && errno != EACCES)
      return cannot(file, "lock");
    const auto pid = read_pid(lock.descriptor_);
    const auto who = pid > 0 ? fmt::format("process {}", pid) : "another process";
    return fail(
        error_kind::conflict,
        fmt::format("{}: open in another run, {}; wait for its end or stop it{}",
                    store_file.string(), who,
                    pid > 0 ? fmt::format(": kill -INT {}", pid) : std::string()));
  }
  const auto pid = fmt::format("{}\n", getpid());
  if (ftruncate(lock.descriptor_, 0) != 0
      || pwrite(lock.descriptor_, pid.data(), pid.size(), 0)
             != static_cast<ssize_t>(pid.size()))
    return cannot(file, "write");
  return lock;
}

run_lock::~run_lock() {
  if (descriptor_ >= 0)
    close(descriptor_);
}

std::optional<pid_t> writer_of(const std::filesystem::path& store_file) {
  const int descriptor = ::open(lock_file_of(store_file).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return std::nullopt;
  auto range = whole_file();
  std::optional<pid_t> writer;
  if (fcntl(descriptor, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK)
    writer = read_pid(descriptor);
  close(descriptor);
  return writer;
}

} // namespace clade
