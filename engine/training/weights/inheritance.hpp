#pragma once

#include "engine/training/weights/weights.hpp"
#include "genome/base/random.hpp"
#include "search_spaces/operators/network.hpp"

namespace clade {

/// The source of the weights of one layer of a child. A unit is a channel of an image or
/// a feature of a vector.
struct layer_inheritance {
  enum class origin : std::uint8_t {
    fresh,    ///< The usual initial values.
    silent,   ///< The same, but that the norm's weight, or else the weight, is 0.
    taken,    ///< The parent's layer of the same name.
    copied,   ///< The same, which is equal, and so is what enters it.
    identity, ///< It passes on what comes in: inserted.
    zero,     ///< It adds nothing yet: a new skip connection's projection.
    by_name   ///< A body: the tensors that the parent has, by name and shape; new recalls
              ///< are 0, the others have their usual initial values.
  };

  /// So much of the parent's weights for that input unit.
  struct part {
    std::int64_t unit = 0;
    double share = 1;

    friend bool operator==(const part&, const part&) = default;
  };

  std::string layer;
  origin how = origin::fresh;
  /// For each unit that comes out, the parent's (of an identity, that which it passes
  /// on); -1: new.
  std::vector<std::int64_t> units;
  /// For each unit that comes in, what it stands for; nothing: the parent had none like
  /// it.
  std::vector<std::vector<part>> inputs;
  std::vector<std::string> recalls{}; ///< The layers of a body that recall.
};

/// Weights by gene (Lamarck): what a child takes over from a parent whose network is
/// another. A layer's name is its gene, so layers of one name and operator are the same;
/// through what feeds them it is followed which input unit is which. The child computes
/// what the parent did, as far as their operators allow:
///
///   - equal layers are copied;
///   - a wider one has units twice, drawn at random, and whatever reads them divides its
///     weight among the two (Net2WiderNet; Chen, Goodfellow and Shlens, "Net2Net:
///     Accelerating Learning via Knowledge Transfer", ICLR 2016), by unequal shares, so
///     that their gradients differ and the two part ways;
///   - an inserted one is the identity (Net2DeeperNet), where it has stride 1, is as wide
///     as what enters, does not normalise by layer, and its activation leaves that as it
///     is; with norm "batch" it is that in evaluation, and normalises in training;
///   - a repetition more of a composite adds nothing yet, since its branch ends with 0; its
///     layers that are added up have the same units; one that shares its weights computes
///     with them from the start;
///   - a narrower one keeps the units of greatest norm;
///   - a kernel of another size keeps its middle, beyond which there are zeros;
///   - what a new skip connection brings has the weight 0 where it is projected or
///     concatenated;
///   - in steps over time, what has the same name and shape is copied, and a new recurrent
///     edge has the weight 0;
///   - all else has its usual initial values.
///
/// Pure: a function of its arguments.
[[nodiscard]] std::vector<layer_inheritance>
plan_inheritance(const network& child, const network& parent,
                 std::span<const weight_tensor> parents_weights, random_stream random);

/// Carries the plan out: the child's weights, named and ordered as `fresh`, its initial
/// ones. (inherited_weights.cpp)
[[nodiscard]] std::vector<weight_tensor>
inherit_weights(std::span<const layer_inheritance> plan,
                std::span<const weight_tensor> parents_weights,
                std::vector<weight_tensor> fresh);

} // namespace clade
