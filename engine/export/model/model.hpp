#pragma once

#include "engine/data/reading/preprocessing.hpp"
#include "engine/program/write/writer.hpp"
#include "engine/run/records/test_details.hpp"
#include "engine/search/core/candidate.hpp"
#include "engine/training/weights/weights.hpp"
#include "search_spaces/operators/mixture.hpp"
#include "search_spaces/operators/network.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace clade {

/// A tensor as the run has it.
struct run_tensor {
  std::string name; ///< "n3f2a1.weight"
  tensor_index index = 0;
};

/// The further parts that a file must hold for `clade predict` to need nothing beside it
/// (model_file.hpp).
struct model_origin {
  /// The genes of one network; an ensemble has none: those of its members count.
  genome genes;
  /// The members of an ensemble; one network has none.
  std::vector<mixture_member> members{};
  std::string search_space; ///< `to_toml` of it.
  /// The settings by which data files are read: `header`, `array`, `target`, and those of
  /// tables of series.
  data_params reading{};
  /// The errors of a regression's champion, for intervals (predictions.hpp); else empty.
  error_quantiles errors{};
};

/// A trained network and all that it takes to apply it to raw data: what every format is
/// written from.
struct exported_model {
  std::string run;      ///< Its folder's name; empty before its training.
  candidate_id id = 0;  ///< 0: a model that was put together.
  bool interim = false; ///< Its run was under way.
  std::vector<metric> metrics;
  std::string drawing; ///< The network for people, lines.
  preprocessing how;
  /// Topological; the input first, the output last. Their tensors are indices into
  /// `weights`.
  std::vector<program_step> steps;
  std::vector<weight_tensor> weights;  ///< Named "step.weight", "step.running_mean", ...
  std::vector<run_tensor> run_tensors; ///< The same, in the run's order.
  std::optional<model_origin> origin;  ///< None: nothing can be predicted from its file.

  [[nodiscard]] std::int64_t outputs() const { return steps.back().out.sizes.front(); }
};

/// Lowers a network and gives each step its weights. An error of kind corrupt names the
/// first that is missing, left over or of another shape.
[[nodiscard]] expected<exported_model>
export_network(const network& n, std::span<const weight_tensor> weights);

/// Returns how an ensemble mixes its members' outputs for a task; `bounded`: no
/// probability is below a least one.
[[nodiscard]] mixed_answers mixed_for(const learning_task& task, bool bounded);

/// The names of the columns; empty where they have none.
[[nodiscard]] std::vector<std::string> names_of(const preprocessing& how);

/// "#231 of digits-20260131-140500: validation.accuracy 0.98"
[[nodiscard]] std::string title_of(const exported_model& m);

/// A step as writers take it: what enters it is among the values of all steps before it or,
/// of the input, `examples`.
[[nodiscard]] written_step written(const exported_model& m, const program_step& s,
                                   std::span<const std::string> values = {},
                                   const std::string& examples = {});

} // namespace clade
