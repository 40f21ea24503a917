#include "engine/training/arithmetic.hpp"

#include <cstdlib>

namespace clade {

namespace {

bool has_avx2() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#else
  return false;
#endif
}

} // namespace

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
