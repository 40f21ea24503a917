#pragma once

#include "engine/export/model/model.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// The work that takes LibTorch: it lies in a module of its own beside the binary, so
/// that nothing else pays for it (as with engine/training/asked/training_params.hpp). On the
/// CPU.
class torch_work {
public:
  virtual ~torch_work() = default;

  /// Returns the outputs of the network that Clade trained for examples [count,
  /// shape...], as the data was prepared for training: logits or standardised targets,
  /// [count, outputs].
  [[nodiscard]] virtual expected<std::vector<float>>
  outputs(const network& n, std::span<const weight_tensor> weights,
          std::span<const float> examples) = 0;

  /// Compiles the source (torchscript_source.hpp) over the model's weights. Returns the
  /// bytes of the module's file.
  [[nodiscard]] virtual expected<std::string> torchscript(const exported_model& m) = 0;
};

[[nodiscard]] std::unique_ptr<torch_work> make_torch_work();

/// Opens the module and makes one; an error says what is missing.
[[nodiscard]] expected<std::unique_ptr<torch_work>>
load_torch_work(const std::filesystem::path& module);

/// The contract on which both sides of the module's door must agree
/// (engine/training/final/module.hpp).
struct torch_work_contract {
  std::uint32_t version = 4;
  std::size_t model_bytes = sizeof(exported_model);
  std::size_t network_bytes = sizeof(network);

  friend bool operator==(const torch_work_contract&,
                         const torch_work_contract&) = default;
};

inline constexpr const char* torch_work_symbol = "clade_make_torch_work";

/// The function that the module exports under that name. False: of another build, and
/// nothing made.
using make_torch_work_function = bool (*)(const torch_work_contract& contract,
                                          std::unique_ptr<torch_work>& made);

} // namespace clade
