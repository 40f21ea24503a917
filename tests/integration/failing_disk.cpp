// Preloaded into a clade process, it makes the disk under a run's store fail: from the
// CLADE_TEST_FAIL_AT-th call of the kind CLADE_TEST_FAIL ("write" or "sync") on a file
// that is the store or its log, each such call fails with EIO.
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

bool is_of_store(int descriptor) {
  char name[4096];
  const auto link = "/proc/self/fd/" + std::to_string(descriptor);
  const auto size = readlink(link.c_str(), name, sizeof name);
  if (size <= 0)
    return false;
  const std::string path(name, static_cast<std::size_t>(size));
  const auto file = path.substr(path.rfind('/') + 1);
  return file == "run.db" || file == "run.db-wal";
}

bool fails(const char* kind, int descriptor) {
  static const char* failing = std::getenv("CLADE_TEST_FAIL");
  static const char* first = std::getenv("CLADE_TEST_FAIL_AT");
  static std::atomic<long> calls = 0;
  if (failing == nullptr || first == nullptr || std::strcmp(failing, kind) != 0
      || !is_of_store(descriptor))
    return false;
  if (++calls < std::atol(first))
    return false;
  errno = EIO;
  return true;
}

} // namespace

extern "C" {

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
