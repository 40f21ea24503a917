#include "tools/machine/process_limits.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <string>

namespace clade {
namespace {

// The descriptors that a head of a small run takes, and some more.
constexpr rlim_t fewest_descriptors = 24;
constexpr rlim_t least_address_space = rlim_t{640} << 20;

} // namespace

expected<void> check_process_limits() {
  rlimit files{}, memory{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < fewest_descriptors)
    return fail(error_kind::io,
                fmt::format("a process may have {} open files here, which is too few; "
                            "allow more: ulimit -n 1024",
                            files.rlim_cur));
  if (::getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur < least_address_space)
    return fail(
        error_kind::io,
        fmt::format("a process may have {} MiB of address space here, which is too "
                    "little even without training; allow more: ulimit -v unlimited",
                    memory.rlim_cur >> 20));
  return {};
}

} // namespace clade
