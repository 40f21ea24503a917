#pragma once

#include "engine/training/asked/training_params.hpp"

#include <span>
#include <string_view>

namespace clade {

enum class optimiser_kind : std::uint8_t { sgd, adam, adamw, muon };
enum class schedule_kind : std::uint8_t { constant, cosine, step, one_cycle };

/// "sgd", "adam", "adamw", "muon"
[[nodiscard]] const char* to_text(optimiser_kind o);

/// How one candidate is trained: its genome's hyperparameters, and the experiment's
/// `[training]` for what the search space leaves out.
struct recipe {
  optimiser_kind optimiser = optimiser_kind::adam;
  schedule_kind schedule = schedule_kind::cosine;
  double learning_rate = 1e-3; ///< At the start, or after the warm-up.
  double warmup = 0;           ///< Share of the steps in which the rate rises to it.
  /// SGD's and Muon's, in Nesterov's form; the first beta of Adam and AdamW.
  double momentum = 0.9;
  /// The decay of weights; biases and normalisations are left alone.
  double weight_decay = 1e-4;
  std::int64_t batch_size = 64;
  double label_smoothing = 0; ///< Share of the target that is spread over all classes.
  std::int64_t shift = 0;     ///< Images are moved by up to so many pixels either way.
  bool flip = false;          ///< Images are mirrored left to right by an even chance.
  /// Images are turned by up to so many degrees either way.
  double rotation = 0;
  double zoom = 0; ///< Images are made larger or smaller by up to this share.
  /// The contrast of each channel is changed by up to this share, and its brightness by up
  /// to this share of the whole scale.
  double color = 0;
  std::int64_t cutout = 0; ///< Side of a square that each image loses; 0: none.
  /// Sequences are moved by up to this share of their steps either way.
  double time_shift = 0;
  /// Sequences are multiplied by a factor from 1 - this to 1 + this.
  double scaling = 0;
  /// A part of a sequence, shorter by up to this share, is stretched to the whole.
  double slice = 0;
  double jitter = 0; ///< The deviation of the noise that each value of a sequence gets.
  double mixup = 0;  ///< Alpha of the Beta distribution that mixes examples; 0: none.
  /// Gradients whose norm, over all parameters, is above this are scaled down to it; 0:
  /// never.
  double gradient_clip = 0;
  /// Decay of the exponential average of the weights, which is what is validated and
  /// kept; 0: there is none, and the weights of the last step are.
  double ema = 0;
  /// The chance with which training leaves out the last residual branch for an example;
  /// it is the smaller the earlier a branch comes. 0: all branches stay.
  double stochastic_depth = 0;
  /// Devices that share each batch; of all of them are the batch and the rate above.
  std::uint32_t devices = 1;
  /// They divide the network's state, so that together they have one.
  bool divides_state = false;
};

/// A hyperparameter that is read, and what the reference says of it.
struct hyperparameter_entry {
  std::string_view name;
  std::string_view sentence;
};

/// The hyperparameters that are read. A search space that names another one is an error,
/// since it would search where nothing changes.
[[nodiscard]] std::span<const hyperparameter_entry> hyperparameters();
/// The one of that name, or nullptr.
[[nodiscard]] const hyperparameter_entry* find_hyperparameter(std::string_view name);

/// Says which value is out of range, or of the wrong type. If synchronous devices share a
/// training, the batch is that of all of them, and so is the learning rate, unless the
/// experiment says otherwise: it is as many times higher, and reached by a warm-up (Goyal
/// et al., "Accurate, Large Minibatch SGD", 2017).
[[nodiscard]] expected<recipe> recipe_of(const training_params& defaults,
                                         const std::vector<setting>& hyperparameters);

/// The rate for a step, given the share of all steps that lie before it, in [0, 1):
/// constant; cosine, from the whole rate to 0 (Loshchilov and Hutter, 2017); or steps, a
/// tenth of it after one half and a hundredth after three quarters. During the warm-up it
/// rises in a line from a 25th of the rate, and the schedule is laid over the rest of the
/// steps; one_cycle (Smith, 2018) is cosine with a warm-up, of 0.3 unless the recipe has
/// another.
[[nodiscard]] double learning_rate_at(const recipe& r, double done);

/// Tensors of its own size that training keeps for each parameter beside it and its
/// gradient, at most: the optimiser's, the average of weights, and all of the other
/// replicas'.
[[nodiscard]] std::uint64_t state_copies(const recipe& r);

} // namespace clade
