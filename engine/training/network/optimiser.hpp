#pragma once

#include "engine/training/asked/recipe.hpp"

#include <ATen/core/Tensor.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace clade {

/// Changes parameters by their gradients: SGD with Nesterov's momentum (Sutskever et al.,
/// 2013), Adam (Kingma and Ba, 2015), AdamW (Loshchilov and Hutter, 2019), Muon
/// (orthogonal_steps.hpp) for all weights but the last, the output layer's, with AdamW for
/// the rest. One fused kernel call for each group of parameters but Muon's, since tiny
/// networks spend their time in calls.
class optimiser {
public:
  /// `parameters` share storage with the network's and want gradients. With
  /// `scales_loss`, for a forward pass in float16, gradients are those of `scaled(loss)`:
  /// a step whose gradients are too large for float16 changes nothing and halves the
  /// scale, which doubles after 2,000 steps without one (Micikevicius et al., "Mixed
  /// Precision Training", ICLR 2018).
  optimiser(const recipe& r, const std::vector<at::Tensor>& parameters,
            bool scales_loss = false);

  /// Makes it for parts of parameters, rows of values, which Muon cannot change; `decays`:
  /// which of them are of weights, which decay.
  optimiser(const recipe& r, const std::vector<at::Tensor>& parts,
            const std::vector<bool>& decays);

  /// Returns what to take gradients of: the loss, times the scale where there is one.
  [[nodiscard]] at::Tensor scaled(const at::Tensor& loss) const;

  /// One step down the gradients of all parameters, which are dropped. `norm`: that of all
  /// gradients together, where others have some of them; undefined: it has them all.
  void step(double learning_rate, const at::Tensor& norm = {});

  /// How many steps it has made.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// Returns the values that it keeps for parameters, group by group: all first moments,
  /// then all second ones, of which Muon's weights have none; and if it scales losses, the
  /// state of that. They share storage with its own.
  [[nodiscard]] std::vector<at::Tensor> moments() const;
  /// Returns the moment of one parameter, by its place among those that it was made for;
  /// undefined if it keeps none.
  [[nodiscard]] at::Tensor first_moment(std::size_t parameter) const;
  [[nodiscard]] at::Tensor second_moment(std::size_t parameter) const;
  /// Goes on as after so many steps, whose moments were written into `moments()`.
  void go_on_after(std::uint64_t steps);

  /// Returns the parameter to which each moment in `moments` belongs. Not of losses'
  /// scale, and not of Muon.
  [[nodiscard]] static std::vector<std::size_t>
  parameters_of_moments(const recipe& r, std::span<const at::Tensor> parameters);

private:
  struct group {
    optimiser_kind kind = optimiser_kind::sgd;
    double weight_decay = 0;
    std::vector<at::Tensor> parameters;
    /// The beginning of each parameter in a row of all, those of the other group too.
    std::vector<std::int64_t> begins;
    std::vector<at::Tensor> first;  ///< Momentum, or the mean of gradients.
    std::vector<at::Tensor> second; ///< The mean of their squares; Adam's and AdamW's.
    std::vector<at::Tensor> steps;  ///< All one and the same tensor.
  };

  using tensors = std::vector<at::Tensor>;

  optimiser(const recipe& r, const std::vector<at::Tensor>& parameters,
            const std::vector<std::size_t>& group_of);

  /// Divides gradients by the scale; returns 1 where one of them is not finite, else 0.
  at::Tensor unscale(std::vector<tensors>& gradients) const;
  void change_scale(const at::Tensor& overflowed);
  [[nodiscard]] at::Tensor norm_of(const std::vector<tensors>& gradients) const;
  void clip(std::vector<tensors>& gradients, const at::Tensor& norm) const;
  void update(group& g, const tensors& gradients, double learning_rate,
              const std::optional<at::Tensor>& overflowed);

  double momentum_;
  double gradient_clip_;
  std::uint32_t devices_;
  std::int64_t elements_ = 0;
  std::uint64_t steps_ = 0;
  at::Tensor step_;  ///< The same as `steps_`, less the steps that changed nothing.
  at::Tensor scale_; ///< Undefined where losses are not scaled.
  at::Tensor steps_at_scale_;
  std::vector<group> groups_;
  /// The group and the place in it of each parameter.
  std::vector<std::pair<std::size_t, std::size_t>> places_;
};

/// Which moments an optimiser keeps for each parameter.
struct kept_moments {
  bool first = false, second = false;
};
/// `r` has another one than Muon.
[[nodiscard]] kept_moments moments_of(const recipe& r);

/// The norms of parts of tensors, one by one, as the norm of all gradients is made of
/// them: where k devices share a training, each tensor is cut where a row of all tensors
/// is cut into k chunks (ordered_sum.hpp), so that whoever has a chunk has its norms.
[[nodiscard]] std::vector<at::Tensor> norms_of(const std::vector<at::Tensor>& parts);

/// Elements of a tensor, from `begin` in it, that lie in one chunk of a row of all tensors.
struct cut_part {
  std::int64_t begin = 0, size = 0;
  std::size_t chunk = 0;
};

/// How a tensor that is [begin, end) of a row of so many elements is cut where the row is
/// cut into chunks.
[[nodiscard]] std::vector<cut_part> cut_by_chunks(std::int64_t begin, std::int64_t end,
                                                  std::int64_t elements,
                                                  std::int64_t chunks);

/// The numbers of parameters in the order in which the optimiser goes through them.
[[nodiscard]] std::vector<std::size_t>
order_of_groups(std::span<const at::Tensor> parameters);

/// Returns the factor for gradients of this norm, so that it is at most `limit`.
[[nodiscard]] at::Tensor clip_scale(const at::Tensor& norm, double limit);

} // namespace clade
