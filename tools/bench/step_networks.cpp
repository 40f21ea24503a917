#include "tools/bench/step_networks.hpp"

#include "genome/base/random.hpp"
#include "search_spaces/files/load_search_space.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>

namespace clade {

namespace {

using json = nlohmann::ordered_json;

constexpr const char* layers_of_images = R"(
image = true
merge = ["add"]
[limits]
max_nodes = 200
max_skips = 200
max_parameters = 10_000_000
max_multiply_adds = 1_000_000_000
max_width = 1024
[operators.conv]
filters = { low = 1, high = 1024 }
kernel = [1, 3]
stride = [1, 2]
norm = "batch"
activation = ["none", "relu"]
[operators.depthwise_conv]
kernel = 3
stride = [1, 2]
norm = "batch"
activation = "relu"
[operators.activation]
function = "relu"
[operators.global_avg_pool]
)";

constexpr const char* layers_of_tables = R"(
image = false
[limits]
max_nodes = 20
max_parameters = 10_000_000
max_multiply_adds = 10_000_000
max_width = 1024
[operators.dense]
units = { low = 1, high = 1024 }
norm = "none"
activation = "relu"
)";

constexpr const char* hyperparameters = R"(
[hyperparameters]
optimizer = ["adamw", "sgd"]
learning_rate = 0.001
momentum = 0.9
weight_decay = 0.01
batch_size = [32, 256]
)";

// Puts layers after one another; a layer's number is its place, from 1.
class layer_writer {
public:
  unsigned add(const char* op, json settings, std::vector<unsigned> inputs) {
    layers_.push_back(
        {{"op", op}, {"settings", std::move(settings)}, {"inputs", std::move(inputs)}});
    return static_cast<unsigned>(layers_.size());
  }
  unsigned conv(unsigned from, int filters, int kernel, int stride,
                const char* activation) {
    return add("conv",
               {{"filters", filters},
                {"kernel", kernel},
                {"stride", stride},
                {"norm", "batch"},
                {"activation", activation}},
               {from});
  }
  unsigned sum_relu(unsigned one, unsigned other) {
    return add("activation", {{"function", "relu"}, {"merge", "add"}}, {one, other});
  }
  json take() { return std::move(layers_); }

private:
  json layers_ = json::array();
};

json table_layers() {
  layer_writer w;
  unsigned last = 0;
  for (const int units : {128, 128, 64})
    last = w.add("dense", {{"units", units}, {"norm", "none"}, {"activation", "relu"}},
                 {last});
  return w.take();
}

// Three basic blocks; 78,042 parameters.
json residual_layers() {
  layer_writer w;
  unsigned last = w.conv(0, 16, 3, 1, "relu");
  int width = 16;
  for (const int filters : {16, 32, 64}) {
    const int stride = filters == width ? 1 : 2;
    const unsigned first = w.conv(last, filters, 3, stride, "relu");
    const unsigned second = w.conv(first, filters, 3, 1, "none");
    const unsigned skip = stride == 1 ? last : w.conv(last, filters, 1, stride, "none");
    last = w.sum_relu(second, skip);
    width = filters;
  }
  w.add("global_avg_pool", json::object(), {last});
  return w.take();
}

struct inverted_block {
  int filters, stride;
};

// Blocks of three layers that are three times as wide within.
json mobile_layers() {
  constexpr std::array<inverted_block, 5> blocks{
      {{16, 1}, {24, 2}, {24, 1}, {40, 2}, {40, 1}}};
  layer_writer w;
  unsigned last = w.conv(0, 16, 3, 1, "relu");
  int width = 16;
  for (const auto& b : blocks) {
    const unsigned wide = w.conv(last, 3 * width, 1, 1, "relu");
    const unsigned deep = w.add(
        "depthwise_conv",
        {{"kernel", 3}, {"stride", b.stride}, {"norm", "batch"}, {"activation", "relu"}},
        {wide});
    const unsigned narrow = w.conv(deep, b.filters, 1, 1, "none");
    const bool skips = b.stride == 1 && b.filters == width;
    last = skips ? w.sum_relu(narrow, last) : narrow;
    width = b.filters;
  }
  last = w.conv(last, 120, 1, 1, "relu");
  w.add("global_avg_pool", json::object(), {last});
  return w.take();
}

template<class Value>
expected<void> write_npy(const std::filesystem::path& file, const char* type,
                         const std::string& shape, const std::vector<Value>& values) {
  std::string header = fmt::format(
      "{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  std::ofstream out(file, std::ios::binary);
  out << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size() & 0xff)
      << static_cast<char>(header.size() >> 8) << header;
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(Value)));
  out.flush();
  if (!out)
    return fail(error_kind::io, "cannot write " + file.string());
  return {};
}

} // namespace

std::vector<step_network> step_networks() {
  const tensor_shape row{{32}}, image{{3, 32, 32}};
  std::vector<step_network> all;
  for (const int batch : {32, 256}) {
    const auto add = [&](const char* name, const char* unit, json layers,
                         const tensor_shape& input, const char* optimizer,
                         std::int64_t examples) {
      all.push_back({.name = fmt::format("{}, batch {}", name, batch),
                     .unit = unit,
                     .description = {{"layers", std::move(layers)},
                                     {"hyperparameters",
                                      {{"optimizer", optimizer},
                                       {"learning_rate", 0.001},
                                       {"momentum", 0.9},
                                       {"weight_decay", 0.01},
                                       {"batch_size", batch}}}},
                     .input = input,
                     .examples = examples});
    };
    add("dense", "rows", table_layers(), row, "adamw", batch * std::int64_t{80});
    add("residual", "images", residual_layers(), image, "sgd", 512);
    add("mobile", "images", mobile_layers(), image, "adamw", 512);
  }
  return all;
}

expected<search_space> space_of(const step_network& n) {
  const bool image = n.input.sizes.size() == 3;
  return parse_search_space(std::string(image ? layers_of_images : layers_of_tables)
                                + hyperparameters,
                            "bench step");
}

expected<void> write_noise(const step_network& n, std::int64_t examples,
                           const std::filesystem::path& folder) {
  auto random = derive(1, purpose::synthetic, 0, 0);
  std::vector<float> features(static_cast<std::size_t>(examples * n.input.elements()));
  for (auto& f : features)
    f = static_cast<float>(random.normal());
  std::vector<std::int64_t> targets(static_cast<std::size_t>(examples));
  for (std::size_t i = 0; i < targets.size(); ++i)
    targets[i] = static_cast<std::int64_t>(i) % n.outputs;
  std::string shape = fmt::format("{},", examples);
  for (const auto size : n.input.sizes)
    shape += fmt::format(" {},", size);
  return write_npy(folder / "features.npy", "<f4", shape, features).and_then([&] {
    return write_npy(folder / "targets.npy", "<i8", fmt::format("{},", examples),
                     targets);
  });
}

} // namespace clade
