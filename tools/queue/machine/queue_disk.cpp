#include "tools/queue/machine/queue_disk.hpp"

#include "engine/report/base/format.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

/// Says why an entry is not known to be the one that fills the disk; empty: it is.
std::string why_not(const disk_use& one, std::span<const disk_use> all,
                    std::uint64_t free) {
  std::uint64_t sum = 0;
  for (const auto& other : all)
    sum += other.bytes;
  const auto lost = one.free_when_begun - std::min(one.free_when_begun, free);
  if (one.bytes < least_room_bytes)
    return "which is little";
  if (one.bytes <= sum / 2)
    return "not more than all others together";
  if (one.bytes <= free)
    return "not more than is left";
  if (one.bytes < lost / 2)
    return fmt::format("less than half of the {} that it has lost since {} began",
                       size_text(lost), numbered(one.id));
  return "";
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

bool counts_writes(const std::filesystem::path& folder) {
  struct statfs disk {};
  if (::statfs(folder.c_str(), &disk) != 0)
    return true;
  constexpr std::array<long, 4> uncounted{TMPFS_MAGIC, RAMFS_MAGIC, FUSE_SUPER_MAGIC,
                                          V9FS_MAGIC};
  return std::ranges::find(uncounted, static_cast<long>(disk.f_type)) == uncounted.end();
}

std::uint64_t bytes_of_entry(const writes_seen& seen, const std::filesystem::path& folder,
                             const std::filesystem::path& its) {
  struct stat disk {};
  if (::stat(folder.c_str(), &disk) != 0)
    return 0;
  std::map<ino_t, std::uint64_t> files;
  for (const auto& file : seen.still_there(disk.st_dev))
    files[file.number] = file.bytes;
  std::error_code gone; // Files are removed meanwhile.
  for (std::filesystem::recursive_directory_iterator one(its, gone), end; one != end;
       one.increment(gone)) {
    struct stat file {};
    if (::lstat(one->path().c_str(), &file) == 0 && S_ISREG(file.st_mode)
        && file.st_dev == disk.st_dev)
      files[file.st_ino] = static_cast<std::uint64_t>(file.st_blocks) * stat_block_bytes;
  }
  std::uint64_t sum = 0;
  for (const auto& [_, bytes] : files)
    sum += bytes;
  return sum;
}

std::optional<disk_use> who_fills(std::span<const disk_use> all, std::uint64_t free) {
  const auto found = std::ranges::find_if(
      all, [&](const disk_use& one) { return why_not(one, all, free).empty(); });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

std::string why_nobody_fills(std::span<const disk_use> all, std::uint64_t free) {
  const auto most = std::ranges::max_element(all, {}, &disk_use::bytes);
  if (most == all.end() || most->bytes < least_room_bytes)
    return "nothing that runs here was seen to write much there";
  return fmt::format("{} has the most of it of all that runs here, {}, {}",
                     numbered(most->id), size_text(most->bytes),
                     why_not(*most, all, free));
}

std::optional<std::chrono::duration<double>> time_until_scarce(const disk_space& disk,
                                                               double falls_by) {
  if (falls_by <= 0)
    return std::nullopt;
  const auto left = disk.free - std::min(disk.free, scarce_bytes(disk));
  return std::chrono::duration<double>(static_cast<double>(left) / falls_by);
}

std::chrono::milliseconds pause_between_looks(const disk_space& disk, double falls_by) {
  const auto until_scarce = time_until_scarce(disk, falls_by);
  if (!until_scarce || *until_scarce / 4 >= longest_pause)
    return longest_pause;
  return std::max(
      std::chrono::duration_cast<std::chrono::milliseconds>(*until_scarce / 4),
      shortest_pause);
}

} // namespace clade
