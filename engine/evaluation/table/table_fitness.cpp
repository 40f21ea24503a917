#include "engine/evaluation/table/table_fitness.hpp"

#include "genome/base/random.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>

#include <cmath>

namespace clade {

namespace {

bool kept_back(const std::string& metric) {
  return metric.starts_with("test.");
}

std::uint64_t draw_seed(std::uint64_t run_seed, const genome& g) {
  const auto network = canonical_hash(g);
  return derive(run_seed, purpose::training, network.high, network.low).next();
}

class table_fitness final : public fitness_function {
public:
  explicit table_fitness(std::shared_ptr<const benchmark_table> table)
      : table_(std::move(table)) {}

  expected<std::uint64_t> warm_up() override { return 0; }

  evaluated_job evaluate(const job& j, progress& p) override {
    evaluated_job result;
    result.evaluation.id = j.id;
    look_up(j, p, result.evaluation);
    return result;
  }

  expected<examination> examine(const job& j, const bytes&) override {
    const auto row = find(j.genome);
    if (!row)
      return tl::unexpected(row.error());
    examination e;
    e.id = j.id;
    e.parameters = parameters_of(j.genome);
    const auto last = table_->fidelities() - 1;
    const auto& metrics = table_->description().metrics;
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      const auto mean = table_->mean({.row = *row, .metric = m, .fidelity = last});
      if (kept_back(metrics[m].name) && mean && std::isfinite(*mean))
        e.metrics.push_back({metrics[m].name, *mean});
    }
    return e;
  }

private:
  [[nodiscard]] expected<std::uint32_t> find(const genome& g) const {
    if (const auto row = table_->find(g))
      return *row;
    return fail(error_kind::not_found,
                fmt::format("{} has no row with {}", table_->description().name,
                            to_text(g.hyperparameters)));
  }

  [[nodiscard]] std::uint64_t parameters_of(const genome& g) const {
    const auto decoded = decode(table_->description().space, g, table_problem());
    return decoded ? decoded->cost().parameters : 0;
  }

  void look_up(const job& j, progress& p, evaluation& e) const;

  std::shared_ptr<const benchmark_table> table_;
};

void table_fitness::look_up(const job& j, progress& p, evaluation& e) const {
  const auto& d = table_->description();
  const auto decoded = decode(d.space, j.genome, table_problem());
  if (!decoded)
    return fail_with(e, outcome::invalid, decoded.error().message);
  e.parameters = decoded->cost().parameters;
  const auto row = find(j.genome);
  if (!row)
    return fail_with(e, outcome::invalid, row.error().message);
  const auto last = table_->fidelity(j.budget.epochs);
  if (!last)
    return fail_with(
        e, outcome::invalid,
        fmt::format("{} has nothing of {} epochs or fewer", d.name, j.budget.epochs));
  // Settings that find the same row are the same setting, and have the same value.
  const auto draw = d.lookup == table_lookup::nearest
                        ? derive(j.seed, purpose::training, *row, 0).next()
                        : draw_seed(j.seed, j.genome);
  for (std::size_t f = 0; f <= *last; ++f) {
    e.metrics.clear();
    bool finite = true;
    for (std::size_t m = 0; m < d.metrics.size(); ++m) {
      if (kept_back(d.metrics[m].name))
        continue;
      const auto v = table_->value({.row = *row, .metric = m, .fidelity = f}, draw);
      finite = finite && (!v || std::isfinite(*v));
      if (v && std::isfinite(*v))
        e.metrics.push_back({d.metrics[m].name, *v});
    }
    if (!finite)
      return fail_with(
          e, outcome::diverged,
          fmt::format("a metric is not finite at epoch {}", d.fidelities[f]));
    e.curve.push_back({d.fidelities[f], e.metrics, 0});
    if (!p.report(e.curve.back()))
      return fail_with(e, outcome::timed_out, "was told to stop");
  }
  if (!clade::find(e.metrics, d.objective.metric))
    fail_with(e, outcome::invalid,
              fmt::format("{} has no {} for {}", d.name, d.objective.metric,
                          to_text(j.genome.hyperparameters)));
}

} // namespace

expected<void> validate(const table_params& params) {
  if (params.file.empty())
    return fail(error_kind::invalid_input,
                "file is missing: it describes the table, file = "
                "\"tables/nb201_cifar10.toml\"");
  return {};
}

std::uint32_t budget_epochs(const table_params& params) {
  return params.epochs == 0 ? std::numeric_limits<std::uint32_t>::max() : params.epochs;
}

problem table_problem() {
  return {.input = {{1}}, .outputs = 1};
}

std::unique_ptr<fitness_function>
make_table_fitness(std::shared_ptr<const benchmark_table> table) {
  return std::make_unique<table_fitness>(std::move(table));
}

} // namespace clade
