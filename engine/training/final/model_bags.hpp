#pragma once

#include "engine/evaluation/composition.hpp"
#include "engine/training/final/column_importance.hpp"
#include "engine/training/final/training_context.hpp"
#include "engine/training/loop/assessment.hpp"
#include "engine/training/weights/weights.hpp"
#include "search_spaces/operators/mixture.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// Models of one genome, one or one for each fold; or the linear model, boosted trees,
/// random convolutions or smoothing; and their answers for the validation and the test part.
struct model_bag {
  std::vector<const trained_member*> members{};    ///< None: it is no genome's.
  std::optional<tree_sizes> trees{};               ///< The sizes of boosted trees.
  std::optional<convolution_sizes> convolutions{}; ///< The sizes of random convolutions.
  bool smoothing = false;                          ///< It is exponential smoothing.
  /// The weights of a model that is no genome's.
  std::vector<weight_tensor> weights{};
  /// The models themselves; number k is asked of the examples whose number in `turns`
  /// [examples] is k, those that it was trained without.
  std::vector<model> models{};
  at::Tensor turns{};
  /// Probabilities or standardised values, [examples, outputs], by the temperature; of the
  /// validation part, of the train part where it is `cross_judged`, and of the test part once
  /// it is `tested`.
  at::Tensor said{};
  bool tested = false;
  /// Its answers for an example of the train part too are those of models that were trained
  /// without it.
  bool cross_judged = false;
  double temperature = 1; ///< By which the scores of each member are divided.
  /// Each member says the mean of what it says of an image and of its mirror image.
  bool mirrored = false;
  evaluation
      costs{}; ///< Parameters, and the metrics of costs that the objective asks for.

  [[nodiscard]] bool has_folds() const {
    return !members.empty() && members.front()->fold.of > 1;
  }
  /// Returns the kind that it is of if it has no members.
  [[nodiscard]] fitted_kind fitted() const {
    return smoothing ? fitted_kind::smoothing : fitted_kind_of(trees, convolutions);
  }
};

class network_module;

/// How the scores of classes follow from the probabilities of a model.
struct score_calibration {
  double temperature = 1; ///< Their logarithms are divided by it.
  double least = 0;       ///< No probability is below it then (`bounded_scores`).
};

/// "#12", "the folds of #7", "the linear model", "boosted trees".
[[nodiscard]] std::string name_of(const model_bag& bag);

/// Adds what the models of `bag` cost to the costs of an ensemble.
void add_costs(evaluation& sum, const model_bag& bag);

/// Gathers what models say, as far as there is time: what would come too late is left out,
/// and named. LibTorch's exceptions pass through.
class model_gathering {
public:
  using clock = std::chrono::steady_clock;

  model_gathering(training_context& context, std::uint64_t seed,
                  clock::time_point deadline, composition_purpose purpose);

  /// Adds the models of one genome. They may take half of the time that there was at the
  /// start; the first that are added for a final model may take all they need, so that
  /// there is one.
  void add(const std::vector<const trained_member*>& members);
  /// Asks the models of a bag for the test part, however long that takes, where they were
  /// not asked yet. Returns whether all that they say is finite.
  [[nodiscard]] bool test(model_bag& bag) const;
  /// Returns what a bag says of examples by their features and their indices.
  [[nodiscard]] at::Tensor ask(const model_bag& bag, const at::Tensor& features,
                               const at::Tensor& which) const;
  /// Fits the linear model in a third of the time that is left, and of few examples to folds
  /// in a third of the rest, where that is enough.
  void add_linear_model();
  /// Fits boosted trees to a table in most of the time that is left.
  void add_boosted_trees();
  /// Fits random convolutions to sequences in half of the time that is left.
  void add_random_convolutions();
  /// Adds what forecasts count from, exponential smoothing, and examines the seasonal naive
  /// forecast beside it.
  void add_forecasts();

  /// Returns the metrics on a part of the data of a model that says this, so calibrated, and
  /// costs that; they are named as those of the validation part.
  [[nodiscard]] evaluation measured(const at::Tensor& said, const evaluation& costs,
                                    const score_calibration& how,
                                    const at::Tensor& part) const;
  /// Returns the standard error of the difference between two models that say this, so
  /// calibrated, in a metric of the part ("validation.accuracy"); 0 of a metric that is of
  /// no part.
  [[nodiscard]] double difference_error(const at::Tensor& said,
                                        const score_calibration& how,
                                        const at::Tensor& other, const at::Tensor& part,
                                        const std::string& metric) const;
  /// Returns the same metrics of answers [examples, outputs] for these examples alone.
  [[nodiscard]] evaluation measured(const at::Tensor& answers, const at::Tensor& which,
                                    const score_calibration& how) const;
  /// The same on the test and the validation part, with the details of the test.
  [[nodiscard]] examination examined(const at::Tensor& said, std::string subject,
                                     std::uint64_t parameters,
                                     const score_calibration& how) const;
  /// Returns the temperature that what is said should have by a part: 1 where another one
  /// would put it behind by the run's objective.
  [[nodiscard]] double temperature_of(const at::Tensor& said, const evaluation& costs,
                                      const at::Tensor& part) const;
  /// Returns the examples by which a bag can be judged: the validation part, before it the
  /// train part where it is `cross_judged`.
  [[nodiscard]] at::Tensor judges_of(const model_bag& bag) const;
  /// Returns the least probability that the final model gives a class: as much as no class
  /// of the examples that it is fitted to and calibrated by, those of the train and the
  /// validation part, can rule out. 0 of numbers.
  [[nodiscard]] double least_probability() const;
  /// Returns what a model says whose scores are divided by a temperature.
  [[nodiscard]] at::Tensor at_temperature(const at::Tensor& said, double t) const;
  [[nodiscard]] at::Tensor empty_answers() const;
  [[nodiscard]] at::Tensor no_turns() const; ///< One model is asked of all.

  /// Returns when a share of what is left of the time is used.
  [[nodiscard]] clock::time_point after_share(double share) const;
  /// Returns whether all of the time is used.
  [[nodiscard]] bool out_of_time() const { return clock::now() > deadline_; }

  std::vector<model_bag> bags;
  std::vector<std::string> left_out;
  /// Models that are no genome's, tested with the least probability of the final model:
  /// alone they would be it. None for an interim one.
  std::vector<examination> compared;

private:
  [[nodiscard]] expected<model_bag>
  answered(const std::vector<const trained_member*>& members,
           clock::time_point latest) const;
  [[nodiscard]] at::Tensor answer(const model& says, const at::Tensor& part) const;
  /// Returns the same models, mirrored, unless they are behind then by the run's objective
  /// or there is no time to ask them.
  [[nodiscard]] model_bag mirrored_unless_behind(model_bag plain) const;
  [[nodiscard]] std::shared_ptr<network_module>
  network_of(const network& n, const std::vector<weight_tensor>& weights) const;
  [[nodiscard]] evaluation costs_of(const network& n, const model& says) const;
  /// Boosted trees are for tables.
  [[nodiscard]] bool has_trees() const;
  void calibrate(model_bag& bag) const;
  /// Returns how many folds a model is fitted to that is no genome's.
  [[nodiscard]] std::uint32_t folds_of_fitted() const;
  /// Has each example judged by the model of the fold that leaves it out.
  void judge_folds(model_bag& bag) const;
  /// Examines what a final model is compared with.
  void compare(const at::Tensor& said, std::string subject, std::uint64_t parameters);
  [[nodiscard]] expected<model_bag> fitted_linear_folds() const;
  [[nodiscard]] expected<model_bag> fitted_linear_model() const;

  training_context& context_;
  const device_data& data_;
  std::uint64_t seed_;
  composition_purpose purpose_;
  clock::time_point deadline_, networks_until_;
  std::uint32_t folds_ = 1; ///< The most of any genome.
};

} // namespace clade
