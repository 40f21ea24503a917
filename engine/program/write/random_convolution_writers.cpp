// Fixed random convolutions of sequences [N, steps, channels]: a convolution for each part
// of the kernels (../kernels/random_convolutions.hpp), and its pool.
#include "engine/program/write/writer.hpp"

#include <fmt/format.h>

#include <array>

namespace clade {
namespace {

using sizes = onnx_lines::sizes;

std::int64_t distance_of(std::int64_t part) {
  return std::int64_t{1} << (part / 2);
}

/// The values of one part of a tensor whose first axis is that of the parts.
std::vector<float> values_of(const weight_tensor& t, std::int64_t part) {
  const auto each = std::ssize(t.values) / t.shape[0];
  const auto first = t.values.begin() + part * each;
  return {first, first + each};
}

// ONNX

// Returns the names of the sequences and of their differences, [N, channels, steps].
std::array<std::string, 2> sequences_onnx(onnx_lines& s) {
  const auto steps = s.step.in.sizes[0];
  s.add("Transpose", {s.x()}, "values").list("perm", sizes{0, 2, 1});
  const auto axis = s.shape("steps", {2});
  const auto zero = s.shape("first", {0}), one = s.shape("second", {1});
  const auto last = s.shape("last", {steps - 1}), end = s.shape("end", {steps});
  s.add("Slice", {s.part("values"), one, end, axis}, "later");
  s.add("Slice", {s.part("values"), zero, last, axis}, "earlier");
  s.add("Sub", {s.part("later"), s.part("earlier")}, "differences");
  return {s.part("values"), s.part("differences")};
}

// Returns the name of what the kernels of a part say.
std::string convolved_onnx(onnx_lines& s, const std::array<std::string, 2>& sequences,
                           std::int64_t part) {
  const auto& weight = s.tensor("weight");
  const auto distance = distance_of(part);
  const auto role = fmt::format("said{}", part);
  const auto kernels = s.numbers(fmt::format("weight{}", part),
                                 {weight.shape[1], weight.shape[2], weight.shape[3]},
                                 values_of(weight, part));
  s.add("Conv", {sequences[static_cast<std::size_t>(part % 2)], kernels}, role)
      .list("kernel_shape", sizes{random_kernel_length})
      .list("strides", sizes{1})
      .list("pads", {4 * distance, 4 * distance})
      .list("dilations", sizes{distance});
  return s.part(role);
}

// Adds the names of the shares of steps at which kernels are above their thresholds.
void add_shares_onnx(onnx_lines& s, const std::string& said, std::int64_t part,
                     onnx_lines::names& features) {
  const auto& thresholds = s.tensor("thresholds");
  const auto kernels = thresholds.shape[1], each = thresholds.shape[2];
  const auto all = values_of(thresholds, part);
  for (std::int64_t i = 0; i < each; ++i) {
    std::vector<float> least;
    for (std::int64_t k = 0; k < kernels; ++k)
      least.push_back(all[static_cast<std::size_t>(k * each + i)]);
    const auto name = [&](const char* role) {
      return fmt::format("{}{}_{}", role, part, i);
    };
    s.add("Greater", {said, s.numbers(name("threshold"), {kernels, 1}, least)},
          name("above"));
    const auto counted = s.graph.cast(s.part(name("above")), onnx_graph::element::real32,
                                      s.part(name("counted")));
    s.add("ReduceMean", {counted}, name("share"))
        .list("axes", sizes{2})
        .whole("keepdims", 0);
    features.push_back(s.part(name("share")));
  }
}

// Returns the name of the roots of the means of what won.
std::string won_onnx(onnx_lines& s, const std::string& said, const std::string& number) {
  const auto add = [&](const char* op, const onnx_lines::names& in, const char* role) {
    return s.add(op, in, role + number);
  };
  add("ReduceMax", {said}, "highest").list("axes", sizes{2}).whole("keepdims", 1);
  add("Equal", {said, s.part("highest" + number)}, "wins");
  const auto wins = s.graph.cast(s.part("wins" + number), onnx_graph::element::real32,
                                 s.part("counted" + number));
  add("Relu", {said}, "positive");
  add("Mul", {s.part("positive" + number), wins}, "won");
  add("ReduceMean", {s.part("won" + number)}, "mean")
      .list("axes", sizes{3})
      .whole("keepdims", 0);
  add("Sqrt", {s.part("mean" + number)}, "root");
  add("Flatten", {s.part("root" + number)}, "features").whole("axis", 1);
  return s.part("features" + number);
}

std::string convolutions_onnx(onnx_lines& s) {
  const auto sequences = sequences_onnx(s);
  const auto kernels = s.tensor("weight").shape[1];
  const auto with_thresholds = s.tensor("thresholds").shape[1];
  const auto axis = s.shape("kernels", {1}), first = s.shape("begin", {0}),
             between = s.shape("between", {with_thresholds}),
             after = s.shape("after", {kernels});
  onnx_lines::names features;
  for (std::int64_t part = 0; part < s.tensor("weight").shape[0]; ++part) {
    const auto number = std::to_string(part);
    const auto said = convolved_onnx(s, sequences, part);
    s.add("Slice", {said, first, between, axis}, "compared" + number);
    s.add("Slice", {said, between, after, axis}, "competing" + number);
    add_shares_onnx(s, s.part("compared" + number), part, features);
    const auto groups =
        s.shape("groups" + number, {-1, (kernels - with_thresholds) / kernels_of_group,
                                    kernels_of_group, s.step.in.sizes[0] - part % 2});
    s.add("Reshape", {s.part("competing" + number), groups}, "by_group" + number);
    s.add("Neg", {s.part("by_group" + number)}, "turned" + number);
    features.push_back(won_onnx(s, s.part("by_group" + number), "_high" + number));
    features.push_back(won_onnx(s, s.part("turned" + number), "_low" + number));
  }
  s.last("Concat", features).whole("axis", 1);
  return s.step.name;
}

// TorchScript

std::string called(const written_step& s) {
  return fmt::format("self.{}_features({})", s.step.name, s.x());
}

// A method of its own, since a large batch is computed in parts.
std::string features_script(const written_step& s) {
  const auto& weight = s.tensor("weight").shape;
  const auto& thresholds = s.tensor("thresholds").shape;
  std::string text = fmt::format(
      "def {}_features(self, x):\n    # type: (Tensor) -> Tensor\n    batches = []\n",
      s.step.name);
  const auto line = [&](const std::string& l) { text += fmt::format("        {}\n", l); };
  text += fmt::format("    for rows in torch.split(x, {}):\n",
                      std::max<std::int64_t>(1, (std::int64_t{1} << 20)
                                                    / (weight[1] * s.step.in.sizes[0])));
  line("values = torch.contiguous(torch.transpose(rows, 1, 2))");
  line("differences = values[:, :, 1:] - values[:, :, :-1]");
  line("features = []");
  for (std::int64_t part = 0; part < weight[0]; ++part) {
    const auto distance = distance_of(part);
    line(fmt::format("said = torch.conv1d({}, torch.select({}, 0, {}), None, [1], [{}], "
                     "[{}], 1)",
                     part % 2 == 0 ? "values" : "differences", script_tensor(s, "weight"),
                     part, 4 * distance, distance));
    for (std::int64_t i = 0; i < thresholds[2]; ++i)
      line(
          fmt::format("features.append(torch.mean(torch.gt(said[:, :{}], torch.unsqueeze("
                      "torch.select(torch.select({}, 0, {}), 1, {}), 1)).to(6), [2]))",
                      thresholds[1], script_tensor(s, "thresholds"), part, i));
    line(fmt::format("said = torch.reshape(said[:, {}:], [rows.size(0), -1, {}, {}])",
                     thresholds[1], kernels_of_group, s.step.in.sizes[0] - part % 2));
    for (const char* way : {"said", "torch.neg(said)"}) {
      line(fmt::format("turned = {}", way));
      line("wins = torch.eq(turned, torch.amax(turned, [2], True)).to(6)");
      line("features.append(torch.flatten(torch.sqrt(torch.mean(torch.relu(turned) * "
           "wins, [3])), 1))");
    }
  }
  line("batches.append(torch.cat(features, 1))");
  return text + "    return torch.cat(batches)\n\n";
}

// Python

std::string convolutions_module(const written_step& s) {
  const auto& weight = s.tensor("weight").shape;
  const auto& thresholds = s.tensor("thresholds").shape;
  return fmt::format("RandomConvolutions({}, {}, {}, {}, {})", weight[0], weight[1],
                     weight[2], thresholds[1], thresholds[2]);
}

constexpr std::string_view convolutions_class = R"(
class RandomConvolutions(nn.Module):
    """What is counted of fixed convolutions of sequences (even parts) and of their differences (odd parts), for each two
    parts of steps twice as far apart. The first kernels have thresholds: the shares of steps at which they are above
    them. The others compete in groups of eight: the roots of the means of what they say where they are the highest, and
    the lowest. Large batches are taken in parts."""

    def __init__(self, parts, kernels, channels, compared, thresholds):
        super().__init__()
        self.compared = compared
        self.register_buffer("weight", torch.zeros(parts, kernels, channels, 9))
        self.register_buffer("thresholds", torch.zeros(parts, compared, thresholds))

    def forward(self, x):
        rows = max(1, 2**20 // (self.weight.shape[1] * x.shape[1]))
        return torch.cat([self.features(some) for some in x.split(rows)])

    def features(self, x):
        x = x.transpose(1, 2).contiguous()
        both, features = (x, x[:, :, 1:] - x[:, :, :-1]), []
        for part, (weight, thresholds) in enumerate(zip(self.weight, self.thresholds)):
            distance = 2 ** (part // 2)
            said = F.conv1d(both[part % 2], weight, padding=4 * distance, dilation=distance)
            features += [(said[:, : self.compared] > t[:, None]).float().mean(2) for t in thresholds.unbind(1)]
            by_group = said[:, self.compared :].reshape(len(said), -1, 8, said.shape[2])
            features += [self.won(by_group), self.won(-by_group)]
        return torch.cat(features, 1)

    @staticmethod
    def won(said):
        wins = said == said.amax(2, keepdim=True)
        return (said.relu() * wins).mean(3).sqrt().flatten(1)

)";

constexpr std::array rows{
    writer{.computes = "random_convolutions",
           .onnx = convolutions_onnx,
           .script = called,
           .script_method = features_script,
           .python_module = convolutions_module,
           .python_class = convolutions_class},
};

} // namespace

std::span<const writer> random_convolution_writers() {
  return rows;
}

} // namespace clade
