// Layers that see the columns of a table, and what puts ensembles together.
#include "engine/program/write/writer.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numbers>

namespace clade {
namespace {

using sizes = onnx_lines::sizes;

std::string whole(std::int64_t n) {
  return std::to_string(n);
}

// The step's input as [N, sizes...].
std::string reshaped(onnx_lines& s, const sizes& of_example) {
  s.add("Reshape", {s.x(), s.shape("sizes", onnx_graph::of_examples({of_example}))},
        "sides");
  return s.part("sides");
}

// A part [N, features, width] as the step's [N, features * width].
std::string flat(onnx_lines& s, const char* role) {
  s.last("Flatten", {s.part(role)}).whole("axis", 1);
  return s.step.name;
}

// Select

std::string select_onnx(onnx_lines& s) {
  s.last("Gather", {s.x(), s.shape("columns", s.step.selected)}).whole("axis", 1);
  return s.step.name;
}

std::string select_script(const written_step& s) {
  return fmt::format("torch.index_select({}, 1, self.{}_columns)", s.x(), s.step.name);
}

std::vector<script_constant> selected_columns(const written_step& s) {
  return {{s.step.name + "_columns", {std::ssize(s.step.selected)}, s.step.selected}};
}

std::string select_python(const written_step& s) {
  return fmt::format("{}[:, [{}]]", s.x(), joined(s.step.selected));
}

// Piecewise

std::string piecewise_onnx(onnx_lines& s) {
  const auto& edges = s.tensor("edges");
  const auto features = edges.shape[0], bins = edges.shape[1] - 1;
  std::vector<float> low, width;
  for (std::size_t i = 0; i < edges.values.size(); ++i)
    if ((i + 1) % static_cast<std::size_t>(bins + 1) != 0) {
      low.push_back(edges.values[i]);
      width.push_back(std::max(edges.values[i + 1] - edges.values[i],
                               static_cast<float>(narrowest_bin)));
    }
  s.add("Sub", {reshaped(s, {features, 1}), s.numbers("low", {features, bins}, low)},
        "above");
  s.add("Div", {s.part("above"), s.numbers("width", {features, bins}, width)}, "share");
  s.add("Clip", {s.part("share"), s.number("zero", 0), s.number("one", 1)}, "cut");
  return flat(s, "cut");
}

std::string piecewise_script(const written_step& s) {
  const auto edges = script_tensor(s, "edges");
  return fmt::format("torch.flatten(torch.clamp((torch.unsqueeze({}, 2) - {}[:, :-1]) / "
                     "torch.clamp({}[:, 1:] - {}[:, :-1], {}), 0.0, 1.0), 1)",
                     s.x(), edges, edges, edges, literal(narrowest_bin));
}

std::string piecewise_module(const written_step& s) {
  return fmt::format("Piecewise({})", joined(s.tensor("edges").shape));
}

constexpr std::string_view piecewise_class = R"(
class Piecewise(nn.Module):
    """How far each feature is through each of its bins, from 0 to 1."""

    def __init__(self, features, edges):
        super().__init__()
        self.register_buffer("edges", torch.zeros(features, edges))

    def forward(self, x):
        low = self.edges[:, :-1]
        width = (self.edges[:, 1:] - low).clamp(min=0.001)
        return ((x[:, :, None] - low) / width).clamp(0, 1).flatten(1)

)";

// Periodic

std::string periodic_onnx(onnx_lines& s) {
  s.add("Mul", {reshaped(s, {s.step.in.sizes[0], 1}), s.weight("frequencies")}, "turns");
  s.add("Mul", {s.part("turns"), s.number("turn", 2 * std::numbers::pi)}, "angles");
  s.add("Cos", {s.part("angles")}, "cosines");
  s.add("Sin", {s.part("angles")}, "sines");
  s.add("Concat", {s.part("cosines"), s.part("sines")}, "both").whole("axis", 2);
  return flat(s, "both");
}

std::string periodic_script(const written_step& s) {
  const auto turns =
      fmt::format("torch.unsqueeze({}, 2) * {} * {}", s.x(),
                  script_tensor(s, "frequencies"), literal(2 * std::numbers::pi));
  return fmt::format("torch.flatten(torch.cat([torch.cos({}), torch.sin({})], 2), 1)",
                     turns, turns);
}

std::string periodic_module(const written_step& s) {
  return fmt::format("Periodic({})", joined(s.tensor("frequencies").shape));
}

constexpr std::string_view periodic_class = R"(
class Periodic(nn.Module):
    """Cosines and sines of each feature."""

    def __init__(self, features, frequencies):
        super().__init__()
        self.frequencies = nn.Parameter(torch.zeros(features, frequencies))

    def forward(self, x):
        turns = 2 * math.pi * self.frequencies * x[:, :, None]
        return torch.cat([turns.cos(), turns.sin()], 2).flatten(1)

)";

// Map each

std::string map_each_onnx(onnx_lines& s) {
  const auto& weight = s.tensor("weight").shape;
  s.add("MatMul", {reshaped(s, {weight[0], 1, weight[1]}), s.weight("weight")}, "mapped");
  s.add("Add", {s.part("mapped"), s.weight("bias", {weight[0], 1, weight[2]})},
        "shifted");
  return flat(s, "shifted");
}

std::string map_each_script(const written_step& s) {
  const auto& shape = s.tensor("weight").shape;
  return fmt::format("torch.flatten(torch.transpose(torch.bmm(torch.transpose(torch."
                     "reshape({}, [-1, {}, {}]), 0, 1), {}), 0, 1) + {}, 1)",
                     s.x(), whole(shape[0]), whole(shape[1]), script_tensor(s, "weight"),
                     script_tensor(s, "bias"));
}

std::string map_each_module(const written_step& s) {
  return fmt::format("MapEach({})", joined(s.tensor("weight").shape));
}

constexpr std::string_view map_each_class = R"(
class MapEach(nn.Module):
    """A linear map of each group of features."""

    def __init__(self, groups, size, width):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(groups, size, width))
        self.bias = nn.Parameter(torch.zeros(groups, width))

    def forward(self, x):
        groups = x.reshape(len(x), *self.weight.shape[:2])
        return (torch.einsum("ngi,gio->ngo", groups, self.weight) + self.bias).flatten(1)

)";

// Boosted trees

// All trees go down together, a level at a time. Nodes are counted from 0 in each tree.
std::string boosted_trees_onnx(onnx_lines& s) {
  const auto part = [&](const char* role, std::size_t level) {
    return role + std::to_string(level);
  };
  const auto trees = s.tensor("leaves").shape[0], leaves = s.tensor("leaves").shape[1];
  const auto width = s.step.out.sizes.front();
  sizes first_nodes, first_leaves;
  for (std::int64_t t = 0; t < trees; ++t) {
    first_nodes.push_back(t * (leaves - 1));
    first_leaves.push_back(t * leaves - (leaves - 1));
  }
  const auto& columns = s.tensor("features").values;
  const auto features = s.shape("features", sizes(columns.begin(), columns.end()));
  const auto flat_weight = [&](const char* role) {
    return s.weight(role, {std::ssize(s.tensor(role).values)});
  };
  const auto thresholds = flat_weight("thresholds"), said = flat_weight("leaves");
  const auto first = s.shape("first_nodes", first_nodes);
  const auto one = s.numbers("one", {}, sizes{1});
  std::string node;
  for (std::size_t level = 1; leaves >> level != 0; ++level) {
    const bool root = level == 1; // Which is the same for all examples.
    const auto name = [&](const char* role) { return s.part(part(role, level)); };
    const auto add = [&](const char* op, const onnx_lines::names& in, const char* role) {
      return s.add(op, in, part(role, level));
    };
    if (!root)
      add("Add", {node, first}, "place");
    const auto place = root ? first : name("place");
    add("Gather", {features, place}, "column");
    add(root ? "Gather" : "GatherElements", {s.x(), name("column")}, "value")
        .whole("axis", 1);
    add("Gather", {thresholds, place}, "threshold");
    add("GreaterOrEqual", {name("value"), name("threshold")}, "above");
    add("Add",
        {s.graph.cast(name("above"), onnx_graph::element::whole64, name("right")), one},
        "turn");
    if (!root) {
      add("Add", {node, node}, "twice");
      add("Add", {name("twice"), name("turn")}, "node");
    }
    node = name(root ? "turn" : "node");
  }
  s.add("Add", {node, s.shape("first_leaves", first_leaves)}, "leaf");
  s.add("Gather", {said, s.part("leaf")}, "said");
  s.add("Reshape", {s.part("said"), s.shape("rounds", {-1, trees / width, width})},
        "by_round");
  s.last("ReduceSum", {s.part("by_round"), s.shape("summed", {1})}).whole("keepdims", 0);
  return s.step.name;
}

std::string boosted_trees_script(const written_step& s) {
  return fmt::format("self.{}_sums({})", s.step.name, s.x());
}

// A method of its own, since the trees of a large batch are computed in parts.
std::string sums_of_trees(const written_step& s) {
  const auto& shape = s.tensor("leaves").shape;
  const auto inner = whole(shape[1] - 1);
  std::string text = fmt::format(
      "def {}_sums(self, x):\n    # type: (Tensor) -> Tensor\n    sums = []\n",
      s.step.name);
  const auto line = [&](const std::string& l) { text += fmt::format("        {}\n", l); };
  text += fmt::format("    for rows in torch.split(x, {}):\n",
                      whole(std::max<std::int64_t>(1, (1 << 20) / shape[0])));
  line(fmt::format("tree = torch.arange({}, device=x.device)", whole(shape[0])));
  line("node = torch.unsqueeze(torch.zeros_like(tree), 0).repeat([rows.size(0), 1])");
  for (auto level = shape[1]; level > 1; level /= 2) {
    line("place = node + tree * " + inner);
    line(fmt::format("right = torch.gather(rows, 1, torch.take({}, place).to(4)) >= "
                     "torch.take({}, place)",
                     script_tensor(s, "features"), script_tensor(s, "thresholds")));
    line("node = 2 * node + 1 + right.to(4)");
  }
  line(fmt::format("said = torch.take({}, node - {} + tree * {})",
                   script_tensor(s, "leaves"), inner, whole(shape[1])));
  line(fmt::format(
      "sums.append(torch.sum(torch.reshape(said, [rows.size(0), -1, {}]), [1]))",
      whole(s.step.out.sizes.front())));
  return text + "    return torch.cat(sums)\n\n";
}

std::string boosted_trees_module(const written_step& s) {
  return fmt::format("BoostedTrees({}, {})", joined(s.tensor("leaves").shape),
                     whole(s.step.out.sizes.front()));
}

constexpr std::string_view boosted_trees_class = R"(
class BoostedTrees(nn.Module):
    """Sums of what trees say. Node i of a tree is followed by node 2i + 1 or, if its feature is not below its threshold,
    by node 2i + 2; the leaves come last. Each of the features that come out has a tree in turn."""

    def __init__(self, trees, leaves, width):
        super().__init__()
        self.width = width
        self.register_buffer("features", torch.zeros(trees, leaves - 1))
        self.register_buffer("thresholds", torch.zeros(trees, leaves - 1))
        self.leaves = nn.Parameter(torch.zeros(trees, leaves))

    def forward(self, x):
        return torch.cat([self.sums(rows) for rows in x.split(max(1, 2**20 // len(self.leaves)))])

    def sums(self, x):
        trees, leaves = self.leaves.shape
        tree = torch.arange(trees, device=x.device)
        node = torch.zeros(len(x), trees, dtype=torch.long, device=x.device)
        for _ in range(leaves.bit_length() - 1):
            place = node + tree * (leaves - 1)
            right = x.gather(1, self.features.take(place).long()) >= self.thresholds.take(place)
            node = 2 * node + 1 + right.long()
        said = self.leaves.take(node - (leaves - 1) + tree * leaves)
        return said.view(len(x), -1, self.width).sum(1)

)";

// Mixture

bool mixes_values(const written_step& s) {
  return !text_setting(s.step.settings, "of").ends_with("probabilities");
}

std::string bounded_odds_onnx(onnx_lines& s, const onnx_lines::names& weighed) {
  const float least = s.tensor("least").values[0];
  s.add("Sum", weighed, "sum");
  s.add("Sigmoid", {s.part("sum")}, "mixed");
  s.add("Mul",
        {s.part("mixed"), s.numbers("rest", {}, std::vector<float>{1 - 2 * least})},
        "reduced");
  s.add("Add", {s.part("reduced"), s.weight("least")}, "bounded");
  s.add("Sub", {s.numbers("one", {}, std::vector<float>{1}), s.part("bounded")},
        "others");
  s.add("Div", {s.part("bounded"), s.part("others")}, "odds");
  s.last("Log", {s.part("odds")});
  return s.step.name;
}

std::string mixture_onnx(onnx_lines& s) {
  onnx_lines::names weighed;
  for (std::size_t i = 0; i < s.in.size(); ++i) {
    const auto number = std::to_string(i + 1);
    auto said = s.in[i];
    if (!mixes_values(s)) {
      s.add("Softmax", {said}, "probabilities" + number).whole("axis", 1);
      said = s.part("probabilities" + number);
    }
    const auto share = s.number("share" + number, s.tensor("shares").values[i]);
    s.add("Mul", {said, share}, "weighed" + number);
    weighed.push_back(s.part("weighed" + number));
  }
  if (mixes_values(s) && s.has("least"))
    return bounded_odds_onnx(s, weighed);
  if (mixes_values(s)) {
    s.last("Sum", weighed);
    return s.step.name;
  }
  s.add("Sum", weighed, "sum");
  s.add("Max", {s.part("sum"), s.numbers("smallest", {}, std::vector<float>{1e-12F})},
        "positive");
  s.add("Log", {s.part("positive")}, "log");
  if (!s.has("least")) {
    s.last("Div", {s.part("log"), s.weight("temperature")});
    return s.step.name;
  }
  const auto classes = static_cast<float>(s.step.out.sizes.front());
  const auto rest = s.numbers(
      "rest", {}, std::vector<float>{1 - classes * s.tensor("least").values[0]});
  s.add("Div", {s.part("log"), s.weight("temperature")}, "scores");
  s.add("Softmax", {s.part("scores")}, "calibrated").whole("axis", 1);
  s.add("Mul", {s.part("calibrated"), rest}, "reduced");
  s.add("Add", {s.part("reduced"), s.weight("least")}, "bounded");
  s.last("Log", {s.part("bounded")});
  return s.step.name;
}

std::string mixture_script(const written_step& s) {
  std::string sum;
  for (std::size_t i = 0; i < s.in.size(); ++i)
    sum += fmt::format(
        "{}{}[{}] * {}", i == 0 ? "" : " + ", script_tensor(s, "shares"), i,
        mixes_values(s) ? s.in[i] : fmt::format("torch.softmax({}, 1)", s.in[i]));
  if (mixes_values(s) && s.has("least")) {
    const auto least = script_tensor(s, "least");
    return fmt::format("torch.logit(torch.sigmoid({}) * (1 - 2 * {}) + {})", sum, least,
                       least);
  }
  if (mixes_values(s))
    return sum;
  const auto scores = fmt::format("torch.log(torch.clamp({}, 1e-12)) / {}", sum,
                                  script_tensor(s, "temperature"));
  if (!s.has("least"))
    return scores;
  const auto least = script_tensor(s, "least");
  return fmt::format("torch.log(torch.softmax({}, 1) * (1 - {} * {}) + {})", scores,
                     whole(s.step.out.sizes.front()), least, least);
}

std::string mixture_module(const written_step& s) {
  return fmt::format("Mixture({}, {}{}", whole(s.tensor("shares").shape[0]),
                     mixes_values(s) ? "False" : "True",
                     s.has("least") ? ", bounded=True)" : ")");
}

constexpr std::string_view mixture_class = R"(
class Mixture(nn.Module):
    """What the members of an ensemble say, weighed by their shares."""

    def __init__(self, members, of_probabilities, bounded=False):
        super().__init__()
        self.of_probabilities = of_probabilities
        self.register_buffer("shares", torch.full((members,), 1 / members))
        self.register_buffer("temperature", torch.ones(1))
        # No probability is below it.
        self.register_buffer("least", torch.zeros(1) if bounded else None)

    def forward(self, *said):
        if not self.of_probabilities:
            mixed = sum(share * x for share, x in zip(self.shares, said))
            return mixed if self.least is None else (mixed.sigmoid() * (1 - 2 * self.least) + self.least).logit()
        mixed = sum(share * x.softmax(1) for share, x in zip(self.shares, said))
        scores = mixed.clamp(min=1e-12).log() / self.temperature
        if self.least is None:
            return scores
        classes = scores.shape[1]
        return (scores.softmax(1) * (1 - classes * self.least) + self.least).log()

)";

constexpr std::array rows{
    writer{.computes = "select",
           .onnx = select_onnx,
           .script = select_script,
           .script_constants = selected_columns,
           .python = select_python},
    writer{.computes = "piecewise",
           .onnx = piecewise_onnx,
           .script = piecewise_script,
           .python_module = piecewise_module,
           .python_class = piecewise_class},
    writer{.computes = "periodic",
           .onnx = periodic_onnx,
           .script = periodic_script,
           .python_module = periodic_module,
           .python_class = periodic_class},
    writer{.computes = "map_each",
           .onnx = map_each_onnx,
           .script = map_each_script,
           .python_module = map_each_module,
           .python_class = map_each_class},
    writer{.computes = "boosted_trees",
           .onnx = boosted_trees_onnx,
           .script = boosted_trees_script,
           .script_method = sums_of_trees,
           .python_module = boosted_trees_module,
           .python_class = boosted_trees_class},
    writer{.computes = "mixture",
           .onnx = mixture_onnx,
           .script = mixture_script,
           .python_module = mixture_module,
           .python_class = mixture_class},
};

} // namespace

std::span<const writer> table_writers() {
  return rows;
}

} // namespace clade
