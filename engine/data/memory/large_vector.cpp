// Pages of a file are written to it when memory gets short, where those of no file would
// have to stay. The file's blocks are taken at once: a write to a page that the disk has
// no room for would end the process.

#include "engine/data/memory/large_vector.hpp"

#include "engine/data/memory/cache_folder.hpp"
#include "genome/base/unique_fd.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <limits>

namespace clade {
namespace {

unique_fd file_without_name() {
  const auto folder = users_cache_folder();
  if (folder.empty() || !make_cache_folder(folder))
    return {};
  unique_fd file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file)
    return file;
  // Some file systems, such as NFS, have names for all files.
  std::string name = folder / "large.XXXXXX";
  file.reset(::mkostemp(name.data(), O_CLOEXEC));
  if (file)
    ::unlink(name.c_str());
  return file;
}

bool too_much_for_memory(std::size_t bytes) {
  const auto pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0
         && bytes / 2
                > static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) / 4;
}

void* mapped(std::size_t bytes, int flags, int file) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  return at == MAP_FAILED ? nullptr : at;
}

} // namespace

void* allocate_large(std::size_t bytes) {
  constexpr auto most = std::size_t{std::numeric_limits<off_t>::max()};
  if (const auto file = file_without_name();
      file && bytes <= most
      && ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes)) == 0)
    if (void* at = mapped(bytes, MAP_SHARED, file.get()))
      return at;
  if (too_much_for_memory(bytes))
    throw std::bad_alloc();
  if (void* at = mapped(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1))
    return at;
  throw std::bad_alloc();
}

void free_large(void* block, std::size_t bytes) {
  ::munmap(block, bytes);
}

} // namespace clade
