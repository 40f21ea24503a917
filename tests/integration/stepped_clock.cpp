// Preloaded into processes, it moves their wall clock, and nothing else: by the
// nanoseconds that the file CLADE_TEST_CLOCK has now. A call that waits until a time of
// the wall clock, which the kernel does not see moved, waits too long by as much.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr std::int64_t second = 1'000'000'000;

std::int64_t offset() {
  static const auto* file = []() -> const std::atomic<std::int64_t>* {
    const char* path = std::getenv("CLADE_TEST_CLOCK");
    const int descriptor = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC);
    void* at = descriptor < 0 ? MAP_FAILED
                              : ::mmap(nullptr, sizeof(std::int64_t), PROT_READ,
                                       MAP_SHARED, descriptor, 0);
    return at == MAP_FAILED ? nullptr : static_cast<std::atomic<std::int64_t>*>(at);
  }();
  return file == nullptr ? 0 : file->load();
}

timespec moved(timespec t) {
  const auto all = t.tv_sec * second + t.tv_nsec + offset();
  return {.tv_sec = all / second, .tv_nsec = all % second};
}

} // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* out) noexcept {
  static const auto real =
      reinterpret_cast<int (*)(clockid_t, timespec*)>(dlsym(RTLD_NEXT, "clock_gettime"));
  const int done = real(clock, out);
  if (done == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    *out = moved(*out);
  return done;
}

int gettimeofday(timeval* out, void*) noexcept {
  timespec now{};
  const int done = clock_gettime(CLOCK_REALTIME, &now);
  *out = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return done;
}

time_t time(time_t* out) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr)
    *out = now.tv_sec;
  return now.tv_sec;
}

} // extern "C"
