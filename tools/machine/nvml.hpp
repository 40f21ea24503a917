#pragma once

#include "tools/machine/devices.hpp"

#include <string>
#include <vector>

namespace clade {

/// The GPUs that this process may open, in the order of their PCI addresses, as
/// nvidia-smi counts them. Asks the driver's own management library, which is loaded for
/// the purpose. CLADE_NVML in the environment names another file than libnvidia-ml.so.1.
/// A machine without the library has no GPUs; a library that fails is an error.
[[nodiscard]] expected<std::vector<gpu>> read_gpus();

/// The latest CUDA that the driver supports, "13.0"; empty on a machine without it.
[[nodiscard]] expected<std::string> read_driver_cuda();

} // namespace clade
