// Normalisations. In ONNX a layer norm is InstanceNormalization over one channel, and the
// norm of each pixel or step is written out.
#include "engine/program/write/writer.hpp"

#include <fmt/format.h>

#include <array>

namespace clade {
namespace {

std::string channels(const written_step& s) {
  return std::to_string(s.step.out.units());
}

bool is_of_sequences(const written_step& s) {
  return s.step.out.layout() == layout::sequence;
}

/// The first input with its channels or features behind the batch, in TorchScript.
std::string by_channel(const written_step& s) {
  return is_of_sequences(s) ? fmt::format("torch.transpose({}, 1, 2)", s.x()) : s.x();
}
std::string by_step(const written_step& s, const std::string& value) {
  return is_of_sequences(s) ? fmt::format("torch.transpose({}, 1, 2)", value) : value;
}

std::string called_by_channel(const written_step& s) {
  return is_of_sequences(s) ? fmt::format("self.{}({}.mT).mT", s.step.name, s.x())
                            : fmt::format("self.{}({})", s.step.name, s.x());
}

std::string batch_norm_onnx(onnx_lines& s) {
  const bool of_sequences = is_of_sequences(s);
  const onnx_lines::names in{of_sequences ? s.swapped(s.x(), "by_feature") : s.x(),
                             s.weight("weight"), s.weight("bias"),
                             s.weight("running_mean"), s.weight("running_var")};
  (of_sequences ? s.add("BatchNormalization", in, "normal")
                : s.last("BatchNormalization", in))
      .real("epsilon", norm_epsilon);
  return of_sequences ? s.last_swapped("normal") : s.step.name;
}

std::string batch_norm_script(const written_step& s) {
  return by_step(s,
                 fmt::format("torch.batch_norm({}, {}, {}, {}, {}, False, 0.1, {}, True)",
                             by_channel(s), script_tensor(s, "weight"),
                             script_tensor(s, "bias"), script_tensor(s, "running_mean"),
                             script_tensor(s, "running_var"), literal(norm_epsilon)));
}

std::string batch_norm_module(const written_step& s) {
  const bool image = s.step.out.layout() == layout::image;
  return fmt::format("{}{})", image ? "nn.BatchNorm2d(" : "nn.BatchNorm1d(", channels(s));
}

// Multiplies a part by the weight and adds the bias, both by channel, which is the first
// of so many dimensions behind the batch, or by feature, which is the last of a sequence's.
std::string scaled_by_channel(onnx_lines& s, const std::string& role,
                              std::size_t dimensions) {
  onnx_lines::sizes per_channel(dimensions, 1);
  (is_of_sequences(s) ? per_channel.back() : per_channel.front()) = s.step.out.units();
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
  return by_step(s, fmt::format("torch.group_norm({}, 1, {}, {}, {}, True)",
                                by_channel(s), script_tensor(s, "weight"),
                                script_tensor(s, "bias"), literal(norm_epsilon)));
}

std::string layer_norm_module(const written_step& s) {
  return fmt::format("nn.GroupNorm(1, {})", channels(s));
}

std::string norm_onnx(onnx_lines& s, std::int64_t axis) {
  const auto mean = [&](const std::string& of, const char* role) {
    s.add("ReduceMean", {of}, role)
        .list("axes", onnx_lines::sizes{axis})
        .whole("keepdims", 1);
  };
  mean(s.x(), "mean");
  s.add("Sub", {s.x(), s.part("mean")}, "centered");
  s.add("Mul", {s.part("centered"), s.part("centered")}, "squares");
  mean(s.part("squares"), "variance");
  s.add("Add", {s.part("variance"), s.number("epsilon", norm_epsilon)}, "positive");
  s.add("Sqrt", {s.part("positive")}, "deviation");
  s.add("Div", {s.part("centered"), s.part("deviation")}, "normal");
  return scaled_by_channel(s, "normal", s.step.out.sizes.size());
}
std::string channel_norm_onnx(onnx_lines& s) {
  return norm_onnx(s, 1);
}
std::string step_norm_onnx(onnx_lines& s) {
  return norm_onnx(s, 2);
}

std::string step_norm_script(const written_step& s) {
  return fmt::format("torch.layer_norm({}, [{}], {}, {}, {}, True)", s.x(), channels(s),
                     script_tensor(s, "weight"), script_tensor(s, "bias"),
                     literal(norm_epsilon));
}

std::string step_norm_module(const written_step& s) {
  return fmt::format("nn.LayerNorm({})", channels(s));
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
           .python = called_by_channel,
           .python_module = batch_norm_module},
    writer{.computes = "layer_norm",
           .onnx = layer_norm_onnx,
           .script = layer_norm_script,
           .python = called_by_channel,
           .python_module = layer_norm_module},
    writer{.computes = "channel_norm",
           .onnx = channel_norm_onnx,
           .script = channel_norm_script,
           .python_module = channel_norm_module,
           .python_class = channel_norm_class},
    writer{.computes = "step_norm",
           .onnx = step_norm_onnx,
           .script = step_norm_script,
           .python_module = step_norm_module},
};

} // namespace

std::span<const writer> norm_writers() {
  return rows;
}

} // namespace clade
