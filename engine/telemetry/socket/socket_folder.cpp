#include "engine/telemetry/socket/socket_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace clade {

expected<socket_folder> socket_folder::open(const std::filesystem::path& folder,
                                            bool make) {
  const auto failed = [&](const char* what) {
    return fail(errno == ENOENT ? error_kind::not_found : error_kind::io,
                fmt::format("{}: {}: {}", folder.string(), what, std::strerror(errno)));
  };
  if (make && ::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return failed("cannot be made");
  if (make && ::chmod(folder.c_str(), 0700) != 0)
    return failed("cannot be kept from others");
  unique_fd descriptor(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor)
    return failed("cannot be opened");
  return socket_folder(std::move(descriptor));
}

std::string socket_folder::address(const std::string& socket) const {
  return fmt::format("ipc:///proc/self/fd/{}/{}", descriptor_.get(), socket);
}

} // namespace clade
