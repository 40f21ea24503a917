#include "engine/training/asked/arithmetic.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <fstream>

namespace clade {

namespace {

bool has_avx2() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#else
  return false;
#endif
}

/// Returns the name of the first processor on Linux; empty if the kernel does not give
/// it.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const auto at = line.find(": "); at != std::string::npos)
        return line.substr(at + 2);
  return {};
}

constexpr std::array instruction_variables{"MKL_CBWR", "ONEDNN_MAX_CPU_ISA",
                                           "ATEN_CPU_CAPABILITY"};

} // namespace

std::string processor_text() {
  std::string text = processor_name();
  for (const char* name : instruction_variables)
    if (const char* value = std::getenv(name))
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  return text;
}

// Each of them reads its own when it computes for the first time.
expected<void> enter_arithmetic(arithmetic a) {
  if (a == arithmetic::native)
    return {};
  if (!has_avx2())
    return fail(error_kind::invalid_input,
                "training.arithmetic = \"portable\" needs a processor with AVX2 and FMA, "
                "and this one has not both; take \"native\"");
  ::setenv("MKL_CBWR", "AVX2", /*overwrite=*/1);
  ::setenv("ONEDNN_MAX_CPU_ISA", "AVX2", /*overwrite=*/1);
  ::setenv("ATEN_CPU_CAPABILITY", "avx2", /*overwrite=*/1);
  return {};
}

} // namespace clade
