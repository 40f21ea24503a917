#include "tools/machine/process_limits.hpp"

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
    return fail(error_kind::io, "a process may have " + std::to_string(files.rlim_cur)
                                    + " open files here, which is too few; allow more: "
                                      "ulimit -n 1024");
  if (::getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur < least_address_space)
    return fail(error_kind::io,
                "a process may have " + std::to_string(memory.rlim_cur >> 20)
                    + " MiB of address space here, which is too little even without "
                      "training; allow more: ulimit -v unlimited");
  return {};
}

} // namespace clade
