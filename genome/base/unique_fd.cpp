#include "genome/base/unique_fd.hpp"

#include <sys/mman.h>

namespace clade {

int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR)
      return errno;
    bytes.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  return 0;
}

unique_fd memory_file(std::string_view content) {
  unique_fd file(::memfd_create("clade", MFD_CLOEXEC));
  if (file
      && (write_all(file.get(), content) != 0 || ::lseek(file.get(), 0, SEEK_SET) != 0))
    file.reset();
  return file;
}

} // namespace clade
