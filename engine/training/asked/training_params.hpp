#pragma once

#include "engine/data/reading/data_set.hpp"
#include "engine/evaluation/fitness_function.hpp"
#include "engine/search/core/zero_cost.hpp"
#include "engine/training/asked/arithmetic.hpp"
#include "engine/training/asked/class_weights.hpp"
#include "engine/training/asked/distribution.hpp"
#include "search_spaces/operators/search_space.hpp"

#include <filesystem>
#include <string_view>

namespace clade {

/// The order in which the values of images lie in memory.
enum class memory_format : std::uint8_t { contiguous, channels_last };

/// The format with which the forward pass of a training computes, where that is safe;
/// weights, steps and evaluation are float32 in each.
enum class float_format : std::uint8_t { float32, bfloat16, float16 };

/// `[training]` of an experiment: what is the same for every candidate. Learning rate,
/// momentum, weight decay, batch size, optimiser, schedule and augmentation are
/// hyperparameters of the genome where the search space names them; these are the values
/// where it does not.
struct training_params {
  std::uint32_t epochs = 15;
  /// Stop when validation loss has not improved for so many epochs; 0: never.
  std::uint32_t patience = 5;
  std::string optimiser = "adam";  ///< "sgd", "adam", "adamw", "muon"
  std::string schedule = "cosine"; ///< "constant", "cosine", "step", "one_cycle"
  double learning_rate = 1e-3;
  double warmup = 0; ///< This and those below `batch_size` are off at 0; see recipe.hpp.
  double momentum = 0.9;
  double weight_decay = 1e-4;
  std::int64_t batch_size = 64;
  std::int64_t cutout = 0;
  bool flip = false; ///< Images are mirrored left to right by an even chance.
  double mixup = 0;
  double gradient_clip = 0;
  double ema = 0;
  /// Convolutions on processors are faster with channels_last, and round differently.
  clade::memory_format memory_format = clade::memory_format::contiguous;
  /// Faster on devices that have units for it; float16 is for CUDA alone.
  clade::float_format precision = clade::float_format::float32;
  clade::arithmetic arithmetic = clade::arithmetic::native;
  distribution_params distribution{};
  /// How often a training keeps where it stands on the disk of its machine, from where it
  /// goes on if its process is lost.
  std::chrono::milliseconds checkpoint_every{60'000};
  /// For classes that are rare, or whose errors are worse than others'.
  clade::class_weights class_weights{};
  /// Metrics that every epoch records beside the usual ones and those that the objective
  /// asks for: "auc" or "validation.auc", and "train.auc" of the training part.
  std::vector<std::string> metrics{};
};

[[nodiscard]] expected<void> validate(const training_params& params);

/// Says what of the params the device ("cpu" or "cuda:0") of this machine cannot do.
[[nodiscard]] expected<void> check_device(const training_params& params,
                                          std::string_view device);

/// All that a trainer needs to know.
struct training_setup {
  training_params training;
  data_params data;
  search_space space;
  objective goal;
  std::uint64_t seed = 0;
  std::string device = "cpu"; ///< "cpu" or "cuda:0"
  bool branches = false;      ///< Evaluations are to have `evaluation::branches`.
};

/// LibTorch costs every process that links it 0.2 s and 100 MB at start, so it stays in
/// one module beside the binary, which node processes alone load. This opens it and makes
/// the fitness function; an error says what is missing. The module exports
/// `clade_make_training`.
[[nodiscard]] expected<std::unique_ptr<fitness_function>>
load_training(const std::filesystem::path& module, const training_setup& setup);

/// The same of what measures networks before their training (zero_cost.hpp). It loads
/// LibTorch into the calling process, and reads the data. The module exports
/// `clade_make_zero_cost_scorer`.
[[nodiscard]] expected<std::unique_ptr<zero_cost_scorer>>
load_zero_cost_scorer(const std::filesystem::path& module, const training_setup& setup);

/// Whether that module is there; an error says what to do.
[[nodiscard]] expected<void> find_training(const std::filesystem::path& module);

} // namespace clade
