// Steps of a member of a team that has some of a network's layers: one stage of a pipeline,
// or several neighbouring ones where there are fewer members than stages. A batch is cut
// into micro-batches, which follow each other through the stages and back
// (stage_plan.hpp); gradients are those of the whole batch.
//
// The outputs of a stage, and of those before it, that later stages need travel from each
// stage to the next, and the gradients of the same tensors travel back. A tensor travels
// as
//
//     { wanted, type, dimensions, 6 sizes, 6 strides: int64 } values
//
// where `wanted` says whether gradients of it are, or of a gradient, whether there is one.
#include "engine/collectives/collectives.hpp"
#include "engine/training/parallel/common/distributed_training.hpp"
#include "engine/training/parallel/common/shares.hpp"
#include "engine/training/parallel/parted/layer_pass.hpp"
#include "engine/training/parallel/parted/parted_steps.hpp"
#include "engine/training/parallel/parted/stage_plan.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <array>
#include <map>

namespace clade {
namespace {

constexpr std::size_t most_dimensions = 6;

struct tensor_header {
  std::int64_t wanted = 0, type = 0, dimensions = 0;
  std::array<std::int64_t, most_dimensions> sizes{}, strides{};
};

std::span<std::byte> memory_bytes(const at::Tensor& t) {
  return {static_cast<std::byte*>(t.mutable_data_ptr()), t.nbytes()};
}

at::Tensor as_dense(const at::Tensor& t) {
  return t.is_non_overlapping_and_dense() ? t : t.contiguous();
}

void send_tensor(links& l, std::size_t to, const at::Tensor& t, bool wanted) {
  tensor_header h{.wanted = wanted ? 1 : 0};
  if (t.defined()) {
    h.type = static_cast<std::int64_t>(t.scalar_type());
    h.dimensions = t.dim();
    TORCH_CHECK(t.dim() <= static_cast<std::int64_t>(most_dimensions),
                "a tensor of more dimensions than a pipeline passes on");
    std::ranges::copy(t.sizes(), h.sizes.begin());
    std::ranges::copy(t.strides(), h.strides.begin());
  }
  l.send(to, std::as_bytes(std::span(&h, 1)));
  if (t.defined())
    l.send(to, memory_bytes(t));
}

std::pair<at::Tensor, bool> receive_tensor(links& l, std::size_t from) {
  tensor_header h;
  l.receive(from, std::as_writable_bytes(std::span(&h, 1)));
  if (h.dimensions == 0)
    return {{}, h.wanted != 0};
  const auto dimensions = static_cast<std::size_t>(h.dimensions);
  const auto t = at::empty_strided(at::IntArrayRef(h.sizes.data(), dimensions),
                                   at::IntArrayRef(h.strides.data(), dimensions),
                                   static_cast<at::ScalarType>(h.type));
  l.receive(from, memory_bytes(t));
  return {t, h.wanted != 0};
}

class pipeline_steps final : public parted_steps {
public:
  pipeline_steps(network_module& net, const step_rules& rules,
                 const distribution_params& how, team& members, handed_over state);

  at::Tensor step(const batch& b, double learning_rate) override;
  void show() override;
  void finish() override {
    end_steps();
    show();
  }

private:
  /// A micro-batch on its way through one stage.
  using way = std::map<std::pair<std::size_t, std::size_t>, layer_pass>;

  [[nodiscard]] std::vector<part> divide(std::size_t members) const override;
  [[nodiscard]] own_part make_own(const part& p) const override {
    restore_memory(net_.state()[p.tensor].tensor);
    return {.which = p, .values = net_.state()[p.tensor].tensor, .in_front = 0};
  }
  void begin_anew() override {
    for (const auto& s : net_.state())
      release_memory(s.tensor);
  }

  [[nodiscard]] std::size_t stages() const { return bounds_.size() - 1; }
  [[nodiscard]] std::size_t member_of(std::size_t stage) const {
    return member_of_share(stage, members(), stages());
  }
  void release_others();
  void find_crossing();
  void pass_forward(links& l, const stage_pass& p, const batch& b, way& under_way);
  void pass_back(links& l, const stage_pass& p, way& under_way);
  void add_gradients(std::size_t layer, tensor_list found);

  std::size_t micro_batches_;
  stage_schedule schedule_;
  std::vector<std::size_t> bounds_; ///< The bounds of stages, among layers.
  /// By stage: the layers before it whose outputs it or later stages need.
  std::vector<std::vector<std::size_t>> crossing_;
  tensor_list sums_; ///< The sums of the gradients of parameters, by tensor.
  std::vector<float> losses_;
};

pipeline_steps::pipeline_steps(network_module& net, const step_rules& rules,
                               const distribution_params& how, team& members,
                               handed_over state)
    : parted_steps(net, rules, members, std::move(state)),
      micro_batches_(how.micro_batches),
      schedule_(how.schedule()) {
  std::vector<std::uint64_t> work;
  for (std::size_t i = 0; i < net.layers(); ++i)
    work.push_back(net.work_of(i));
  bounds_ = divide_into_stages(work, shares());
  find_crossing();
}

void pipeline_steps::find_crossing() {
  crossing_.resize(stages());
  for (std::size_t s = 1; s < stages(); ++s) {
    auto& needed = crossing_[s];
    for (auto layer = bounds_[s]; layer < net_.layers(); ++layer)
      for (const auto from : net_.inputs_of(layer))
        if (from < bounds_[s])
          needed.push_back(from);
    std::ranges::sort(needed);
    const auto [end, last] = std::ranges::unique(needed);
    needed.erase(end, last);
  }
}

std::vector<part> pipeline_steps::divide(std::size_t members) const {
  std::vector<part> all;
  for (std::size_t m = 0; m < members; ++m) {
    const auto own = shares_of(m, members, stages());
    for (auto layer = bounds_[own.begin]; layer < bounds_[own.end]; ++layer) {
      const auto state = net_.state_of(layer);
      for (auto t = state.begin; t < state.end; ++t)
        all.push_back(
            {.tensor = t, .begin = 0, .end = net_.state()[t].tensor.numel(), .owner = m});
    }
  }
  return all;
}

void pipeline_steps::release_others() {
  auto mine = own().begin();
  for (std::size_t t = 0; t < net_.state().size(); ++t)
    if (mine != own().end() && mine->which.tensor == t)
      ++mine;
    else
      release_memory(net_.state()[t].tensor);
}

// For validation, and at the end.
void pipeline_steps::show() {
  if (members() == 0)
    return;
  together([&](links& l) {
    for (std::size_t t = 0; t < net_.state().size(); ++t) {
      const auto& whole = net_.state()[t].tensor;
      restore_memory(whole);
      gather(l, t, own_values(), memory_of(whole));
    }
  });
}

at::Tensor pipeline_steps::step(const batch& b, double learning_rate) {
  keep_if_due();
  losses_.assign(micro_batches_, 0);
  together([&](links& l) {
    release_others();
    sums_.assign(net_.state().size(), {});
    way under_way;
    const auto mine = shares_of(l.own(), l.members(), stages());
    for (const auto& p : plan_passes(schedule_, stages(), micro_batches_)) {
      if (p.stage < mine.begin || p.stage >= mine.end)
        continue;
      if (p.forward)
        pass_forward(l, p, b, under_way);
      else
        pass_back(l, p, under_way);
    }
    gather_losses(l, losses_, [&](std::size_t) { return l.members() - 1; });
    for (const auto& o : own())
      if (is_parameter(o.which.tensor)) {
        auto values = o.values;
        values.mutable_grad() = std::move(sums_[o.which.tensor]);
      }
    take_step(l, learning_rate);
  });
  auto loss = at::scalar_tensor(losses_.front());
  for (std::size_t m = 1; m < micro_batches_; ++m)
    loss = loss + at::scalar_tensor(losses_[m]);
  return loss;
}

void pipeline_steps::pass_forward(links& l, const stage_pass& p, const batch& b,
                                  way& under_way) {
  const auto examples = share_of_batch(b, p.micro_batch, micro_batches_);
  auto& pass = under_way
                   .emplace(std::pair(p.stage, p.micro_batch),
                            layer_pass(net_, rules_.precision, examples.features))
                   .first->second;
  for (const auto layer : crossing_[p.stage]) {
    if (const auto from = member_of(p.stage - 1); from != l.own()) {
      auto [output, wanted] = receive_tensor(l, from);
      pass.put_output(layer, std::move(output), wanted);
    } else {
      const auto& former = under_way.at({p.stage - 1, p.micro_batch});
      pass.put_output(layer, as_dense(former.output(layer)),
                      former.wants_gradient(layer));
    }
  }
  if (p.stage > 0 && member_of(p.stage - 1) == l.own())
    under_way.at({p.stage - 1, p.micro_batch}).end_forward();
  net_.draw_from(rules_.stream_of_share(p.micro_batch, count()));
  const auto scales = net_.draw_branch_scales(examples.features.size(0));
  for (auto i = bounds_[p.stage]; i < bounds_[p.stage + 1]; ++i)
    pass.forward(i, scales);
  if (p.stage + 1 == stages()) {
    const auto last = net_.layers() - 1;
    const auto output = pass.output(last).detach().requires_grad_();
    const auto loss = loss_of_predictions(as_predictions(output), examples, b, rules_);
    losses_[p.micro_batch] = loss.detach().item<float>();
    pass.put_gradient(last, torch::autograd::grad({loss}, {output}).front());
    pass.end_forward();
  } else if (const auto to = member_of(p.stage + 1); to != l.own()) {
    for (const auto layer : crossing_[p.stage + 1])
      send_tensor(l, to, as_dense(pass.output(layer)), pass.wants_gradient(layer));
    pass.end_forward();
  }
}

void pipeline_steps::pass_back(links& l, const stage_pass& p, way& under_way) {
  auto& pass = under_way.at({p.stage, p.micro_batch});
  if (p.stage + 1 < stages()) {
    const auto from = member_of(p.stage + 1);
    const auto later = std::pair(p.stage + 1, p.micro_batch);
    for (const auto layer : crossing_[p.stage + 1])
      if (from != l.own())
        pass.put_gradient(layer, receive_tensor(l, from).first);
      else if (const auto& g = under_way.at(later).gradient(layer); g.defined())
        pass.put_gradient(layer, as_dense(g));
    under_way.erase(later);
  }
  for (auto i = bounds_[p.stage + 1]; i-- > bounds_[p.stage];)
    add_gradients(i, pass.backward(i));
  if (p.stage == 0) {
    under_way.erase({p.stage, p.micro_batch});
  } else if (const auto to = member_of(p.stage - 1); to != l.own()) {
    for (const auto layer : crossing_[p.stage]) {
      const auto& g = pass.gradient(layer);
      send_tensor(l, to, g.defined() ? as_dense(g) : g, g.defined());
    }
    under_way.erase({p.stage, p.micro_batch});
  }
}

void pipeline_steps::add_gradients(std::size_t layer, tensor_list found) {
  const at::NoGradGuard no_grad;
  const auto state = net_.state_of(layer);
  auto next = found.begin();
  for (auto t = state.begin; t < state.end; ++t) {
    if (!is_parameter(t))
      continue;
    auto& sum = sums_[t];
    if (!sum.defined())
      sum = at::zeros_like(net_.state()[t].tensor).detach();
    if (next->defined())
      sum.add_(*next);
    ++next;
  }
}

} // namespace

training_parts make_pipeline_steps(distributed_training t) {
  const auto steps = std::make_shared<pipeline_steps>(t.net, t.rules, t.how, *t.members,
                                                      std::move(t.state));
  return {.step = steps, .position = steps, .team = steps->session()};
}

} // namespace clade
