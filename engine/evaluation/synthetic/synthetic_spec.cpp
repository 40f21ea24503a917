#include "engine/evaluation/synthetic/synthetic.hpp"

namespace clade {

namespace {

constexpr evaluator_traits synthetic_traits{
    .name = "synthetic",
    .does = "makes scores up, to try Clade without training",
    .title = "Made-up scores, with fitness = \"synthetic\".",
    .experiment = "a synthetic experiment",
    .run = "a synthetic run",
    .data = data_role::shape,
    .changes_in_forks = true,
};

class synthetic_spec final : public evaluator_spec_of<synthetic_params> {
public:
  [[nodiscard]] const evaluator_traits& traits() const override {
    return synthetic_traits;
  }
  [[nodiscard]] std::unique_ptr<evaluator_spec> clone() const override {
    return std::make_unique<synthetic_spec>(*this);
  }
  void visit(own_keys& v) override;
  [[nodiscard]] expected<void> validate() const override {
    return clade::validate(params);
  }
  [[nodiscard]] std::uint32_t epochs() const override { return params.epochs; }
  [[nodiscard]] evaluator_metrics metrics() const override;
  [[nodiscard]] std::vector<aim> cases(const objective&) const override {
    return measured_;
  }
  [[nodiscard]] std::optional<double> seconds(double epochs) const override {
    return std::chrono::duration<double>(params.duration).count() * epochs
           / params.epochs;
  }
  [[nodiscard]] expected<std::unique_ptr<fitness_function>>
  make(evaluator_setup setup) const override {
    return make_synthetic({.params = params,
                           .space = std::move(setup.space),
                           .problem = std::move(setup.problem),
                           .goal = std::move(setup.goal)});
  }

private:
  std::vector<aim> measured_{{"validation.accuracy", true}, {"validation.loss", false}};
};

void synthetic_spec::visit(own_keys& v) {
  v.key(
      describe("duration", "How long each made-up evaluation takes, such as \"200ms\"."),
      params.duration);
  v.key(describe("diverge", "The share of candidates whose loss becomes NaN."),
        params.diverge);
  v.key(describe("crash", "The share that kill their process."), params.crash);
  v.key(describe("hang", "The share that never end."), params.hang);
  v.key(describe("hog", "The share that take all memory."), params.hog);
  v.key(describe("epochs", "How many epochs a made-up training reports."), params.epochs);
}

evaluator_metrics synthetic_spec::metrics() const {
  evaluator_metrics known{.of = "the synthetic fitness", .all = measured_};
  for (const auto cost : {parameters_metric, multiply_adds_metric, latency_metric})
    known.all.push_back({std::string(cost), false});
  return known;
}

} // namespace

std::shared_ptr<const evaluator_spec> make_synthetic_spec() {
  return std::make_shared<synthetic_spec>();
}

} // namespace clade
