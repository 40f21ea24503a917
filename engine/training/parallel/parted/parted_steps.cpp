#include "engine/training/parallel/parted/parted_steps.hpp"

#include "engine/collectives/collectives.hpp"
#include "engine/training/weights/tensor_copy.hpp"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

// A row of values is that of all parameters and buffers, one behind the other, in the
// order of `network_module::state` and as each lies in memory. Whole tensors travel from
// the member that has a part of one to all others, part by part.

namespace clade {

std::span<float> memory_of(const at::Tensor& t) {
  TORCH_CHECK(t.is_non_overlapping_and_dense() && t.scalar_type() == at::kFloat,
              "parts are of dense tensors of float32");
  return {static_cast<float*>(t.mutable_data_ptr()), static_cast<std::size_t>(t.numel())};
}

void release_memory(const at::Tensor& t) {
  t.storage().set_data_ptr_noswap(t.storage().allocator()->allocate(0));
  t.storage().set_nbytes(0);
}

void restore_memory(const at::Tensor& t) {
  const auto size = static_cast<std::size_t>(t.numel()) * sizeof(float);
  if (t.storage().nbytes() == size)
    return;
  t.storage().set_data_ptr_noswap(t.storage().allocator()->allocate(size));
  t.storage().set_nbytes(size);
}

std::span<float> parted_steps::own_part::in(const at::Tensor& like_values) const {
  return memory_of(like_values)
      .subspan(static_cast<std::size_t>(in_front),
               static_cast<std::size_t>(which.size()));
}

parted_steps::parted_steps(network_module& net, const step_rules& rules, team& members,
                           handed_over state)
    : net_(net),
      rules_(rules),
      handed_(std::move(state)),
      session_(std::make_shared<team_session>(
          members, [this](links& l, std::uint64_t& done) { return meet(l, done); })) {
  std::uint64_t all = 0;
  for (const auto& s : net.state()) {
    offsets_.push_back(all);
    all += static_cast<std::uint64_t>(s.tensor.numel());
  }
  offsets_.push_back(all);
}

bool parted_steps::is_parameter(std::size_t tensor) const {
  return net_.state()[tensor].tensor.requires_grad();
}

void parted_steps::take_parts() {
  optimiser_.reset();
  own_.clear();
  own_values_.clear();
  trained_.clear();
  begin_anew();
  parts_ = divide(members());
  first_part_.assign(1, 0);
  tensor_list trained;
  std::vector<bool> decays;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto& p = parts_[i];
    while (first_part_.size() <= p.tensor)
      first_part_.push_back(i);
    if (p.owner != session_->own() && p.owner != part::everyone)
      continue;
    own_.push_back(make_own(p));
    own_values_.push_back(own_.back().values);
    if (!is_parameter(p.tensor))
      continue;
    trained_.push_back(own_.size() - 1);
    trained.push_back(own_.back().values);
    decays.push_back(net_.state()[p.tensor].tensor.dim() > 1);
  }
  first_part_.resize(net_.state().size() + 1, parts_.size());
  optimiser_.emplace(rules_.recipe, trained, decays);
  optimiser_->go_on_after(kept_->about().steps);
  using row = kept_position::row;
  for (const auto r : {row::weights, row::first_moments, row::second_moments}) {
    if (!kept_->has(r))
      continue;
    const auto moments =
        r == row::weights ? own_values() : own_moments(r == row::first_moments);
    for (std::size_t i = 0; i < own_.size(); ++i)
      if (const auto& o = own_[i]; moments[i].defined())
        kept_->read(r,
                    offsets_[o.which.tensor] + static_cast<std::uint64_t>(o.which.begin),
                    o.in(moments[i]));
  }
}

void parted_steps::end_steps() {
  first_count_ = count();
  optimiser_.reset();
}

void parted_steps::gather(links& l, std::size_t tensor, const tensor_list& own,
                          std::span<float> into) const {
  auto mine = std::ranges::lower_bound(own_, tensor, {},
                                       [](const own_part& o) { return o.which.tensor; });
  for (auto i = first_part_[tensor]; i < first_part_[tensor + 1]; ++i) {
    const auto& p = parts_[i];
    const auto values = into.subspan(static_cast<std::size_t>(p.begin),
                                     static_cast<std::size_t>(p.size()));
    if (p.owner == session_->own() || p.owner == part::everyone) {
      const auto from = mine->in(own[static_cast<std::size_t>(mine - own_.begin())]);
      if (from.data() != values.data())
        std::ranges::copy(from, values.begin());
      ++mine;
    }
    if (p.owner != part::everyone)
      broadcast(l, p.owner, bytes_of(values));
  }
}

std::vector<at::Tensor> parted_steps::state() const {
  if (members() > 0)
    return own_values();
  tensor_list all;
  for (const auto& s : net_.state())
    all.push_back(s.tensor);
  return all;
}

std::vector<weight_tensor> parted_steps::whole(std::span<const at::Tensor> values) {
  const tensor_list own(values.begin(), values.end());
  std::vector<weight_tensor> all;
  together([&](links& l) {
    for (std::size_t t = 0; t < net_.state().size(); ++t) {
      const auto& s = net_.state()[t];
      const auto gathered = at::empty_strided(s.tensor.sizes(), s.tensor.strides());
      gather(l, t, own, memory_of(gathered));
      all.push_back(to_host(s.name, gathered));
    }
  });
  return all;
}

// By parts that have none of them: buffers.
tensor_list parted_steps::own_moments(bool first) const {
  tensor_list all(own_.size());
  for (std::size_t i = 0; i < trained_.size(); ++i)
    all[trained_[i]] = first ? optimiser_->first_moment(i) : optimiser_->second_moment(i);
  return all;
}

std::vector<std::vector<std::size_t>> parted_steps::parameters_by_group() const {
  std::vector<std::vector<std::size_t>> groups(2);
  for (std::size_t t = 0; t < net_.state().size(); ++t)
    if (is_parameter(t))
      groups[net_.state()[t].tensor.dim() > 1 ? 0 : 1].push_back(t);
  return groups;
}

std::vector<weight_tensor> parted_steps::moments() {
  std::vector<weight_tensor> all;
  const auto kept = moments_of(rules_.recipe);
  together([&](links& l) {
    for (const auto& group : parameters_by_group())
      for (const bool first : {true, false}) {
        if (!(first ? kept.first : kept.second))
          continue;
        const auto own = own_moments(first);
        for (const auto t : group) {
          const auto& like = net_.state()[t].tensor;
          const auto gathered = at::empty_strided(like.sizes(), like.strides());
          gather(l, t, own, memory_of(gathered));
          all.push_back(to_host("", gathered));
        }
      }
  });
  return all;
}

// Before the first exchange: `keep_first` has them then.
void parted_steps::go_on_after(std::uint64_t steps,
                               std::span<const weight_tensor> moments) {
  tensor_list expected;
  const auto kept = moments_of(rules_.recipe);
  for (const auto& group : parameters_by_group())
    for (const bool has : {kept.first, kept.second})
      for (const auto t : group)
        if (has)
          expected.push_back(net_.state()[t].tensor);
  if (!std::ranges::equal(expected, moments, same_shape))
    return;
  first_count_ = steps;
  first_moments_.assign(moments.begin(), moments.end());
}

void parted_steps::take_step(links& l, double learning_rate) {
  const at::NoGradGuard no_grad;
  optimiser_->step(learning_rate, rules_.recipe.gradient_clip > 0 && !parts_.empty()
                                      ? whole_norm(l)
                                      : at::Tensor());
}

// In the order of optimiser.cpp, whoever has the parts.
at::Tensor parted_steps::whole_norm(links& l) const {
  tensor_list own;
  for (const auto i : trained_) {
    const auto& o = own_[i];
    own.push_back(o.values.grad()
                      .as_strided({o.values.numel()}, {1})
                      .narrow(0, o.in_front, o.which.size()));
  }
  std::vector<float> own_norms;
  if (!own.empty())
    for (const auto& n : norms_of(own))
      own_norms.push_back(n.item<float>());
  std::vector<float> all(parts_.size() * l.members());
  auto next = own_norms.begin();
  for (std::size_t p = 0; p < parts_.size(); ++p)
    if (is_parameter(parts_[p].tensor) && parts_[p].owner == session_->own())
      all[session_->own() * parts_.size() + p] = *next++;
  all_gather(l, bytes_of<float>(all));
  std::vector<float> norms;
  for (const auto& group : parameters_by_group())
    for (const auto t : group)
      for (auto p = first_part_[t]; p < first_part_[t + 1]; ++p)
        norms.push_back(all[parts_[p].owner * parts_.size() + p]);
  return at::tensor(norms).norm();
}

void parted_steps::gather_losses(links& l, std::span<float> losses,
                                 const std::function<std::size_t(std::size_t)>& owner) {
  const bool due = handed_.files != nullptr
                   && std::chrono::steady_clock::now() - kept_at_ >= handed_.keep_every;
  if (session_->gather_losses(l, losses, owner, due))
    keeps_next_ = true;
}

} // namespace clade
