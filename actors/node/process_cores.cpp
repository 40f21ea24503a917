#include "actors/node/process_cores.hpp"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace clade {

// Machines have more cores than a cpu_set_t has room for.
expected<void> use_cores_of_parent() {
  constexpr int most_cores = 1 << 14;
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> cores(
      CPU_ALLOC(most_cores), [](cpu_set_t* set) { CPU_FREE(set); });
  const auto bytes = CPU_ALLOC_SIZE(most_cores);
  if (cores == nullptr || ::sched_getaffinity(::getppid(), bytes, cores.get()) != 0
      || ::sched_setaffinity(0, bytes, cores.get()) != 0)
    return fail(error_kind::io, std::string("cannot use the cores of several slots: ")
                                    + std::strerror(errno));
  return {};
}

} // namespace clade
