// export_samples FOLDER: networks in every format, each in a folder of its own with
// examples ("inputs", raw) and what Clade's own modules make of them ("outputs"), both as
// floats: for tests/integration/export_test.py. Every operator with each of its words and
// several windows stands in a network of its own; the others are random ones of the real
// spaces. Values of weights are random too, those of batch norms as after training.

#include "engine/export/source/onnx_model.hpp"
#include "engine/export/source/python_source.hpp"
#include "engine/export/source/safetensors.hpp"
#include "engine/export/torch/torch_work.hpp"
#include "engine/training/network/network_module.hpp"
#include "search_spaces/files/built_in.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/operators/operators.hpp"
#include "search_spaces/operators/variation.hpp"
#include "tests/support/genomes.hpp"
#include "tests/support/scratch.hpp"

#include <cstdio>
#include <set>

using namespace clade;

namespace {

namespace fs = std::filesystem;

template<class T>
T must(expected<T> e) {
  if (!e) {
    std::fprintf(stderr, "export_samples: %s\n", e.error().message.c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>)
    return std::move(*e);
}

std::vector<float> random_floats(std::size_t count, random_stream& random) {
  std::vector<float> values(count);
  for (auto& v : values)
    v = static_cast<float>(3 * random.normal());
  return values;
}

std::vector<weight_tensor> random_weights(const network& n, random_stream& random) {
  auto weights = network_module(n, {.id = 1}, at::kCPU).weights();
  for (auto& w : weights)
    for (auto& v : w.values)
      if (w.name.ends_with(".least"))
        v = 0.02F;
      else if (w.name.ends_with("running_var"))
        v = static_cast<float>(0.5 + random.uniform());
      else if (w.shape.size() == 1)
        v += static_cast<float>(0.3 * random.normal());
  return weights;
}

preprocessing a_preprocessing(const problem& p, random_stream& random) {
  preprocessing how;
  how.shape = p.input;
  how.width = static_cast<std::size_t>(p.input.elements());
  if (p.outputs == 1) {
    how.task = regression;
    how.target_scales = {{.mean = 10, .deviation = 2.5}};
  }
  for (std::int64_t i = 0; p.outputs > 1 && i < p.outputs; ++i)
    how.classes.push_back("c" + std::to_string(i));
  if (p.input.layout() == layout::image) {
    how.largest = 7;
  } else {
    for (std::size_t i = 0; i < how.width; ++i) {
      how.mean.push_back(random.normal());
      how.deviation.push_back(0.5 + random.uniform());
    }
    how.limit.assign(how.width, std::numeric_limits<double>::infinity());
    how.limit.front() = 0.5; // It is like a column with outliers.
  }
  return how;
}

class samples {
public:
  explicit samples(fs::path folder) : folder_(std::move(folder)) {}

  void write(const network& n, const problem& p) {
    for (const auto& l : n.layers) {
      met_.insert(l.op);
      for (const auto& within : l.body)
        met_.insert(within.op);
    }
    auto random = derive(11, purpose::synthetic, 0, count_);
    const auto weights = random_weights(n, random);
    auto m = must(export_network(n, weights));
    m.run = "sample";
    m.id = ++count_;
    m.how = a_preprocessing(p, random);
    constexpr std::size_t examples = 5;
    const auto inputs = random_floats(examples * m.how.width, random);
    const raw_rows rows{.origin = {}, .count = examples, .values = inputs, .lines = {}};
    const auto outputs = must(work_->outputs(n, weights, must(prepare(rows, m.how))));
    const auto here = folder_ / std::to_string(count_);
    fs::create_directories(here);
    write_text(here / "model.py", python_source(m));
    write_text(here / "model.safetensors", encode_safetensors(m));
    write_text(here / "model.onnx", encode_onnx(m));
    write_text(here / "model.pt", must(work_->torchscript(m)));
    write_text(here / "network.txt", m.drawing);
    write_text(here / "shape.txt", to_text(p.input));
    write_floats(here / "inputs", inputs);
    write_floats(here / "outputs", outputs);
  }

  [[nodiscard]] const std::set<std::string>& met() const { return met_; }

private:
  static void write_floats(const fs::path& file, const std::vector<float>& values) {
    write_text(file, {reinterpret_cast<const char*>(values.data()),
                      values.size() * sizeof(float)});
  }

  fs::path folder_;
  std::unique_ptr<torch_work> work_ = make_torch_work();
  candidate_id count_ = 0;
  std::set<std::string> met_;
};

void write_operators(samples& out) {
  const problem image{{{3, 7, 5}}, 4}, vector{{{6}}, 1}, series{{{9, 3}}, 4},
      mixed{{{6}}, 1, {true, false, true, true, false, true}};
  search_space images, sequences;
  images.input = layout::image;
  sequences.input = layout::sequence;
  const auto chain = [&](const operator_entry& o, const std::vector<setting>& settings) {
    const auto g = test::a_chain({{{}, std::string(o.name), settings}});
    out.write(must(decode(images, g, image)), image);
    out.write(must(decode({}, g, vector)), vector);
    out.write(must(decode(sequences, g, series)), series);
    if (o.name == "embed_numbers")
      out.write(must(decode({}, g, mixed)), mixed);
  };
  for (const auto& o : operators()) {
    if (o.role != operator_role::layer)
      continue;
    chain(o, {});
    for (const auto& s : o.settings)
      for (const auto word : s.words)
        chain(o, {{std::string(s.name), std::string(word)}});
  }
  for (const char* op :
       {"residual", "inverted_residual", "convnext", "residual1d", "inception1d"})
    for (const std::int64_t stride : {1, 2})
      chain(*find_operator(op), {{"repeats", std::int64_t{2}}, {"stride", stride}});
  for (const char* op : {"gru", "lstm", "rnn"})
    chain(*find_operator(op), {{"direction", "both"}, {"steps", "last"}});
  for (const char* op : {"attention", "transformer"})
    chain(*find_operator(op), {{"heads", std::int64_t{2}}, {"sees", "before"}});
  for (const std::int64_t size : {1, 2, 3, 8})
    chain(*find_operator("patches"), {{"size", size}});
  for (const char* op : {"max_pool", "avg_pool"})
    for (const std::int64_t kernel : {2, 3, 4, 5})
      for (const std::int64_t stride : {1, 2, 3})
        chain(*find_operator(op), {{"kernel", kernel}, {"stride", stride}});
  for (const char* sees : {"around", "before"})
    for (const std::int64_t stride : {1, 3})
      for (const char* op : {"conv1d", "grouped_conv1d"})
        chain(*find_operator(op), {{"dilation", std::int64_t{2}},
                                   {"filters", std::int64_t{6}},
                                   {"sees", sees},
                                   {"stride", stride}});
  for (const char* op : {"conv", "separable_conv", "depthwise_conv", "conv1d"})
    for (const std::int64_t dilation : {1, 2})
      for (const std::int64_t stride : {1, 2, 3})
        chain(*find_operator(op),
              {{"dilation", dilation}, {"kernel", std::int64_t{5}}, {"stride", stride}});
}

/// Repetitions of composites that have the same weights.
void write_shared(samples& out) {
  constexpr const char* text = R"(
image = true
[composites.block]
repeat = 3
share = true
layers = [
  {op = "conv", name = "a", filters = 4, norm = "batch", activation = "relu"},
  {op = "separable_conv", name = "b", filters = 4, norm = "batch"},
  {op = "add", from = ["a", "b"]},
]
[operators.block]
)";
  const problem p{{{3, 7, 5}}, 4};
  out.write(must(decode(must(parse_search_space(text, "shared.toml")),
                        test::a_chain({{{}, "block", {}}}), p)),
            p);
}

std::vector<network> random_networks(samples& out, const search_space& space,
                                     const problem& p, std::uint64_t count) {
  std::vector<network> networks;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto random = derive(5, purpose::sample, 0, i);
    auto g = must(sample(space, p, random)).child;
    for (int steps = 0; steps < 8; ++steps)
      g = mutate(space, p, g, {}, random).child;
    networks.push_back(must(decode(space, g, p)));
    out.write(networks.back(), p);
  }
  return networks;
}

/// So many of each ready space, and nothing else.
void write_spaces(samples& out, std::uint64_t each) {
  for (const auto& name : built_in_spaces()) {
    const auto space = must(load_built_in_space(name));
    const problem p = space.input == layout::image      ? problem{{{1, 8, 8}}, 10}
                      : space.input == layout::sequence ? problem{{{25, 3}}, 4}
                                                        : problem{{{13}}, 3};
    static_cast<void>(random_networks(out, space, p, each));
  }
}

void write_random(samples& out, const char* space_name, const problem& p) {
  const auto space = must(load_search_space(fs::path(CLADE_SEARCH_SPACES) / space_name));
  auto networks = random_networks(out, space, p, 20);
  networks = {networks[0], networks[1], linear_network(p)};
  if (p.input.layout() == layout::vector)
    networks.push_back(tree_network(p, {.trees = 7, .depth = 3}));
  if (has_convolutions(p.input))
    networks.push_back(
        convolution_network(p, {.dilations = 3, .groups = 2, .thresholds = 2}));
  if (p.outputs == 1)
    return out.write(mixture_of(networks, mixed_answers::values), p);
  out.write(mixture_of(networks, mixed_answers::probabilities), p);
  out.write(mixture_of(networks, mixed_answers::bounded_probabilities), p);
  if (p.input.layout() == layout::image)
    out.write(mixture_of(networks, mixed_answers::probabilities, {true, false, true}), p);
}

} // namespace

int main(int count, char** words) {
  if (count != 2 && count != 3)
    return 2;
  samples out(words[1]);
  if (count == 3) {
    write_spaces(out, std::strtoull(words[2], nullptr, 10));
    return 0;
  }
  write_operators(out);
  write_shared(out);
  write_random(out, "image.toml", {{{1, 8, 8}}, 10});
  write_random(out, "series.toml", {{{25, 3}}, 4});
  write_random(out, "sequence.toml", {{{25, 3}}, 4});
  write_random(out, "recurrent.toml", {{{25, 3}}, 4});
  write_random(out, "vision_transformer.toml", {{{1, 8, 8}}, 10});
  write_random(out, "cells.toml", {{{1, 8, 8}}, 10});
  write_random(out, "grammar.toml", {{{1, 8, 8}}, 10});
  write_random(out, "mlp.toml", {{{13}}, 3});
  write_random(out, "mlp.toml", {{{13}}, 1});
  for (const auto& o : operators())
    if (o.parts == nullptr && !out.met().contains(std::string(o.name))) {
      std::fprintf(stderr, "export_samples: no network has %s\n",
                   std::string(o.name).c_str());
      return 1;
    }
  return 0;
}
