// Pages of a file are written to it when memory gets short, where those of no file would
// have to stay. The file's blocks are taken at once: a write to a page that the disk has
// no room for would end the process.

#include "engine/data/memory/large_vector.hpp"

#include "engine/data/memory/cache_folder.hpp"
#include "engine/data/memory/large_file.hpp"
#include "genome/base/unique_fd.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <string>

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

void* mapped(std::size_t bytes, int flags, int file, off_t offset) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, offset);
  return at == MAP_FAILED ? nullptr : at;
}

/// The files of blocks, by where these begin.
class block_files {
public:
  void keep(const void* block, unique_fd file) {
    const std::lock_guard alone(mutex_);
    files_.insert_or_assign(block, std::move(file));
  }
  void drop(const void* block) {
    const std::lock_guard alone(mutex_);
    files_.erase(block);
  }
  /// Returns another descriptor of the block's file, if it has one.
  [[nodiscard]] unique_fd find(const void* block) {
    const std::lock_guard alone(mutex_);
    const auto found = files_.find(block);
    return found == files_.end()
               ? unique_fd()
               : unique_fd(::fcntl(found->second.get(), F_DUPFD_CLOEXEC, 0));
  }

private:
  std::mutex mutex_;
  std::map<const void*, unique_fd> files_;
};

// It outlives all blocks, also those that are freed when the process ends.
block_files& files() {
  static auto& all = *new block_files;
  return all;
}

/// Gives a file without a name one that none has, and returns it; empty: it cannot be.
std::string linked(int file, const std::filesystem::path& beside) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    const auto name = fmt::format("{}.{:06}", beside.string(), ::random() % 1'000'000);
    const auto own = fmt::format("/proc/self/fd/{}", file);
    if (::linkat(AT_FDCWD, own.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0)
      return name;
    if (errno != EEXIST)
      break;
  }
  return {};
}

} // namespace

void* allocate_large(std::size_t bytes) {
  constexpr auto most =
      std::size_t{std::numeric_limits<off_t>::max()} - large_prefix_bytes;
  if (auto file = file_without_name();
      file && bytes <= most
      && ::posix_fallocate(file.get(), 0, static_cast<off_t>(large_prefix_bytes + bytes))
             == 0)
    if (void* at = mapped(bytes, MAP_SHARED, file.get(), large_prefix_bytes)) {
      files().keep(at, std::move(file));
      return at;
    }
  if (too_much_for_memory(bytes))
    throw std::bad_alloc();
  if (void* at = mapped(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    return at;
  throw std::bad_alloc();
}

void free_large(void* block, std::size_t bytes) {
  files().drop(block);
  ::munmap(block, bytes);
}

bool name_large_file(const void* block, std::size_t bytes, std::string_view prefix,
                     std::string_view suffix, const std::filesystem::path& file) {
  const auto own = files().find(block);
  if (!own || prefix.size() != large_prefix_bytes)
    return false;
  const auto name = linked(own.get(), file);
  if (name.empty())
    return false;
  const auto end = static_cast<off_t>(large_prefix_bytes + bytes);
  const bool whole =
      ::ftruncate(own.get(), end) == 0 && ::lseek(own.get(), end, SEEK_SET) == end
      && write_all(own.get(), suffix) == 0 && ::lseek(own.get(), 0, SEEK_SET) == 0
      && write_all(own.get(), prefix) == 0 && ::rename(name.c_str(), file.c_str()) == 0;
  if (!whole)
    ::unlink(name.c_str());
  return whole;
}

} // namespace clade
