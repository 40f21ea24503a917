// Preloaded into a clade process, it makes the disk under some files fail: from the
// CLADE_TEST_FAIL_AT-th call of the kind CLADE_TEST_FAIL ("write" or "sync") on one of
// them, each such call fails. They are the run's store and its log, with EIO; where
// CLADE_TEST_FAIL_OF is "positions", the files in which trainings keep their positions,
// with ENOSPC.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

template<class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool is_position(const std::string& path, const std::string& file) {
  const std::string nameless = " (deleted)";
  return path.find("/positions/") != std::string::npos
         || (file.rfind("clade-", 0) == 0 && file.size() > nameless.size()
             && file.compare(file.size() - nameless.size(), nameless.size(), nameless)
                    == 0);
}

bool is_meant(int descriptor, bool positions) {
  char name[4096];
  const auto link = "/proc/self/fd/" + std::to_string(descriptor);
  const auto size = readlink(link.c_str(), name, sizeof name);
  if (size <= 0)
    return false;
  const std::string path(name, static_cast<std::size_t>(size));
  const auto file = path.substr(path.rfind('/') + 1);
  return positions ? is_position(path, file) : file == "run.db" || file == "run.db-wal";
}

bool fails(const char* kind, int descriptor) {
  static const char* failing = std::getenv("CLADE_TEST_FAIL");
  static const char* first = std::getenv("CLADE_TEST_FAIL_AT");
  static const char* of = std::getenv("CLADE_TEST_FAIL_OF");
  static const bool positions = of != nullptr && std::strcmp(of, "positions") == 0;
  static std::atomic<long> calls = 0;
  if (failing == nullptr || first == nullptr || std::strcmp(failing, kind) != 0
      || !is_meant(descriptor, positions))
    return false;
  if (++calls < std::atol(first))
    return false;
  errno = positions ? ENOSPC : EIO;
  return true;
}

} // namespace

extern "C" {

ssize_t write(int descriptor, const void* data, size_t size) {
  static const auto real = next<decltype(&write)>("write");
  return fails("write", descriptor) ? -1 : real(descriptor, data, size);
}

ssize_t pwrite(int descriptor, const void* data, size_t size, off_t at) {
  static const auto real = next<decltype(&pwrite)>("pwrite");
  return fails("write", descriptor) ? -1 : real(descriptor, data, size, at);
}

ssize_t pwrite64(int descriptor, const void* data, size_t size, off64_t at) {
  static const auto real = next<decltype(&pwrite64)>("pwrite64");
  return fails("write", descriptor) ? -1 : real(descriptor, data, size, at);
}

int fsync(int descriptor) {
  static const auto real = next<decltype(&fsync)>("fsync");
  return fails("sync", descriptor) ? -1 : real(descriptor);
}

int fdatasync(int descriptor) {
  static const auto real = next<decltype(&fdatasync)>("fdatasync");
  return fails("sync", descriptor) ? -1 : real(descriptor);
}
}
