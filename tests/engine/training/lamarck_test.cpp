// How much of what a parent has learnt its children start with: digits, LibTorch, the
// mutations of a search. With -s the table is printed.
#include "engine/training/loop/assessment.hpp"
#include "engine/training/loop/training_loop.hpp"
#include "engine/training/weights/checkpoint.hpp"
#include "engine/training/weights/inheritance.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/operators/variation.hpp"
#include "tests/engine/training/on_cpu.hpp"
#include "tests/engine/training/training_data.hpp"
#include "tests/support/content_of.hpp"

#include <ATen/ATen.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

using namespace clade;

namespace {

constexpr std::uint64_t parents = 10;
/// The number of children of each parent and kind.
constexpr std::uint64_t children = 10;
constexpr double near = 0.01; ///< The share of the parent's loss.

struct kind {
  const char* name;
  double mutation_params::*weight;
};

constexpr std::array kinds{
    kind{"widen", &mutation_params::widen},
    kind{"narrow", &mutation_params::narrow},
    kind{"add_node", &mutation_params::add_node},
    kind{"remove_node", &mutation_params::remove_node},
    kind{"add_edge", &mutation_params::add_edge},
    kind{"remove_edge", &mutation_params::remove_edge},
    kind{"change_operator", &mutation_params::change_operator},
    kind{"change_setting", &mutation_params::change_setting},
    kind{"change_hyperparameter", &mutation_params::change_hyperparameter}};

mutation_params only(double mutation_params::*weight) {
  mutation_params p{};
  for (const auto& k : kinds)
    p.*k.weight = 0;
  p.*weight = 1;
  p.again = 0;
  return p;
}

struct figures {
  std::size_t preserved = 0;
  std::vector<double> inherited, fresh; ///< Loss over the parent's.
};

double median(std::vector<double> all) {
  std::ranges::sort(all);
  return all[all.size() / 2];
}

class digits {
public:
  digits() : bench_("1,2\n") {
    bench_.setup.data = {.file = CLADE_EXPERIMENTS "/data/digits.csv.gz"};
    bench_.setup.data.shape = {{1, 8, 8}};
    auto space = load_search_space(CLADE_SEARCH_SPACES "/image.toml");
    REQUIRE(space);
    bench_.setup.space = std::move(*space);
    auto loaded = load_data(bench_.setup.data, 1, data_cache{});
    REQUIRE(loaded);
    data_ = std::move(*loaded);
    on_device_ = on_cpu(data_);
    trainer_ = bench_.trainer();
  }

  [[nodiscard]] problem shape() const { return data_.as_problem(); }
  [[nodiscard]] const search_space& space() const { return bench_.setup.space; }

  checkpoint trained(const genome& g, candidate_id id) {
    auto j = a_job(g, id);
    j.budget = {.epochs = 3, .horizon = 3};
    j.keep_checkpoint = checkpointing::weights;
    listener ear;
    const auto done = trainer_->evaluate(j, ear);
    INFO(done.evaluation.reason);
    REQUIRE(done.evaluation.outcome == outcome::succeeded);
    auto left = decode_checkpoint(test::content_of(done.checkpoint));
    REQUIRE(left);
    return std::move(*left);
  }

  [[nodiscard]] network decoded(const genome& g) const {
    auto n = decode(space(), g, shape());
    REQUIRE(n);
    return std::move(*n);
  }

  /// Returns the loss of the network before its first step, with its initial weights or
  /// these.
  [[nodiscard]] double loss(const network& n, candidate_id id,
                            const std::vector<weight_tensor>& weights) const {
    network_module net(n, {.seed = 1, .id = id}, at::kCPU);
    if (!weights.empty())
      REQUIRE(net.load(weights));
    net.eval();
    return metric_of(assess([&](const at::Tensor& x) { return net.forward(x); },
                            on_device_, on_device_.validation, ""),
                     "loss");
  }

  [[nodiscard]] std::vector<weight_tensor> inherited(const network& child,
                                                     const network& parent,
                                                     const checkpoint& from,
                                                     candidate_id id) const {
    const network_module net(child, {.seed = 1, .id = id}, at::kCPU);
    return inherit_weights(
        plan_inheritance(child, parent, from.weights, derive(1, purpose::inherit, id, 0)),
        from.weights, net.weights());
  }

private:
  training_bench bench_;
  data_set data_;
  device_data on_device_;
  std::unique_ptr<fitness_function> trainer_;
};

} // namespace

TEST_CASE("lamarck: children start near their parent's loss") {
  digits world;
  std::array<figures, kinds.size()> found;
  for (candidate_id id = 1; id <= parents; ++id) {
    auto sampling = derive(1, purpose::sample, 0, id);
    const auto parent = sample(world.space(), world.shape(), sampling);
    REQUIRE(parent);
    const auto left = world.trained(parent->child, id);
    const auto network = world.decoded(parent->child);
    const auto parents_loss = world.loss(network, id, left.weights);
    for (std::size_t k = 0; k < kinds.size(); ++k)
      for (std::uint64_t c = 0; c < children; ++c) {
        auto mutating = derive(1, purpose::mutation, id, c, k);
        const auto made = mutate(world.space(), world.shape(), parent->child,
                                 only(kinds[k].weight), mutating);
        if (made.changes.front().kind == change_kind::unchanged)
          continue;
        const auto child = world.decoded(made.child);
        const auto child_id = 1000 * id + 100 * k + c;
        const auto weights = world.inherited(child, network, left, child_id);
        const auto loss = world.loss(child, child_id, weights);
        found[k].preserved +=
            std::abs(loss - parents_loss) <= near * parents_loss ? 1 : 0;
        found[k].inherited.push_back(loss / parents_loss);
        found[k].fresh.push_back(world.loss(child, child_id, {}) / parents_loss);
      }
  }
  std::ostringstream table;
  table << "kind, children, within 1 %, median loss over the parent's, of new weights\n";
  const auto share = [&](const char* name) {
    const auto k = std::ranges::find(kinds, std::string_view(name), &kind::name);
    const auto& f = found[static_cast<std::size_t>(k - kinds.begin())];
    return static_cast<double>(f.preserved) / static_cast<double>(f.inherited.size());
  };
  for (std::size_t k = 0; k < kinds.size(); ++k)
    if (const auto& f = found[k]; !f.inherited.empty())
      table << kinds[k].name << ", " << f.inherited.size() << ", " << f.preserved << ", "
            << median(f.inherited) << ", " << median(f.fresh) << "\n";
  INFO(table.str());
  CHECK(share("change_hyperparameter") == 1);
  CHECK(share("widen") >= 0.8);
  CHECK(share("add_edge") >= 0.7);
}
