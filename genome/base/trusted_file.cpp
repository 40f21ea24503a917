#include "genome/base/trusted_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace clade {

expected<void> check_trusted(const std::filesystem::path& path, const file_trust& trust) {
  const auto name = path.string();
  struct stat is {};
  if (::stat(path.c_str(), &is) != 0)
    return fail(error_kind::not_found, fmt::format("{}: {}", name, std::strerror(errno)));
  if (is.st_uid != ::geteuid() && is.st_uid != 0 && is.st_uid != trust.also)
    return fail(error_kind::invalid_input,
                fmt::format("{} belongs to user {}, who may change it at any time: use "
                            "one of your own, or as root: chown {} {}",
                            name, is.st_uid, ::geteuid(), name));
  const bool own_group = S_ISDIR(is.st_mode) && is.st_gid == ::getegid();
  const mode_t writers = own_group ? S_IWOTH : S_IWGRP | S_IWOTH;
  if ((is.st_mode & writers) != 0)
    return fail(error_kind::invalid_input,
                fmt::format("{} may be changed by others: chmod go-w {}", name, name));
  const mode_t readers =
      trust.group_of_root && is.st_uid == 0 ? S_IROTH : S_IRGRP | S_IROTH;
  if (trust.secret && (is.st_mode & readers) != 0)
    return fail(error_kind::invalid_input,
                fmt::format("{} may be read by others: chmod 600 {}", name, name));
  return {};
}

std::optional<uid_t> owner_of(const std::filesystem::path& path) {
  struct stat is {};
  return ::stat(path.c_str(), &is) == 0 ? std::optional(is.st_uid) : std::nullopt;
}

} // namespace clade
