#include "engine/store/sqlite/store_file.hpp"

#include "engine/store/sqlite/disk.hpp"
#include "genome/base/unique_fd.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

namespace clade {

void make_for_owner_alone(const std::filesystem::path& file) {
  const unique_fd made(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

expected<void> keep_from_others(const std::filesystem::path& file) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal", ".lock"}) {
    auto one = file;
    one += suffix;
    struct stat is {};
    if (::stat(one.c_str(), &is) == 0 && (is.st_mode & 077) != 0
        && ::chmod(one.c_str(), 0600) != 0)
      return disk_error(one, "be kept from others", last_error());
  }
  return {};
}

expected<void> check_one_name(const std::filesystem::path& file) {
  struct stat is {};
  if (::stat(file.c_str(), &is) != 0 || is.st_nlink <= 1)
    return {};
  const auto name = file.string(), alone = name + ".alone";
  return fail(
      error_kind::conflict,
      fmt::format(
          "{}: has another name too (a hard link), by which somebody else may write to "
          "it; remove that, or make this one a file of its own: cp {} {} && mv {} {}",
          name, name, alone, alone, name));
}

std::optional<file_identity> identity_of(const std::filesystem::path& file) {
  struct stat is {};
  if (::stat(file.c_str(), &is) != 0)
    return std::nullopt;
  return file_identity{.device = is.st_dev, .inode = is.st_ino};
}

bool is_replaced(const std::filesystem::path& file,
                 const std::optional<file_identity>& was) {
  const auto now = identity_of(file);
  return now ? now != was : errno == ENOENT || errno == ENOTDIR;
}

} // namespace clade
