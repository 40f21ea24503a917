#pragma once

#include "genome/base/error.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace clade {

/// LibTorch, as it was built.
struct torch_build {
  std::string version; ///< "2.13.0"
  std::string cuda;    ///< That it is for, "13.0"; empty: it is for the CPU alone.
};

/// Products of matrices on one device, to see whether LibTorch computes there, and how
/// fast. The matrices hold whole numbers so small that no device rounds.
class device_work {
public:
  static constexpr std::int64_t side = 512; ///< The side of the square matrices.
  /// The operations of a product.
  static constexpr double operations = 2.0 * side * side * side;

  virtual ~device_work() = default;

  /// Multiplies so many times. Blocks until the device is done. An error: it cannot, or
  /// the last product is wrong.
  [[nodiscard]] virtual expected<void> multiply(unsigned times) = 0;
};

/// "cpu" or "cuda:0"; no device is touched yet.
[[nodiscard]] std::unique_ptr<device_work> make_device_work(const std::string& device);
[[nodiscard]] torch_build built_torch();

struct loaded_device_work {
  torch_build build;
  std::unique_ptr<device_work> work;
};

/// Opens the training module (training_params.hpp) and makes one. LibTorch reads the
/// number of its threads from the environment at this moment.
[[nodiscard]] expected<loaded_device_work>
load_device_work(const std::filesystem::path& module, const std::string& device);

inline constexpr const char* device_work_symbol = "clade_make_device_work";

/// The function that the module exports under that name; like `make_training_function`.
using make_device_work_function = bool (*)(std::uint32_t version,
                                           const std::string& device,
                                           loaded_device_work& made);

} // namespace clade
