// Open file description locks, as in run_lock.cpp, of one byte each.
#include "engine/store/sqlite/byte_locks.hpp"

#include "engine/store/sqlite/disk.hpp"
#include "engine/store/sqlite/run_lock.hpp"

#include <fcntl.h>

#include <thread>

namespace clade {

namespace {

struct flock one_byte(std::uint64_t number, short type) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(number);
  range.l_len = 1;
  return range;
}

} // namespace

expected<byte_locks> byte_locks::open(const std::filesystem::path& store_file) {
  auto file = lock_file_of(store_file);
  unique_fd descriptor(
      ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!descriptor)
    return disk_error(file, "be opened", last_error());
  return byte_locks(std::move(file), std::move(descriptor));
}

bool byte_locks::try_lock(std::uint64_t number) {
  auto range = one_byte(number, F_WRLCK);
  return ::fcntl(descriptor_.get(), F_OFD_SETLK, &range) == 0;
}

expected<void> byte_locks::lock(std::uint64_t number, std::chrono::milliseconds most) {
  const auto until = std::chrono::steady_clock::now() + most;
  while (!try_lock(number)) {
    if (std::chrono::steady_clock::now() >= until)
      return fail(error_kind::conflict,
                  file_.string() + ": another process has locked it");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return {};
}

void byte_locks::unlock(std::uint64_t number) {
  auto range = one_byte(number, F_UNLCK);
  ::fcntl(descriptor_.get(), F_OFD_SETLK, &range);
}

bool byte_locks::is_others(std::uint64_t number) const {
  auto range = one_byte(number, F_WRLCK);
  return ::fcntl(descriptor_.get(), F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

} // namespace clade
