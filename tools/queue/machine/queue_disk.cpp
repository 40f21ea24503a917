#include "tools/queue/machine/queue_disk.hpp"

#include "engine/report/base/format.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

namespace clade {

namespace {

constexpr std::uint64_t stat_block_bytes = 512; ///< In which stat counts.

constexpr std::chrono::milliseconds shortest_pause{10}, longest_pause{1000};

expected<struct statvfs> statistics_of(const std::filesystem::path& folder) {
  struct statvfs space {};
  if (::statvfs(folder.c_str(), &space) != 0)
    return fail(error_kind::io, fmt::format("{}: cannot be looked at: {}",
                                            folder.string(), std::strerror(errno)));
  return space;
}

/// Returns the free bytes. Space that only root may use is there for a server of root's.
std::uint64_t free_bytes(const struct statvfs& space) {
  const auto blocks = ::geteuid() == 0 ? space.f_bfree : space.f_bavail;
  return static_cast<std::uint64_t>(blocks) * space.f_frsize;
}

} // namespace

expected<void> check_room(const std::filesystem::path& folder) {
  const auto space = statistics_of(folder);
  if (!space)
    return tl::unexpected(space.error());
  const auto bytes = free_bytes(*space);
  const bool has_files = space->f_files == 0 || space->f_ffree > 0;
  if (bytes >= least_room_bytes && has_files)
    return {};
  return fail(error_kind::io, fmt::format("{}: the disk is full ({}); nothing is taken "
                                          "and nothing begins until there is room",
                                          folder.string(),
                                          has_files ? size_text(bytes) + " free"
                                                    : "no place for a file"));
}

bool is_of_full_disk(const error& e) {
  const auto says = [&](int number) {
    return e.message.find(std::strerror(number)) != std::string::npos;
  };
  return e.kind == error_kind::io && (says(ENOSPC) || says(EDQUOT));
}

expected<disk_space> space_of(const std::filesystem::path& folder) {
  return statistics_of(folder).map([](const struct statvfs& space) {
    return disk_space{.size = static_cast<std::uint64_t>(space.f_blocks) * space.f_frsize,
                      .free = free_bytes(space)};
  });
}

std::uint64_t scarce_bytes(const disk_space& disk) {
  return std::clamp(disk.size / 16, 2 * least_room_bytes, 64 * least_room_bytes);
}

std::uint64_t bytes_of_entry(pid_t root, std::span<const process_entry> all,
                             const std::filesystem::path& folder,
                             const std::filesystem::path& its) {
  struct stat disk {};
  if (::stat(folder.c_str(), &disk) != 0)
    return 0;
  std::map<ino_t, std::uint64_t> files;
  const auto count = [&](const std::filesystem::path& path, auto look) {
    struct stat file {};
    if (look(path.c_str(), &file) == 0 && S_ISREG(file.st_mode)
        && file.st_dev == disk.st_dev)
      files[file.st_ino] = static_cast<std::uint64_t>(file.st_blocks) * stat_block_bytes;
  };
  std::error_code gone; // Processes end and files are removed meanwhile.
  for (const auto& process : below(root, all))
    for (const auto& one : files_written_by(process.id))
      count(one, ::stat);
  for (std::filesystem::recursive_directory_iterator one(its, gone), end; one != end;
       one.increment(gone))
    count(one->path(), ::lstat);
  std::uint64_t sum = 0;
  for (const auto& [_, bytes] : files)
    sum += bytes;
  return sum;
}

std::optional<disk_use> who_fills(std::span<const disk_use> all, std::uint64_t free) {
  std::uint64_t sum = 0;
  for (const auto& one : all)
    sum += one.bytes;
  for (const auto& one : all) {
    const auto lost = one.free_when_begun - std::min(one.free_when_begun, free);
    if (one.bytes >= least_room_bytes && one.bytes > sum / 2 && one.bytes > free
        && one.bytes >= lost / 2)
      return one;
  }
  return std::nullopt;
}

std::chrono::milliseconds pause_between_looks(const disk_space& disk,
                                              std::uint64_t free_before,
                                              std::chrono::nanoseconds since) {
  using seconds = std::chrono::duration<double>;
  const auto gone = static_cast<double>(free_before - std::min(free_before, disk.free));
  const auto scarce = scarce_bytes(disk);
  const auto left = static_cast<double>(disk.free - std::min(disk.free, scarce));
  if (gone == 0)
    return longest_pause;
  const auto until_scarce = seconds(since).count() * left / gone;
  return std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(seconds(
                        std::min(until_scarce / 4, seconds(longest_pause).count()))),
                    shortest_pause, longest_pause);
}

} // namespace clade
