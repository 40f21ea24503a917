#include "engine/training/weights/initial_weights.hpp"

#include "search_spaces/operators/operators.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace clade {

namespace {

using sizes = std::vector<std::int64_t>;

const double half_gain = std::sqrt(2.0);

double gain_before(std::string_view activation) {
  constexpr std::array<std::string_view, 3> whole{"none", "tanh", "sigmoid"};
  return std::ranges::find(whole, activation) == whole.end() ? half_gain : 1;
}

/// Draws the tensors of one layer.
class drawing {
public:
  drawing(const layer& l, random_stream random, std::vector<weight_tensor>& out)
      : l_(l),
        random_(random),
        out_(out) {}

  void block(sizes shape);
  void conv() { block({channels_out(), channels_in(), kernel(), kernel()}); }
  void depthwise() { block({channels_in(), 1, kernel(), kernel()}); }
  void separable() {
    uniform("depthwise", {channels_in(), 1, kernel(), kernel()}, 1);
    block({channels_out(), channels_in(), 1, 1});
  }
  void dense() { block({channels_out(), channels_in()}); }
  void batch_norm() { norm("", "batch", channels_in(), 1); }
  void layer_norm() { norm("", "layer", channels_in(), 1); }
  void map();
  void mixture() {
    const auto members = std::ssize(l_.in);
    filled("shares", {members}, 1.0 / static_cast<double>(members));
    filled("temperature", {1}, 1);
    if (text_setting(l_.settings, "of") == "bounded_probabilities")
      filled("least", {1}, 0);
  }
  void piecewise();
  void periodic() {
    const auto sigma = real_setting(l_.settings, "sigma");
    drawn("frequencies", {channels_in(), whole("frequencies")},
          [&] { return sigma * random_.normal(); });
  }
  void map_each();
  void boosted_trees();

private:
  [[nodiscard]] std::int64_t whole(std::string_view name) const {
    return integer_setting(l_.settings, name);
  }
  [[nodiscard]] std::int64_t kernel() const { return whole("kernel"); }
  [[nodiscard]] std::int64_t channels_in() const { return l_.in.front().sizes.front(); }
  [[nodiscard]] std::int64_t channels_out() const { return l_.out.sizes.front(); }

  template<class Draw>
  void drawn(const std::string& role, sizes shape, Draw draw) {
    weight_tensor t{
        .name = l_.name + "." + role, .shape = std::move(shape), .values = {}};
    t.values.resize(static_cast<std::size_t>(tensor_shape{t.shape}.elements()));
    std::ranges::generate(t.values, [&] { return static_cast<float>(draw()); });
    out_.push_back(std::move(t));
  }
  void filled(const std::string& role, sizes shape, double value) {
    drawn(role, std::move(shape), [&] { return value; });
  }
  void within(const std::string& role, sizes shape, double bound) {
    drawn(role, std::move(shape), [&] { return (2 * random_.uniform() - 1) * bound; });
  }
  /// Fan-in is what one output adds up: all dimensions but the first.
  void uniform(const std::string& role, sizes shape, double gain) {
    const auto fan_in = std::accumulate(shape.begin() + 1, shape.end(), std::int64_t{1},
                                        std::multiplies<>());
    within(role, std::move(shape), gain * std::sqrt(3.0 / static_cast<double>(fan_in)));
  }
  void norm(const std::string& prefix, std::string_view kind, std::int64_t channels,
            double weight);

  const layer& l_;
  random_stream random_;
  std::vector<weight_tensor>& out_;
};

void drawing::norm(const std::string& prefix, std::string_view kind,
                   std::int64_t channels, double weight) {
  if (kind == "none")
    return;
  filled(prefix + "weight", {channels}, weight);
  filled(prefix + "bias", {channels}, 0);
  if (kind != "batch")
    return;
  filled(prefix + "running_mean", {channels}, 0);
  filled(prefix + "running_var", {channels}, 1);
}

void drawing::block(sizes shape) {
  const auto kind = text_setting(l_.settings, "norm");
  const bool has_bias = kind == "none";
  if (has_bias && l_.starts_at_zero)
    filled("weight", std::move(shape), 0);
  else
    uniform("weight", std::move(shape),
            gain_before(text_setting(l_.settings, "activation")));
  if (has_bias)
    filled("bias", {channels_out()}, 0);
  norm("norm.", kind, channels_out(), l_.starts_at_zero ? 0 : 1);
}

// project and output.
void drawing::map() {
  sizes shape{channels_out(), channels_in()};
  if (l_.out.layout() == layout::image)
    shape.insert(shape.end(), {1, 1});
  uniform("weight", std::move(shape), 1);
  filled("bias", {channels_out()}, 0);
}

// Bins of one width from -2 to 2.
void drawing::piecewise() {
  const auto bins = whole("bins");
  const float step = 4.0F / static_cast<float>(bins);
  std::int64_t i = 0;
  // From both ends, as LibTorch does: the last is 2 and not nearly.
  drawn("edges", {channels_in(), bins + 1}, [&] {
    const auto at = i++ % (bins + 1);
    return at < (bins + 1) / 2 ? -2 + step * static_cast<float>(at)
                               : 2 - step * static_cast<float>(bins - at);
  });
}

void drawing::map_each() {
  const auto groups = whole("groups");
  const auto in = channels_in() / groups, out = channels_out() / groups;
  within("weight", {groups, in, out},
         half_gain * std::sqrt(3.0 / static_cast<double>(in)));
  filled("bias", {groups, out}, 0);
}

void drawing::boosted_trees() {
  const auto each = whole("trees");
  const auto trees = each * channels_out(), leaves = std::int64_t{1} << whole("depth");
  const auto columns = static_cast<std::uint64_t>(channels_in());
  drawn("features", {trees, leaves - 1},
        [&] { return static_cast<double>(random_.below(columns)); });
  drawn("thresholds", {trees, leaves - 1}, [&] { return random_.normal(); });
  const double deviation = 1 / std::sqrt(static_cast<double>(each));
  drawn("leaves", {trees, leaves}, [&] { return deviation * random_.normal(); });
}

struct way {
  std::string_view op;
  void (drawing::*draw)();
};

constexpr std::array ways{
    way{"conv", &drawing::conv},
    way{"separable_conv", &drawing::separable},
    way{"depthwise_conv", &drawing::depthwise},
    way{"dense", &drawing::dense},
    way{"batch_norm", &drawing::batch_norm},
    way{"layer_norm", &drawing::layer_norm},
    way{"channel_norm", &drawing::layer_norm}, // The weights have the same shape.
    way{"project", &drawing::map},
    way{"mixture", &drawing::mixture},
    way{"piecewise", &drawing::piecewise},
    way{"periodic", &drawing::periodic},
    way{"map_each", &drawing::map_each},
    way{"boosted_trees", &drawing::boosted_trees},
    way{"output", &drawing::map},
};

} // namespace

std::vector<weight_tensor>
initial_weights(const network& n,
                const std::function<random_stream(std::string_view layer)>& stream_of) {
  std::vector<weight_tensor> all;
  for (const auto& l : n.layers)
    if (const auto found = std::ranges::find(ways, l.op, &way::op); found != ways.end()) {
      drawing of_layer(l, stream_of(l.name), all);
      (of_layer.*found->draw)();
    }
  return all;
}

} // namespace clade
