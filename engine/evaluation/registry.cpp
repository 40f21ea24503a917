#include "engine/evaluation/registry.hpp"

#include "engine/evaluation/command/command.hpp"
#include "engine/evaluation/jobs/jobs.hpp"
#include "engine/evaluation/synthetic/synthetic.hpp"
#include "engine/evaluation/table/table_fitness.hpp"

#include <array>

namespace clade {

namespace {

constexpr evaluator_traits training_traits{
    .name = "training",
    .does = "trains networks on [data]",
    .title = "",
    .experiment = "an experiment that trains",
    .run = "a run that trains",
    .data = data_role::examples,
    .trains = true,
    .changes_in_forks = true,
};

/// Has no section of its own: `[training]` is read in every experiment.
class training_spec final : public evaluator_spec {
public:
  [[nodiscard]] const evaluator_traits& traits() const override {
    return training_traits;
  }
  [[nodiscard]] std::unique_ptr<evaluator_spec> clone() const override {
    return std::make_unique<training_spec>(*this);
  }
  [[nodiscard]] expected<std::unique_ptr<fitness_function>>
  make(evaluator_setup) const override {
    return fail(error_kind::internal, "networks are trained by engine/training");
  }
};

} // namespace

std::span<const shared_evaluator_spec> evaluator_kinds() {
  static const std::array<shared_evaluator_spec, 5> rows{
      std::make_shared<training_spec>(),
      make_synthetic_spec(),
      make_table_spec(),
      make_command_spec(),
      make_jobs_spec(),
  };
  return rows;
}

} // namespace clade
