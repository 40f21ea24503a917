#include "engine/simulation/training_search.hpp"

#include "engine/search/strategies/registry/registry.hpp"
#include "engine/simulation/run_driver.hpp"

#include <limits>
#include <map>

namespace clade {

namespace {

// The time is what ends it.
constexpr std::size_t most_generations = 1'000'000;

class training_search {
public:
  training_search(const training_search_params& params, const evaluating& by)
      : params_(params),
        by_(by),
        continues_(starts_from_others(params.rules.evolution)) {
    params_.rules.evolution.generations = most_generations;
  }

  expected<training_search_result> run();

private:
  [[nodiscard]] run_parts parts();
  evaluation evaluate(const candidate& c);
  void consider(const candidate& c, const evaluated_job& done);
  [[nodiscard]] bool over() const { return spent_ >= params_.seconds; }

  /// The candidate with the most epochs, and of these the fittest.
  struct incumbent {
    individual rated;
    job trained;
    blob weights;
  };

  training_search_params params_;
  const evaluating& by_;
  const bool continues_; ///< Some start from others' checkpoints.
  std::map<candidate_id, blob> checkpoints_;
  std::optional<incumbent> best_;
  training_search_result result_;
  double spent_ = 0; ///< With the training that ended too late.
};

/// More epochs come first: 0 is a full training.
std::uint32_t rank(std::uint32_t epochs) {
  return epochs == 0 ? std::numeric_limits<std::uint32_t>::max() : epochs;
}

void training_search::consider(const candidate& c, const evaluated_job& done) {
  individual rated;
  rated.id = c.id;
  rated.fitness = fitness_of(done.evaluation, params_.rules.objective);
  rated.epochs = c.epochs;
  if (!rated.fitness.ok) {
    ++result_.failed;
    return;
  }
  const bool better =
      !best_ || rank(c.epochs) > rank(best_->rated.epochs)
      || (rank(c.epochs) == rank(best_->rated.epochs) && fitter(rated, best_->rated));
  if (!better)
    return;
  best_ = incumbent{
      .rated = rated,
      .trained = {.id = c.id, .genome = *c.genome, .budget = {.epochs = c.epochs}},
      .weights = done.weights};
  result_.champion = done.evaluation;
  result_.champion_epochs = c.epochs;
}

evaluation training_search::evaluate(const candidate& c) {
  job j{.id = c.id,
        .genome = *c.genome,
        .budget = {.epochs = c.epochs},
        .keep_weights_above = -std::numeric_limits<double>::infinity(),
        .start = c.start,
        .start_epoch = c.start_epoch,
        .keep_checkpoint = continues_ ? checkpointing::whole : checkpointing::none};
  if (const auto start = checkpoints_.find(c.start); start != checkpoints_.end())
    j.checkpoint = start->second;
  const auto before = by_.processor_seconds();
  auto done = by_.evaluate(std::move(j));
  const auto took = by_.processor_seconds() - before;
  done.evaluation.id = c.id;
  spent_ += took;
  if (spent_ <= params_.seconds) {
    ++result_.trained;
    result_.seconds += took;
    consider(c, done);
  }
  if (continues_)
    checkpoints_[c.id] = std::move(done.checkpoint);
  return std::move(done.evaluation);
}

run_parts training_search::parts() {
  return {.breed = breeder_of(params_.rules, params_.problem),
          .evaluate = [this](const candidate& c) { return evaluate(c); },
          .pick = {},
          .recorded = {}};
}

expected<training_search_result> training_search::run() {
  auto state = make_run_state(params_.rules);
  if (!state)
    return tl::unexpected(std::move(state).error());
  run_driver driver(parts(), std::move(*state));
  const auto start = by_.processor_seconds();
  while (!over() && !driver.state().finished)
    if (auto done = driver.step(); !done)
      return tl::unexpected(std::move(done).error());
  result_.engine_seconds = by_.processor_seconds() - start - spent_;
  if (!best_)
    return fail(error_kind::invalid_input,
                "no training succeeded within the time; allow more seconds");
  auto tested = best_->weights.load().and_then([&](const shared_bytes& weights) {
    return by_.examine(std::move(best_->trained), *weights);
  });
  if (!tested)
    return tl::unexpected(std::move(tested).error());
  result_.tested = std::move(*tested);
  return std::move(result_);
}

} // namespace

expected<training_search_result> search_by_training(const training_search_params& params,
                                                    const evaluating& by) {
  return training_search(params, by).run();
}

} // namespace clade
