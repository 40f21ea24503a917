#include "engine/training/weights/inheritance.hpp"

#include "search_spaces/operators/operators.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <map>
#include <numeric>
#include <optional>

// Each unit of the parent's layers has a key: the layer and unit that computes it. Views
// and dropout have the keys of what enters them, since they compute nothing in
// evaluation; a flattened image has one for each channel and pixel, and a flattened
// sequence one for each step and feature. Going through the
// child's layers in order, each unit gets a claim: the parent's key whose value it has
// (nearly) again. If several units claim one key, whatever reads them divides what the
// parent gave to that key in proportion to the claims' weights.

namespace clade {
namespace {

using origin = layer_inheritance::origin;
using part = layer_inheritance::part;

struct key {
  std::int64_t layer = -1; ///< The layer of the parent; -1: none.
  std::int64_t unit = 0;
  std::int64_t pixel = 0; ///< From 1; 0: the whole unit.
  /// The height and width of the image whose pixel it is; of a sequence 1 and its steps.
  std::int64_t height = 0, width = 0;

  auto operator<=>(const key&) const = default;
};

struct claim {
  clade::key to;
  double weight = 1;
};

using claims = std::vector<claim>;

std::int64_t units_of(const tensor_shape& s) {
  return s.units();
}

/// Calls `each(channel, key's pixel part)` for the units of a flattened image or sequence.
template<class Each>
void for_each_pixel(const tensor_shape& flat, Each each) {
  const bool sequence = flat.layout() == layout::sequence;
  const auto height = sequence ? 1 : flat.sizes[1],
             width = sequence ? flat.sizes[0] : flat.sizes[2];
  const auto channels = flat.units(), pixels = height * width;
  for (std::int64_t i = 0; i < channels * pixels; ++i) {
    const auto channel = sequence ? i % channels : i / pixels;
    const auto pixel = sequence ? i / channels : i % pixels;
    each(static_cast<std::size_t>(channel),
         pixels == 1 ? clade::key{}
                     : clade::key{.pixel = pixel + 1, .height = height, .width = width});
  }
}

key pixel_of(key k, const key& pixel) {
  k.pixel = pixel.pixel;
  k.height = pixel.height;
  k.width = pixel.width;
  return k;
}

std::vector<std::vector<key>> keys_of(const network& n) {
  std::vector<std::vector<key>> all;
  for (std::size_t i = 0; i < n.layers.size(); ++i) {
    const auto& l = n.layers[i];
    std::vector<key> own;
    switch (operator_of(l).units) {
    case unit_origin::kept:
      own = all[l.inputs[0]];
      break;
    case unit_origin::selected:
      for (const auto unit : l.selected)
        own.push_back(all[l.inputs[0]][static_cast<std::size_t>(unit)]);
      break;
    case unit_origin::joined:
      for (const auto from : l.inputs)
        own.insert(own.end(), all[from].begin(), all[from].end());
      break;
    case unit_origin::flattened:
      for_each_pixel(l.in[0], [&](std::size_t c, const key& pixel) {
        own.push_back(pixel_of(all[l.inputs[0]][c], pixel));
      });
      break;
    default:
      for (std::int64_t u = 0; u < units_of(l.out); ++u)
        own.push_back({.layer = static_cast<std::int64_t>(i), .unit = u});
    }
    all.push_back(std::move(own));
  }
  return all;
}

/// Returns the keys among these that each claim stands for. If none is found and there
/// are as many of both, they are taken in their order.
std::vector<std::vector<part>> find_parts(const claims& in, std::span<const key> keys) {
  std::map<key, std::vector<std::int64_t>> places;
  for (std::size_t i = 0; i < keys.size(); ++i)
    places[keys[i]].push_back(static_cast<std::int64_t>(i));
  std::map<key, double> sums;
  for (const auto& c : in)
    sums[c.to] += c.weight;
  std::vector<std::vector<part>> found(in.size());
  bool any = false;
  for (std::size_t i = 0; i < in.size(); ++i)
    if (const auto at = places.find(in[i].to); at != places.end()) {
      any = true;
      for (const auto unit : at->second)
        found[i].push_back({unit, in[i].weight / sums[in[i].to]});
    }
  if (!any && in.size() == keys.size())
    for (std::size_t i = 0; i < in.size(); ++i)
      found[i].push_back({static_cast<std::int64_t>(i), 1});
  return found;
}

std::vector<std::int64_t> first_units(const std::vector<std::vector<part>>& parts) {
  std::vector<std::int64_t> units;
  for (const auto& p : parts)
    units.push_back(p.empty() ? -1 : p.front().unit);
  return units;
}

class planner {
public:
  planner(const network& child, const network& parent,
          std::span<const weight_tensor> weights, random_stream random)
      : child_(child),
        parent_(parent),
        weights_(weights),
        random_(random),
        keys_(keys_of(parent)) {
    for (std::size_t i = 0; i < parent.layers.size(); ++i)
      by_name_.emplace(parent.layers[i].name, i);
  }

  std::vector<layer_inheritance> plan() {
    for (std::size_t i = 0; i < child_.layers.size(); ++i) {
      const auto& l = child_.layers[i];
      at_ = {.layer = l.name, .how = origin::fresh, .units = {}, .inputs = {}};
      out_.clear();
      follow(l);
      out_.resize(static_cast<std::size_t>(units_of(l.out)));
      plan_.push_back(std::move(at_));
      claims_.push_back(std::exchange(out_, {}));
      positive_.push_back(is_positive(l));
    }
    return std::move(plan_);
  }

private:
  void follow(const layer& l);
  void follow_same(const layer& l, std::size_t twin);
  void follow_whole(const layer& l, std::size_t twin);
  void follow_body(const layer& l, std::size_t twin);
  void follow_project(const layer& l, const layer* twin);
  void follow_new(const layer& l);
  void choose_units(const layer& l, const layer& twin);
  void choose_units_by_norm(const layer& l, const layer& twin);
  void pass_on(const layer& l);
  bool is_positive(const layer& l) const;
  bool can_be_identity(const layer& l) const;
  double norm(const std::string& name, std::int64_t unit) const;
  const layer* reader(const layer& l) const;
  bool choose_units_of_skip(const layer& l);

  /// The parent's layer of that name, whatever its operator.
  std::optional<std::size_t> named(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<std::size_t> same(const layer& l) const {
    const auto found = named(l.name);
    return found && parent_.layers[*found].op == l.op ? found : std::nullopt;
  }

  const network& child_;
  const network& parent_;
  std::span<const weight_tensor> weights_;
  random_stream random_;
  std::vector<std::vector<key>> keys_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::vector<layer_inheritance> plan_;
  std::vector<claims> claims_;
  std::vector<bool> positive_; ///< Never below 0.
  layer_inheritance at_;       ///< The inheritance of the layer that is being followed,
  claims out_;                 ///< and what its units claim.
};

void planner::follow(const layer& l) {
  if (l.inputs.empty()) {
    for (const auto& k : keys_[0])
      out_.push_back({k});
    return;
  }
  const auto twin = same(l);
  if (!l.body.empty())
    return twin ? follow_body(l, *twin) : void();
  switch (operator_of(l).units) {
  case unit_origin::fitted:
    return follow_project(l, twin ? &parent_.layers[*twin] : nullptr);
  case unit_origin::flattened:
    return for_each_pixel(l.in[0], [&](std::size_t c, const key& pixel) {
      auto one = claims_[l.inputs[0]][c];
      if (one.to.layer >= 0)
        one.to = pixel_of(one.to, pixel);
      out_.push_back(one);
    });
  case unit_origin::selected:
    for (const auto unit : l.selected)
      out_.push_back(claims_[l.inputs[0]][static_cast<std::size_t>(unit)]);
    return;
  case unit_origin::spread:
  case unit_origin::together:
    return twin ? follow_whole(l, *twin) : void();
  case unit_origin::joined:
    for (const auto from : l.inputs)
      out_.insert(out_.end(), claims_[from].begin(), claims_[from].end());
    return;
  case unit_origin::kept:
    out_ = claims_[l.inputs[0]];
    return;
  default:
    return twin ? follow_same(l, *twin) : follow_new(l);
  }
}

// Its units belong together, so that all are taken, or none.
void planner::follow_whole(const layer& l, std::size_t twin) {
  const auto& other = parent_.layers[twin];
  const auto& keys = keys_[other.inputs[0]];
  if (other.settings != l.settings
      || !std::ranges::equal(claims_[l.inputs[0]], keys, {}, &claim::to))
    return;
  at_.how = origin::copied;
  for (const auto& k : keys_[twin])
    out_.push_back({k});
}

// Its units are as the parent's if the same layer gives them.
void planner::follow_body(const layer& l, std::size_t twin) {
  at_.how = origin::by_name;
  for (const auto& within : l.body)
    if (within.op == "recall")
      at_.recalls.push_back(within.name);
  const auto& mine = l.body.back();
  const auto& theirs = parent_.layers[twin].body.back();
  if (mine.name == theirs.name && mine.op == theirs.op && mine.out == theirs.out)
    for (const auto& k : keys_[twin])
      out_.push_back({k});
}

// Sums and what works unit by unit come out as the parent's unit that the last input
// stands for; the main path is the last.
void planner::follow_same(const layer& l, std::size_t twin) {
  const auto& other = parent_.layers[twin];
  at_.how = origin::taken;
  at_.inputs = find_parts(claims_[l.inputs.back()], keys_[other.inputs.back()]);
  if (operator_of(l).units == unit_origin::made) {
    choose_units(l, other);
  } else {
    at_.units = first_units(at_.inputs);
    out_ = claims_[l.inputs.back()];
  }
  out_.resize(at_.units.size());
  for (std::size_t j = 0; j < out_.size(); ++j)
    out_[j].to =
        at_.units[j] < 0 ? key{} : keys_[twin][static_cast<std::size_t>(at_.units[j])];
}

/// The gene of which a layer is a part.
std::string_view gene_of(const layer& l) {
  return std::string_view(l.name).substr(0, l.name.find('.'));
}

// Within a composite, what is added to a skip or multiplied with it has the units that
// the skip has; a layer between them that keeps units is passed over. Returns whether the
// layer is one of these.
bool planner::choose_units_of_skip(const layer& l) {
  const layer* last = &l;
  const layer* meeting = reader(l);
  while (meeting != nullptr && operator_of(*meeting).units == unit_origin::kept) {
    last = meeting;
    meeting = reader(*meeting);
  }
  if (meeting == nullptr || !operator_of(*meeting).merges
      || gene_of(*meeting) != gene_of(l))
    return false;
  const auto before = same(*meeting);
  for (std::size_t i = 0; before && i < meeting->inputs.size(); ++i) {
    const auto skip = meeting->inputs[i];
    if (skip >= claims_.size() || &child_.layers[skip] == last)
      continue;
    at_.units =
        first_units(find_parts(claims_[skip], keys_[parent_.layers[*before].inputs[i]]));
    return true;
  }
  return false;
}

void planner::choose_units(const layer& l, const layer& twin) {
  const auto wanted = units_of(l.out), there = units_of(twin.out);
  if (!choose_units_of_skip(l))
    choose_units_by_norm(l, twin);
  out_.resize(at_.units.size());
  if (wanted > there)
    for (auto& c : out_)
      c.weight = 0.5 + random_.uniform();
}

void planner::choose_units_by_norm(const layer& l, const layer& twin) {
  const auto wanted = units_of(l.out), there = units_of(twin.out);
  at_.units.resize(static_cast<std::size_t>(there));
  std::iota(at_.units.begin(), at_.units.end(), std::int64_t{0});
  if (wanted < there) {
    std::ranges::stable_sort(at_.units, std::ranges::greater{},
                             [&](std::int64_t u) { return norm(twin.name, u); });
    at_.units.resize(static_cast<std::size_t>(wanted));
    std::ranges::sort(at_.units);
  }
  while (std::ssize(at_.units) < wanted)
    at_.units.push_back(
        static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(there))));
}

double planner::norm(const std::string& name, std::int64_t unit) const {
  double sum = 0, scale = 1;
  for (const auto& w : weights_) {
    const bool linear = w.name == name + ".weight",
               norm = w.name == name + ".norm.weight";
    if ((!linear && !norm) || w.shape.empty() || unit >= w.shape[0])
      continue;
    const auto each = w.values.size() / static_cast<std::size_t>(w.shape[0]);
    const auto row =
        std::span(w.values).subspan(static_cast<std::size_t>(unit) * each, each);
    if (norm)
      scale = std::abs(static_cast<double>(row.front()));
    for (const auto v : row)
      sum += linear ? static_cast<double>(v) * static_cast<double>(v) : 0;
  }
  return sum * scale * scale;
}

/// Who adds up what this projects.
const layer* planner::reader(const layer& l) const {
  for (const auto& r : child_.layers)
    for (const auto from : r.inputs)
      if (&child_.layers[from] == &l)
        return &r;
  return nullptr;
}

// The units that are projected are added to the main path, whose units must meet their
// like: the units that come out are those that the main path's stand for. If the parent
// needed no projection, this one is a selection among what enters; where it added
// nothing, it is zero.
void planner::follow_project(const layer& l, const layer* twin) {
  const auto* sum = reader(l);
  const auto before = sum == nullptr ? std::nullopt : same(*sum);
  if (!before) {
    at_.how = origin::zero;
    return;
  }
  const auto& parents_sum = parent_.layers[*before];
  const auto& in = claims_[l.inputs[0]];
  at_.units = first_units(
      find_parts(claims_[sum->inputs.back()], keys_[parents_sum.inputs.back()]));
  if (twin != nullptr) {
    at_.how = origin::taken;
    at_.inputs = find_parts(in, keys_[twin->inputs[0]]);
    return;
  }
  at_.how = origin::zero;
  for (const auto from :
       std::span(parents_sum.inputs).first(parents_sum.inputs.size() - 1))
    for (const auto& k : keys_[from])
      if (std::ranges::any_of(in, [&](const claim& c) { return c.to == k; })) {
        at_.how = origin::identity;
        at_.inputs = find_parts(in, keys_[from]);
        return;
      }
}

void planner::follow_new(const layer& l) {
  const auto twin = named(l.name); // The twin is of another operator.
  const auto& row = operator_of(l);
  if (row.block) {
    if (l.joins_at_zero)
      at_.how = origin::silent;
    else if (!twin && !l.starts_at_zero && can_be_identity(l))
      pass_on(l);
  } else if (row.units == unit_origin::each) {
    out_ = claims_[l.inputs.back()];
  }
  if (twin && units_of(parent_.layers[*twin].out) == units_of(l.out)) {
    out_.clear();
    for (const auto& k : keys_[*twin])
      out_.push_back({k});
  }
}

void planner::pass_on(const layer& l) {
  const auto& in = claims_[l.inputs[0]];
  at_.how = origin::identity;
  const auto wider = units_of(l.out) > std::ssize(in);
  for (std::int64_t u = 0; u < std::ssize(in); ++u) {
    at_.units.push_back(u);
    at_.inputs.push_back({{u, 1}});
  }
  while (std::ssize(at_.units) < units_of(l.out))
    at_.units.push_back(static_cast<std::int64_t>(random_.below(in.size())));
  for (const auto u : at_.units) {
    out_.push_back(in[static_cast<std::size_t>(u)]);
    if (wider)
      out_.back().weight *= 0.5 + random_.uniform();
  }
}

bool planner::can_be_identity(const layer& l) const {
  const auto& activation = text_setting(l.settings, "activation");
  const bool idle =
      activation == "none"
      || (positive_[l.inputs[0]]
          && (activation == "relu" || activation == "leaky_relu" || activation == "elu"));
  const auto* stride = find(l.settings, "stride");
  const bool strides = stride != nullptr && *stride != value(std::int64_t{1});
  return idle && !strides && text_setting(l.settings, "norm") != "layer"
         && units_of(l.out) >= units_of(l.in[0]);
}

bool planner::is_positive(const layer& l) const {
  for (const auto* name : {"activation", "function"})
    if (const auto* v = find(l.settings, name)) {
      const bool cuts = *v == value("relu") || *v == value("sigmoid");
      const bool idle = *v != value("tanh") && *v != value("gelu") && *v != value("silu");
      return cuts
             || (idle && plan_.back().how == origin::identity && positive_[l.inputs[0]]);
    }
  return operator_of(l).keeps_sign
         && std::ranges::all_of(l.inputs, [&](std::size_t i) { return positive_[i]; });
}

} // namespace

std::vector<layer_inheritance>
plan_inheritance(const network& child, const network& parent,
                 std::span<const weight_tensor> parents_weights, random_stream random) {
  return planner(child, parent, parents_weights, random).plan();
}

} // namespace clade
