// Steps of a member of a team that has a shard of the parameters, of their gradients and
// of what the optimiser keeps (Rajbhandari et al., "ZeRO: Memory Optimizations Toward
// Training Trillion Parameter Models", 2020). A layer's parameters are gathered before it
// is passed, forward and again backward, and given back after it; its gradients are added
// up as soon as they are there, and each member keeps the sums of its shard.
//
// All parameters, tensor behind tensor, are cut into as many chunks as there are shares of
// a batch, and chunk c is added up beginning with share c, then c + 1, and so on, around
// (ordered_sum.hpp): so all is bit for bit as with whole replicas.
#include "engine/collectives/collectives.hpp"
#include "engine/training/parallel/common/distributed_training.hpp"
#include "engine/training/parallel/common/shares.hpp"
#include "engine/training/parallel/parted/layer_pass.hpp"
#include "engine/training/parallel/parted/parted_steps.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

namespace clade {
namespace {

// Kernels compute elements in vectors and those left over at the end of a tensor one by
// one, which may round otherwise. A part begins and ends where a vector does, so that each
// element is computed as in the whole tensor; the largest vectors have 16 elements.
constexpr std::int64_t vector_elements = 16;

class sharded_steps final : public parted_steps {
public:
  sharded_steps(network_module& net, const step_rules& rules, team& members,
                handed_over state);
  ~sharded_steps() override { net_.watch({}); }

  at::Tensor step(const batch& b, double learning_rate) override;
  void finish() override;

private:
  /// One share of a step, on its way through the layers.
  struct share_pass {
    std::size_t share = 0;
    batch examples;
    layer_pass layers;
    at::Tensor scales;
  };

  [[nodiscard]] std::vector<part> divide(std::size_t members) const override;
  [[nodiscard]] own_part make_own(const part& p) const override;
  void begin_anew() override;

  void gather_layer(links& l, std::size_t layer);
  void release_layer(std::size_t layer);
  [[nodiscard]] bool has_parameters(std::size_t layer) const;
  void pass_forward(links& l, std::vector<share_pass>& passes);
  void forward_layer(std::size_t layer, std::vector<share_pass>& passes);
  void pass_backward(links& l, std::vector<share_pass>& passes);
  void add_up(links& l, std::size_t layer, std::vector<tensor_list> of_shares);
  void spread_statistics(links& l);

  /// The beginning of each tensor, in a row of all parameters.
  std::vector<std::int64_t> row_begins_;
  std::int64_t row_size_ = 0;
  tensor_list gradients_;        ///< The gradients of the own parts.
  tensor_list statistics_after_; ///< By tensor: of share 0, where this member does it.
};

sharded_steps::sharded_steps(network_module& net, const step_rules& rules, team& members,
                             handed_over state)
    : parted_steps(net, rules, members, std::move(state)) {
  for (std::size_t t = 0; t < net.state().size(); ++t) {
    row_begins_.push_back(row_size_);
    if (is_parameter(t))
      row_size_ += net.state()[t].tensor.numel();
  }
}

// A part is what a chunk has of a tensor.
std::vector<part> sharded_steps::divide(std::size_t members) const {
  std::vector<part> all;
  const auto chunks = static_cast<std::int64_t>(shares());
  for (std::size_t t = 0; t < net_.state().size(); ++t) {
    const auto size = net_.state()[t].tensor.numel(), begin = row_begins_[t];
    if (!is_parameter(t)) {
      all.push_back({.tensor = t, .begin = 0, .end = size, .owner = part::everyone});
      continue;
    }
    for (std::int64_t c = 0; c < chunks; ++c) {
      const auto from = std::max(begin, row_size_ * c / chunks);
      const auto to = std::min(begin + size, row_size_ * (c + 1) / chunks);
      if (from < to)
        all.push_back(
            {.tensor = t,
             .begin = from - begin,
             .end = to - begin,
             .owner = owner_of_chunk(static_cast<std::size_t>(c), members, shares())});
    }
  }
  return all;
}

parted_steps::own_part sharded_steps::make_own(const part& p) const {
  const auto& whole = net_.state()[p.tensor].tensor;
  if (!is_parameter(p.tensor))
    return {.which = p, .values = whole, .in_front = 0};
  const auto begin = p.begin / vector_elements * vector_elements;
  const auto end = std::min(whole.numel(), (p.end + vector_elements - 1) / vector_elements
                                               * vector_elements);
  return {.which = p,
          .values = at::zeros({end - begin}, at::kFloat),
          .in_front = p.begin - begin};
}

void sharded_steps::begin_anew() {
  for (std::size_t i = 0; i < net_.layers(); ++i)
    release_layer(i);
  net_.watch({.before =
                  [this](std::size_t layer) {
                    if (has_parameters(layer))
                      together([&](links& l) { gather_layer(l, layer); });
                  },
              .after = [this](std::size_t layer) { release_layer(layer); }});
}

bool sharded_steps::has_parameters(std::size_t layer) const {
  const auto state = net_.state_of(layer);
  for (auto t = state.begin; t < state.end; ++t)
    if (is_parameter(t))
      return true;
  return false;
}

void sharded_steps::gather_layer(links& l, std::size_t layer) {
  const auto state = net_.state_of(layer);
  for (auto t = state.begin; t < state.end; ++t)
    if (is_parameter(t)) {
      const auto& whole = net_.state()[t].tensor;
      restore_memory(whole);
      gather(l, t, own_values(), memory_of(whole));
    }
}

void sharded_steps::release_layer(std::size_t layer) {
  const auto state = net_.state_of(layer);
  for (auto t = state.begin; t < state.end; ++t)
    if (is_parameter(t))
      release_memory(net_.state()[t].tensor);
}

at::Tensor sharded_steps::step(const batch& b, double learning_rate) {
  keep_if_due();
  std::vector<float> losses(shares());
  together([&](links& l) {
    statistics_after_.assign(net_.state().size(), {});
    std::vector<share_pass> passes;
    const auto range = shares_of(l.own(), l.members(), shares());
    for (auto s = range.begin; s < range.end; ++s) {
      auto examples = share_of_batch(b, s, shares());
      layer_pass layers(net_, rules_.precision, examples.features);
      passes.push_back({s, std::move(examples), std::move(layers), {}});
    }
    pass_forward(l, passes);
    for (auto& p : passes) {
      const auto last = net_.layers() - 1;
      const auto output = p.layers.output(last).detach().requires_grad_();
      p.layers.end_forward();
      const auto loss =
          loss_of_predictions(as_predictions(output), p.examples, b, rules_);
      losses[p.share] = loss.detach().item<float>();
      p.layers.put_gradient(last, torch::autograd::grad({loss}, {output}).front());
    }
    pass_backward(l, passes);
    gather_losses(l, losses, [&](std::size_t share) {
      return member_of_share(share, l.members(), shares());
    });
    spread_statistics(l);
    for (std::size_t i = 0; i < own().size(); ++i)
      if (gradients_[i].defined()) {
        auto values = own()[i].values;
        values.mutable_grad() = std::move(gradients_[i]);
      }
    take_step(l, learning_rate);
  });
  auto loss = at::scalar_tensor(losses.front());
  for (std::size_t s = 1; s < losses.size(); ++s)
    loss = loss + at::scalar_tensor(losses[s]);
  return loss;
}

void sharded_steps::pass_forward(links& l, std::vector<share_pass>& passes) {
  for (auto& p : passes) {
    net_.draw_from(rules_.stream_of_share(p.share, count()));
    p.scales = net_.draw_branch_scales(p.examples.features.size(0));
  }
  for (std::size_t i = 0; i < net_.layers(); ++i) {
    gather_layer(l, i);
    forward_layer(i, passes);
    release_layer(i);
  }
}

// Each share begins with the statistics of normalisations that all shares began with.
void sharded_steps::forward_layer(std::size_t layer, std::vector<share_pass>& passes) {
  const auto state = net_.state_of(layer);
  std::vector<std::vector<float>> before;
  for (auto t = state.begin; t < state.end; ++t)
    if (!is_parameter(t)) {
      const auto now = memory_of(net_.state()[t].tensor);
      before.emplace_back(now.begin(), now.end());
    }
  for (auto& p : passes) {
    net_.draw_from(rules_.stream_of_share(p.share, count()), layer);
    p.layers.forward(layer, p.scales);
    auto begun = before.begin();
    for (auto t = state.begin; t < state.end; ++t) {
      const auto& tensor = net_.state()[t].tensor;
      if (is_parameter(t))
        continue;
      if (p.share == 0)
        statistics_after_[t] = tensor.clone();
      std::ranges::copy(*begun++, memory_of(tensor).begin());
    }
  }
}

void sharded_steps::pass_backward(links& l, std::vector<share_pass>& passes) {
  gradients_.assign(own().size(), {});
  for (auto i = net_.layers(); i-- > 0;) {
    gather_layer(l, i);
    std::vector<tensor_list> of_shares;
    for (auto& p : passes)
      of_shares.push_back(p.layers.backward(i));
    release_layer(i);
    if (has_parameters(i))
      add_up(l, i, std::move(of_shares));
  }
}

// The layer's parameters lie one behind the other in the row of all.
void sharded_steps::add_up(links& l, std::size_t layer,
                           std::vector<tensor_list> of_shares) {
  const at::NoGradGuard no_grad;
  const auto state = net_.state_of(layer);
  tensor_list like;
  std::size_t first = state.end;
  for (auto t = state.begin; t < state.end; ++t)
    if (is_parameter(t)) {
      first = std::min(first, t);
      like.push_back(net_.state()[t].tensor);
    }
  tensor_list rows;
  std::vector<std::span<const float>> values;
  for (auto& gradients : of_shares) {
    rows.push_back(at::zeros({elements_of(like)}, at::kFloat));
    const auto views = views_of(rows.back(), like);
    for (std::size_t i = 0; i < views.size(); ++i)
      if (gradients[i].defined())
        views[i].copy_(std::exchange(gradients[i], {}));
    values.push_back(values_of(rows.back()));
  }
  const auto sum = at::empty({elements_of(like)}, at::kFloat);
  const auto begin = static_cast<std::size_t>(row_begins_[first]);
  reduce_scatter<float>(l, values, shares(), values_of(sum),
                        {.begin = begin, .row = static_cast<std::size_t>(row_size_)});
  for (std::size_t i = 0; i < own().size(); ++i) {
    const auto& o = own()[i];
    if (o.which.tensor < state.begin || o.which.tensor >= state.end
        || !is_parameter(o.which.tensor))
      continue;
    gradients_[i] = at::zeros_like(o.values);
    const auto at = static_cast<std::size_t>(row_begins_[o.which.tensor] + o.which.begin);
    std::ranges::copy(
        values_of(sum).subspan(at - begin, static_cast<std::size_t>(o.which.size())),
        o.in(gradients_[i]).begin());
  }
}

void sharded_steps::spread_statistics(links& l) {
  std::vector<float> all;
  for (std::size_t t = 0; t < net_.state().size(); ++t)
    if (!is_parameter(t)) {
      const auto& from = l.own() == 0 ? statistics_after_[t] : net_.state()[t].tensor;
      const auto values = memory_of(from);
      all.insert(all.end(), values.begin(), values.end());
    }
  broadcast(l, 0, bytes_of<float>(all));
  auto next = all.begin();
  for (std::size_t t = 0; t < net_.state().size(); ++t)
    if (!is_parameter(t)) {
      const auto values = memory_of(net_.state()[t].tensor);
      std::copy_n(next, values.size(), values.begin());
      next += static_cast<std::ptrdiff_t>(values.size());
    }
}

void sharded_steps::finish() {
  if (members() == 0)
    return; // Nothing was ever divided.
  end_steps();
  together([&](links& l) {
    for (std::size_t i = 0; i < net_.layers(); ++i)
      gather_layer(l, i);
  });
  net_.watch({});
}

} // namespace

training_parts make_sharded_steps(distributed_training t) {
  const auto steps =
      std::make_shared<sharded_steps>(t.net, t.rules, *t.members, std::move(t.state));
  return {.step = steps, .position = steps, .team = steps->session()};
}

} // namespace clade
