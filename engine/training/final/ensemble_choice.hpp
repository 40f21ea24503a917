#pragma once

#include "engine/training/final/model_bags.hpp"
#include "engine/training/metrics/ensemble_selection.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// An ensemble of bags, and how it is calibrated.
struct ensemble {
  std::vector<std::uint32_t> chosen; ///< How often each bag is in it.
  at::Tensor said;
  evaluation costs;
  score_calibration how{};
  evaluation measured{}; ///< On the examples by which it was chosen.

  [[nodiscard]] double share_of(std::size_t bag) const;
};

/// Chooses an ensemble among bags that are gathered, by the loss of what they say
/// (`select_from_samples`), and calibrates it. If a single one of them is clearly ahead of
/// it by the run's objective (engine/run/steps/final_choice.hpp), the ensemble is grown by
/// the objective from that one instead.
///
/// Models of few examples are judged by all examples of the train and the validation part,
/// each by models that were trained without it. Networks of the search, which know the
/// train part and which the validation part chose, have no part in that, unless one is
/// clearly ahead on the validation part; then the validation part decides among all. The
/// best single model that is ahead of the ensemble of the lowest loss is named in `left_out`
/// of the gathering, with what was done about it.
class ensemble_choice {
public:
  ensemble_choice(const training_context& context, model_gathering& models);

  /// An error if no model says anything of the examples.
  [[nodiscard]] expected<ensemble> choose();

  /// Returns what the bags of an ensemble say, by their shares.
  [[nodiscard]] at::Tensor mean_of(const ensemble& e) const;
  /// Returns the objective as far as it was measured.
  [[nodiscard]] const objective& goal() const { return goal_; }
  /// Returns whether the bag was judged by the examples of both parts.
  [[nodiscard]] bool judged_by_both(std::size_t bag) const;
  /// Returns the metrics of a bag on the examples by which it was judged.
  [[nodiscard]] const evaluation& measured(std::size_t bag) const;
  /// Returns the bags by the run's objective, the best first; first those that are judged
  /// by more examples.
  [[nodiscard]] std::vector<std::size_t> order() const;

private:
  /// Bags that are compared, the examples for it, and the metrics of each bag on these.
  struct comparison {
    std::vector<std::size_t> bags;
    at::Tensor part;
    std::vector<evaluation> singles{};
  };

  [[nodiscard]] comparison compared(std::vector<std::size_t> bags,
                                    const at::Tensor& part) const;
  [[nodiscard]] std::vector<bool> judged_well() const;
  [[nodiscard]] validation_answers answers_of(const model_bag& bag,
                                              const at::Tensor& part) const;
  [[nodiscard]] ensemble mixed(const std::vector<std::uint32_t>& chosen,
                               const at::Tensor& part) const;
  [[nodiscard]] ensemble calibrated(const std::vector<std::uint32_t>& chosen,
                                    const at::Tensor& part) const;
  [[nodiscard]] ensemble of_lowest_loss(const comparison& among) const;
  [[nodiscard]] ensemble grown_from(std::size_t single, const comparison& among) const;
  [[nodiscard]] std::optional<std::size_t> clearly_ahead(const ensemble& e,
                                                         const comparison& among);
  [[nodiscard]] ensemble chosen_among(const comparison& among);
  [[nodiscard]] std::string words_for(const evaluation& behind, std::size_t single,
                                      const comparison& among, bool clearly) const;

  const device_data& data_;
  model_gathering& models_;
  objective goal_;
  std::uint64_t seed_;
  comparison first_, others_; ///< Others are networks of the search.
};

} // namespace clade
