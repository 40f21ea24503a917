// A block is a map, a norm and an activation, each of them a step; a layer of another
// operator is one step of the operator's name. `ways` has the few that are taken apart
// otherwise.
#include "engine/program/lower/program.hpp"
#include "engine/program/lower/windows.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace clade {
namespace {

class lowering {
public:
  explicit lowering(std::int64_t candidates) { out_.candidates = candidates; }

  program all(std::span<const layer> layers) {
    for (const auto& l : layers)
      take(l);
    for (const auto& [step, layer] : recalls_)
      out_.steps[step].inputs.front().step = out_.layers[layer].steps.end - 1;
    return std::move(out_);
  }

private:
  struct way {
    std::string_view op;
    void (lowering::*take)();
  };
  /// A tensor's role in the layer, and in the step.
  struct renamed {
    std::string_view from, to;
  };
  static const std::array<way, 10> ways;

  void take(const layer& l);
  void list_tensors();
  void take_block(std::string_view map, const std::vector<setting>& settings);
  void take_separable();
  void take_map();
  void take_avg_pool();
  void take_over_time();
  void take_recall();
  void take_resize() { add("", "average", layer_->settings, layer_->out); }
  void take_resize_steps() { add("", "average1d", layer_->settings, layer_->out); }
  void take_max_pool() {
    add("", is_of_sequences() ? "max_pool1d" : "max_pool", layer_->settings, layer_->out);
  }
  void take_channel_norm() { take_as(is_of_sequences() ? "step_norm" : "channel_norm"); }
  void take_plain() { take_as(row_->name); }
  void take_as(std::string_view computes) {
    auto& s = add("", computes, layer_->settings, layer_->out);
    for (const auto i : tensors_)
      give(s, i, out_.tensors[i].entry.role);
  }

  [[nodiscard]] bool is_of_sequences() const {
    return layer_->out.layout() == layout::sequence;
  }
  program_layer& here() { return out_.layers.back(); }

  program_step& add(const std::string& part, std::string_view computes,
                    const std::vector<setting>& settings, const tensor_shape& shape);
  /// Gives the step the layer's tensors of these roles, those that there are.
  void give(program_step& s, std::initializer_list<renamed> roles) {
    for (const auto& r : roles)
      for (const auto i : tensors_)
        if (out_.tensors[i].entry.role == r.from)
          give(s, i, r.to);
  }
  void give(program_step& s, tensor_index i, std::string_view role) {
    s.tensors.push_back({std::string(role), i, out_.tensors[i].entry.trained});
  }

  /// The settings of a convolution that sees one pixel or step.
  static std::vector<setting> one_pixel() {
    constexpr std::int64_t one = 1;
    return {{"dilation", one}, {"kernel", one}, {"stride", one}};
  }

  program out_;
  std::map<std::string_view, int> numbers_;
  /// Steps that recall, and the layers that give what: these may come later.
  std::vector<std::pair<std::size_t, std::size_t>> recalls_;
  const layer* layer_ = nullptr;
  /// The tensors that its steps may have: those that it shares, and its own.
  std::vector<tensor_index> tensors_;
  const operator_entry* row_ = nullptr;
  std::string word_;
};

constexpr std::array<lowering::way, 10> lowering::ways{{
    {"separable_conv", &lowering::take_separable},
    {"max_pool", &lowering::take_max_pool},
    {"avg_pool", &lowering::take_avg_pool},
    {"resize", &lowering::take_resize},
    {"resize_steps", &lowering::take_resize_steps},
    {"channel_norm", &lowering::take_channel_norm},
    {"project", &lowering::take_map},
    {"output", &lowering::take_map},
    {"over_time", &lowering::take_over_time},
    {"recall", &lowering::take_recall},
}};

void lowering::take(const layer& l) {
  layer_ = &l;
  row_ = &operator_of(l);
  word_ = row_->word.empty() ? row_->name : row_->word;
  if (row_->role != operator_role::input && row_->role != operator_role::output)
    word_ += std::to_string(++numbers_[row_->name]);
  const auto first_step = out_.steps.size(), first_tensor = out_.tensors.size();
  for (const auto& t : row_->tensors_of(l))
    out_.tensors.push_back({fmt::format("{}.{}", l.name, t.role), t});
  out_.layers.push_back(
      {.name = l.name,
       .steps = {first_step, first_step},
       .tensors = {first_tensor, out_.tensors.size()},
       .inputs = l.inputs,
       .adds_branch = l.adds_branch,
       .work = l.cost.multiply_adds + static_cast<std::uint64_t>(l.out.elements())});
  list_tensors();
  const auto found = std::ranges::find(ways, l.op, &way::op);
  if (found != ways.end())
    (this->*found->take)();
  else if (row_->block)
    take_block(row_->name, l.settings);
  else
    take_plain();
}

void lowering::list_tensors() {
  tensors_.clear();
  if (!layer_->shares.empty()) {
    const auto owner =
        std::ranges::find(out_.layers, layer_->shares, &program_layer::name);
    for (auto i = owner->tensors.begin; i < owner->tensors.end; ++i)
      if (out_.tensors[i].entry.trained)
        tensors_.push_back(i);
  }
  for (auto i = here().tensors.begin; i < here().tensors.end; ++i)
    tensors_.push_back(i);
}

program_step& lowering::add(const std::string& part, std::string_view computes,
                            const std::vector<setting>& settings,
                            const tensor_shape& shape) {
  program_step s{.computes = computes,
                 .name = word_ + part,
                 .word = word_,
                 .layer = out_.layers.size() - 1,
                 .settings = settings,
                 .selected = layer_->selected,
                 .out = shape};
  if (here().steps.end > here().steps.begin) {
    s.inputs = {{out_.steps.size() - 1}};
    s.in = out_.steps.back().out;
  } else {
    for (const auto i : layer_->inputs)
      s.inputs.push_back({i < out_.layers.size() ? out_.layers[i].steps.end - 1 : 0});
    s.in = layer_->in.empty() ? layer_->out : layer_->in.front();
  }
  out_.steps.push_back(std::move(s));
  here().steps.end = out_.steps.size();
  return out_.steps.back();
}

void lowering::take_block(std::string_view map, const std::vector<setting>& settings) {
  const auto& norm = text_setting(layer_->settings, "norm");
  const auto& activation = text_setting(layer_->settings, "activation");
  give(add("", map, settings, layer_->out), {{"weight", "weight"}, {"bias", "bias"}});
  if (norm != "none")
    give(add("_norm", norm == "batch" ? "batch_norm" : "layer_norm", {}, layer_->out),
         {{"norm.weight", "weight"},
          {"norm.bias", "bias"},
          {"norm.running_mean", "running_mean"},
          {"norm.running_var", "running_var"}});
  if (activation != "none")
    add("_activation", "activation", {{"function", activation}}, layer_->out);
}

void lowering::take_separable() {
  const auto& out = layer_->out.sizes;
  give(add("_depthwise", "depthwise_conv", layer_->settings,
           {{layer_->in.front().sizes[0], out[1], out[2]}}),
       {{"depthwise", "weight"}});
  take_block("conv", one_pixel());
}

// A linear map of features, or of the channels of each pixel or step.
void lowering::take_map() {
  const auto l = layer_->out.layout();
  give(l == layout::vector
           ? add("", "dense", {}, layer_->out)
           : add("", l == layout::image ? "conv" : "conv1d", one_pixel(), layer_->out),
       {{"weight", "weight"}, {"bias", "bias"}});
}

void lowering::take_avg_pool() {
  const bool even = has_even_windows(*layer_);
  add("",
      is_of_sequences() ? (even ? "avg_pool1d" : "average1d")
                        : (even ? "avg_pool" : "average"),
      layer_->settings, layer_->out);
}

void lowering::take_over_time() {
  auto body = lowering(out_.candidates).all(layer_->body);
  auto& s = add("", "over_time", layer_->settings, layer_->out);
  for (const auto& within : body.steps)
    for (const auto& t : within.tensors)
      s.tensors.push_back({fmt::format("{}.{}", within.name, t.role),
                           here().tensors.begin + t.index, t.trained});
  s.body = std::make_shared<const program>(std::move(body));
}

void lowering::take_recall() {
  auto& s = add("", "dense", {}, layer_->out);
  s.inputs.front().delay = integer_setting(layer_->settings, "steps");
  recalls_.emplace_back(out_.steps.size() - 1, layer_->inputs.front());
  give(s, {{"weight", "weight"}});
}

} // namespace

program lower(const network& n, std::int64_t candidates) {
  return lowering(candidates).all(n.layers);
}

std::vector<program_step> body_steps(const program_step& over_time,
                                     const std::string& prefix) {
  auto steps = over_time.body->steps;
  std::size_t next = 0;
  for (auto& s : steps) {
    s.name = prefix + s.name;
    s.word = prefix + s.word;
    for (auto& t : s.tensors)
      t.index = over_time.tensors[next++].index;
  }
  return steps;
}

std::optional<tensor_index> program_step::tensor(std::string_view role) const {
  const auto found = std::ranges::find(tensors, role, &step_tensor::role);
  return found == tensors.end() ? std::nullopt : std::optional(found->index);
}

std::vector<std::int64_t> program::shape_of(tensor_index i) const {
  auto shape = tensors[i].entry.shape();
  if (candidates > 1)
    shape.insert(shape.begin(), candidates);
  return shape;
}

expected<void> check(const program& p) {
  const auto refuse = [](std::string message) {
    return fail(error_kind::invalid_input, std::move(message));
  };
  if (p.candidates != 1)
    return refuse(fmt::format(
        "a program of {} candidates cannot be computed yet; compute each by itself",
        p.candidates));
  for (const auto& s : p.steps)
    for (const auto& in : s.inputs)
      if (in.delay != 0)
        return refuse(
            fmt::format("{} takes what {} gave {} of time before, and steps over time "
                        "stand in the body of an over_time alone",
                        s.name, p.steps[in.step].name,
                        counted(static_cast<std::size_t>(in.delay), "step")));
  return {};
}

} // namespace clade
