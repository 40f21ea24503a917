#pragma once

#include "engine/search/core/zero_cost.hpp"
#include "engine/training/asked/training_params.hpp"
#include "engine/training/network/device_data.hpp"
#include "search_spaces/operators/network.hpp"

namespace clade {

/// Scores of a network with its seeded initial weights: what some passes of one batch
/// say about it before any training. N examples of the shape [N, shape...].
///
/// synflow    log of  sum over weights w of  w dR/dw,   R = 1' f(1; |w|),
///            of one example that is all ones, with every weight at its absolute value,
///            biases 0 and normalisations and dropout left out; in double precision.
///            Weights are tensors of two dimensions and more. In a chain of linear layers
///            R is the l1 norm of its product, and the sum is R times the layers.
///            (Tanaka, Kunin, Yamins and Ganguli, "Pruning neural networks without any
///            data by iteratively conserving synaptic flow", NeurIPS 2020)
/// jacob_cov  -sum over eigenvalues e of C of  log(e + k) + 1 / (e + k),   k = 1e-5,
///            where C [N, N] holds the correlations of the rows of J [N, inputs], and row
///            i is the gradient of the sum of all outputs for example i with respect to
///            its features. The closer to 0 correlations are, the higher: at most -N.
///            (Mellor, Turner, Storkey and Crowley, "Neural architecture search without
///            training", first version, arXiv 2006.04647v1, 2020)
/// grad_norm  the Euclidean norm of the gradient, with respect to all parameters, of the
///            mean loss of the batch: that of training, of
///            standardised targets.
///
/// All as in Abdelfattah, Mehrotra, Dudziak and Lane, "Zero-cost proxies for lightweight
/// NAS", ICLR 2021. For the latter two, batches are normalised as in training, and
/// nothing is dropped.
///
/// Their worth was measured on 123 random networks of search_spaces/image.toml trained on
/// the digits for 8 epochs: the rank correlation (Spearman's, 95 % interval) with
/// validation accuracy is .47 (.32 to .59) for synflow, .46 (.31 to .59) for jacob_cov
/// and .49 (.34 to .61) for grad_norm, where the count of parameters has .59 (.46 to
/// .69); within the better half .09, .28 and .07 (.19). A network takes 7 ms of a core.
///
/// Little is to be expected of them in two cases: a linear map has dependent gradients
/// (jacob_cov is about -N / k), and functions that saturate flow to nothing (synflow is
/// then absent).
///
/// The same bits for the same arguments, build, processor and number of threads.
/// LibTorch's exceptions pass through.
[[nodiscard]] zero_cost_scores score_untrained(const network& n, const training_key& key,
                                               const batch& examples, loss_kind loss,
                                               const at::Tensor& quantiles = {});

/// How many examples are measured with: drawn from the training part by the seed, the
/// same for all networks of a run; all where there are fewer.
inline constexpr std::int64_t zero_cost_examples = 32;

/// A network for which that takes more than so many multiply-adds (some seconds of a
/// core) or bytes is given no scores, so that none holds up a search.
inline constexpr double most_zero_cost_work = 2e10;
inline constexpr std::uint64_t most_zero_cost_bytes = std::uint64_t{1} << 30;

/// Measures on the processor, one thread for each that asks; a network that cannot be
/// measured has no scores. Reads the data, of which it keeps the examples alone; an error
/// if it cannot.
[[nodiscard]] expected<std::unique_ptr<zero_cost_scorer>>
make_zero_cost_scorer(const training_setup& setup);

} // namespace clade
