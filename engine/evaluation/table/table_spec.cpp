#include "engine/evaluation/table/table_fitness.hpp"

namespace clade {

namespace {

constexpr evaluator_traits table_traits{
    .name = "table",
    .does = "looks up results that were measured before",
    .title = "Measured scores, with fitness = \"table\".",
    .experiment = "an experiment on a table",
    .run = "a run on a table",
    .described = true,
};

class table_spec final : public evaluator_spec_of<table_params> {
public:
  [[nodiscard]] const evaluator_traits& traits() const override { return table_traits; }
  [[nodiscard]] std::unique_ptr<evaluator_spec> clone() const override {
    return std::make_unique<table_spec>(*this);
  }
  void visit(own_keys& v) override {
    v.path(describe("file", "The description of the table, such as "
                            "tables/nb201_cifar10.toml (`clade help tables`)."),
           params.file);
    v.key(describe("epochs", "Look up results after at most this many epochs; 0 for the "
                             "most there are."),
          params.epochs);
  }
  [[nodiscard]] expected<void> validate() const override {
    return clade::validate(params);
  }
  void forget_places() override { params.file.clear(); }
  [[nodiscard]] std::uint32_t epochs() const override { return budget_epochs(params); }
  [[nodiscard]] std::optional<double> seconds(double) const override { return 0; }
  [[nodiscard]] std::filesystem::path file() const override { return params.file; }
  [[nodiscard]] expected<std::unique_ptr<fitness_function>>
  make(evaluator_setup setup) const override {
    return make_table_fitness(std::move(setup.table));
  }
};

} // namespace

std::shared_ptr<const evaluator_spec> make_table_spec() {
  return std::make_shared<table_spec>();
}

} // namespace clade
