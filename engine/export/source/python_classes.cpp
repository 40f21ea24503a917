#include "engine/export/source/python_classes.hpp"

#include <algorithm>

namespace clade {
namespace {

constexpr std::string_view average_class = R"(
class Average(nn.Module):
    """Row i of what comes out is the mean of the rows from rows[i][0] up to rows[i][1], and so with columns."""

    def __init__(self, rows, columns, height, width):
        super().__init__()
        self.register_buffer("rows", self.matrix(rows, height), persistent=False)
        self.register_buffer("columns", self.matrix(columns, width), persistent=False)

    @staticmethod
    def matrix(spans, size):
        matrix = torch.zeros(len(spans), size)
        for i, (start, end) in enumerate(spans):
            matrix[i, start:end] = 1 / (end - start)
        return matrix

    def forward(self, x):
        return self.rows @ x @ self.columns.T

)";

constexpr std::string_view channel_norm_class = R"(
class ChannelNorm(nn.LayerNorm):
    """Of each pixel, over its channels."""

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)

)";

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
            return sum(share * x for share, x in zip(self.shares, said))
        mixed = sum(share * x.softmax(1) for share, x in zip(self.shares, said))
        scores = mixed.clamp(min=1e-12).log() / self.temperature
        if self.least is None:
            return scores
        classes = scores.shape[1]
        return (scores.softmax(1) * (1 - classes * self.least) + self.least).log()

)";

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

constexpr std::string_view load_functions = R"(
def read_safetensors(file):
    """The tensors of a file by name; the package safetensors does the same."""
    data = pathlib.Path(file).read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    types = {"F32": torch.float32, "F64": torch.float64}
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            first, end = entry["data_offsets"]
            values = torch.frombuffer(bytearray(data[start + first:start + end]), dtype=types[entry["dtype"]])
            tensors[name] = values.reshape(entry["shape"])
    return tensors


)";

constexpr std::string_view load_trained = R"(
def load(weights=WEIGHTS):
    """The trained network, ready to predict."""
    network = Network()
    network.load_state_dict(read_safetensors(weights))
    return network.eval()

)";

constexpr std::string_view load_untrained = R"(
def load(weights=WEIGHTS):
    """The network with the initial weights of its candidate's seed."""
    network = Network()
    network.load_state_dict(read_safetensors(weights))
    return network
)";

template<class Step>
std::string_view where_used(std::span<const export_step> steps, std::string_view text) {
  const bool used = std::ranges::any_of(steps, [](const export_step& s) {
    return std::holds_alternative<Step>(s.computes);
  });
  return used ? text : "";
}

} // namespace

std::string python_classes(std::span<const export_step> steps) {
  std::string all;
  all += where_used<average_step>(steps, average_class);
  all += where_used<channel_norm_step>(steps, channel_norm_class);
  all += where_used<piecewise_step>(steps, piecewise_class);
  all += where_used<periodic_step>(steps, periodic_class);
  all += where_used<map_each_step>(steps, map_each_class);
  all += where_used<boosted_trees_step>(steps, boosted_trees_class);
  all += where_used<mixture_step>(steps, mixture_class);
  return all;
}

std::string python_loading(bool trained) {
  return std::string(load_functions).append(trained ? load_trained : load_untrained);
}

} // namespace clade
