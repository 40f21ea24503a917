// Normalisations. In ONNX a layer norm is InstanceNormalization over one channel, and a
// channel norm is written out.
#include "engine/program/write/writer.hpp"

#include <fmt/format.h>

#include <array>

namespace clade {
namespace {

std::string channels(const written_step& s) {
  return std::to_string(s.step.out.sizes.front());
}

std::string batch_norm_onnx(onnx_lines& s) {
  s.last("BatchNormalization", {s.x(), s.weight("weight"), s.weight("bias"),
                                s.weight("running_mean"), s.weight("running_var")})
      .real("epsilon", norm_epsilon);
  return s.step.name;
}

std::string batch_norm_script(const written_step& s) {
  return fmt::format("torch.batch_norm({}, {}, {}, {}, {}, False, 0.1, {}, True)", s.x(),
                     script_tensor(s, "weight"), script_tensor(s, "bias"),
                     script_tensor(s, "running_mean"), script_tensor(s, "running_var"),
                     literal(norm_epsilon));
}

std::string batch_norm_module(const written_step& s) {
  const bool image = s.step.out.layout() == layout::image;
  return fmt::format("{}{})", image ? "nn.BatchNorm2d(" : "nn.BatchNorm1d(", channels(s));
}

// Multiplies a part by the weight and adds the bias, both by channel, which is the first
// of so many dimensions behind the batch.
std::string scaled_by_channel(onnx_lines& s, const std::string& role,
                              std::size_t dimensions) {
  onnx_lines::sizes per_channel(dimensions, 1);
  per_channel[0] = s.step.out.sizes[0];
  s.add("Mul",
        {s.part(role), s.numbers("weight", per_channel, s.tensor("weight").values)},
        "scaled");
  s.last("Add",
         {s.part("scaled"), s.numbers("bias", per_channel, s.tensor("bias").values)});
  return s.step.name;
}

std::string layer_norm_onnx(onnx_lines& s) {
  s.add("Reshape", {s.x(), s.shape("as_one", {0, 1, -1})}, "one");
  s.add("InstanceNormalization",
        {s.part("one"), s.numbers("scale", {1}, std::vector<float>{1}),
         s.numbers("offset", {1}, std::vector<float>{0})},
        "normal")
      .real("epsilon", norm_epsilon);
  s.add("Reshape",
        {s.part("normal"), s.shape("as_before", onnx_graph::of_examples(s.step.out))},
        "shaped");
  return scaled_by_channel(s, "shaped", s.step.out.sizes.size());
}

std::string layer_norm_script(const written_step& s) {
  return fmt::format("torch.group_norm({}, 1, {}, {}, {}, True)", s.x(),
                     script_tensor(s, "weight"), script_tensor(s, "bias"),
                     literal(norm_epsilon));
}

std::string layer_norm_module(const written_step& s) {
  return fmt::format("nn.GroupNorm(1, {})", channels(s));
}

std::string channel_norm_onnx(onnx_lines& s) {
  const auto mean = [&](const std::string& of, const char* role) {
    s.add("ReduceMean", {of}, role)
        .list("axes", onnx_lines::sizes{1})
        .whole("keepdims", 1);
  };
  mean(s.x(), "mean");
  s.add("Sub", {s.x(), s.part("mean")}, "centered");
  s.add("Mul", {s.part("centered"), s.part("centered")}, "squares");
  mean(s.part("squares"), "variance");
  s.add("Add", {s.part("variance"), s.number("epsilon", norm_epsilon)}, "positive");
  s.add("Sqrt", {s.part("positive")}, "deviation");
  s.add("Div", {s.part("centered"), s.part("deviation")}, "normal");
  return scaled_by_channel(s, "normal", 3);
}

std::string channel_norm_script(const written_step& s) {
  return fmt::format("torch.permute(torch.layer_norm(torch.permute({}, [0, 2, 3, 1]), "
                     "[{}], {}, {}, {}, True), [0, 3, 1, 2])",
                     s.x(), channels(s), script_tensor(s, "weight"),
                     script_tensor(s, "bias"), literal(norm_epsilon));
}

std::string channel_norm_module(const written_step& s) {
  return fmt::format("ChannelNorm({})", channels(s));
}

constexpr std::string_view channel_norm_class = R"(
class ChannelNorm(nn.LayerNorm):
    """Of each pixel, over its channels."""

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)

)";

constexpr std::array rows{
    writer{.computes = "batch_norm",
           .onnx = batch_norm_onnx,
           .script = batch_norm_script,
           .python_module = batch_norm_module},
    writer{.computes = "layer_norm",
           .onnx = layer_norm_onnx,
           .script = layer_norm_script,
           .python_module = layer_norm_module},
    writer{.computes = "channel_norm",
           .onnx = channel_norm_onnx,
           .script = channel_norm_script,
           .python_module = channel_norm_module,
           .python_class = channel_norm_class},
};

} // namespace

std::span<const writer> norm_writers() {
  return rows;
}

} // namespace clade
