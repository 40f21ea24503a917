#include "tools/queue/head/queue_disk.hpp"

#include "engine/evaluation/process/process_table.hpp"
#include "engine/report/base/format.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

namespace clade {

namespace {

constexpr std::uint64_t stat_block_bytes = 512; ///< In which stat counts.

} // namespace

expected<void> check_room(const std::filesystem::path& folder) {
  struct statvfs space {};
  if (::statvfs(folder.c_str(), &space) != 0)
    return fail(error_kind::io,
                folder.string() + ": cannot be looked at: " + std::strerror(errno));
  // Space that only root may use is there for a server of root's.
  const auto blocks = ::geteuid() == 0 ? space.f_bfree : space.f_bavail;
  const auto bytes = static_cast<std::uint64_t>(blocks) * space.f_frsize;
  const bool has_files = space.f_files == 0 || space.f_ffree > 0;
  if (bytes >= least_room_bytes && has_files)
    return {};
  return fail(error_kind::io,
              folder.string() + ": the disk is full ("
                  + (has_files ? size_text(bytes) + " free" : "no place for a file")
                  + "); nothing is taken and nothing begins until there is room");
}

std::uint64_t bytes_being_written(pid_t root, const std::filesystem::path& folder) {
  struct stat disk {};
  if (::stat(folder.c_str(), &disk) != 0)
    return 0;
  std::map<ino_t, std::uint64_t> files;
  for (const auto& process : below(root, read_processes()))
    for (const auto& one : files_written_by(process.id)) {
      struct stat file {};
      if (::stat(one.c_str(), &file) == 0 && S_ISREG(file.st_mode)
          && file.st_dev == disk.st_dev)
        files[file.st_ino] =
            static_cast<std::uint64_t>(file.st_blocks) * stat_block_bytes;
    }
  std::uint64_t sum = 0;
  for (const auto& [_, bytes] : files)
    sum += bytes;
  return sum;
}

} // namespace clade
