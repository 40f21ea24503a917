#pragma once

#include "engine/evaluation/evaluating.hpp"
#include "search_spaces/operators/network.hpp"

#include <map>
#include <string>
#include <string_view>

namespace clade {

/// Evaluates for a sampler that is not Clade's own: a line of JSON in, a line of JSON
/// out.
///
///     {"describe": true}
///         {"space": SPACE, "objective": {"metric": ..., "maximize": true}, "epochs": 15}
///     {"layers": [...], "hyperparameters": {...}, "id": 7, "epochs": 5}
///         {"id": 7, "outcome": "succeeded", "metrics": {...}, "parameters": 5210,
///          "network": "32 hexadecimal digits", "equal_to": null, "reason": null,
///          "seconds": 1.2, "processor_seconds": 1.1}
///     {"test": 7}
///         {"id": 7, "metrics": {"test.accuracy": ...}, "parameters": 5210}
///     whatever else
///         {"error": "one sentence"}, with "id" where the line had one
///
/// SPACE and a genome are as in genome_json.hpp. "id", a whole number from 1 that no
/// evaluation had before, keys what is random in the training; left out, it is the next
/// one. "epochs" is the experiment's where it is left out. A genome whose network was
/// trained before, for as many epochs, is not trained again: it has the metrics of the
/// one that "equal_to" names, and took no time. The test needs an evaluation that
/// succeeded; it takes the weights of the `kept_best` best and trains others again. A key
/// that is not named here is an error, since what it asks for would not be done; a blank
/// line is one too, so that each line has its answer.
class evaluation_server {
public:
  static constexpr std::size_t kept_best = 5;
  /// A longer line is refused unread.
  static constexpr std::size_t max_line_bytes = 1 << 20;

  struct params {
    search_space space;
    clade::problem problem;
    objective goal;
    std::uint32_t epochs = 0; ///< The epochs of a full training.
  };

  evaluation_server(params p, evaluating by);

  /// Blocks as long as a training takes. Total: takes any text, and answers without a
  /// line's end.
  [[nodiscard]] std::string answer(std::string_view line);

private:
  struct trained {
    clade::genome genome;
    std::uint32_t epochs = 0;
    evaluation result;
    genome_hash network;
    blob weights; ///< The weights of the best.
  };
  struct request;

  [[nodiscard]] std::string describe() const;
  [[nodiscard]] expected<std::string> evaluate(const request& r);
  [[nodiscard]] expected<std::string> test(const request& r);
  [[nodiscard]] expected<request> parse(std::string_view line) const;
  void keep_best(candidate_id id, blob weights);

  params params_;
  evaluating by_;
  std::map<candidate_id, trained> trained_;
  std::map<std::pair<genome_hash, std::uint32_t>, candidate_id> known_;
  std::vector<individual> best_; ///< With weights, the best first.
};

} // namespace clade
