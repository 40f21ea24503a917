#include "engine/store/sqlite/disk.hpp"

#include "genome/base/unique_fd.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

namespace clade {

tl::unexpected<error> disk_error(const std::filesystem::path& file,
                                 const std::string& what, const std::error_code& why) {
  return fail(error_kind::io,
              fmt::format("{}: cannot {}: {}", file.string(), what, why.message()));
}

std::error_code last_error() {
  return {errno, std::system_category()};
}

expected<void> sync_folder(const std::filesystem::path& folder) {
  const unique_fd descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor || ::fsync(descriptor.get()) != 0)
    return disk_error(folder, "be written", last_error());
  return {};
}

} // namespace clade
