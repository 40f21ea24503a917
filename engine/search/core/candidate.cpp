#include "engine/search/core/candidate.hpp"

#include "genome/base/text.hpp"
#include "genome/codec/codec.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace clade {

const char* to_text(outcome o) {
  static constexpr std::array names{"succeeded", "diverged", "timed out", "out of memory",
                                    "crashed",   "invalid",  "dropped"};
  const auto i = static_cast<std::size_t>(o);
  return i < names.size() ? names[i] : "unknown";
}

std::string to_text(const candidate& c) {
  std::string text = fmt::format("{} generation {}", numbered(c.id), c.generation);
  for (std::size_t i = 0; i < c.parents.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? " from #" : " #", c.parents[i]);
  text += ": " + to_text(c.changes);
  if (c.start != 0)
    text += fmt::format(", from the weights of #{}", c.start);
  if (c.epochs != 0)
    text += fmt::format(", to epoch {}", c.epochs);
  if (c.equal_to != 0)
    text += fmt::format(" (equal to #{})", c.equal_to);
  return text;
}

// Weights that were taken over make no other network of it: a search that inherits them
// looks for networks all the same.
genome_hash training_of(const candidate& c) {
  if (c.epochs == 0)
    return c.network;
  encoder out;
  out.array(4).natural(c.network.high).natural(c.network.low);
  out.natural(c.epochs).natural(c.start);
  const auto seen = out.take();
  return {.high = hash64(seen), .low = hash64(seen, 1)};
}

std::optional<double> find(const std::vector<metric>& metrics, std::string_view name) {
  for (const auto& m : metrics)
    if (m.name == name)
      return m.value;
  return std::nullopt;
}

void fail_with(evaluation& e, outcome o, std::string reason) {
  e.outcome = o;
  e.reason = std::move(reason);
  e.metrics.clear();
}

evaluation copy_for(candidate_id id, const evaluation& original) {
  evaluation copy;
  copy.id = id;
  copy.outcome = original.outcome;
  copy.metrics = original.metrics;
  copy.parameters = original.parameters;
  copy.weights_hash = original.weights_hash;
  copy.equal_to = original.id;
  copy.reason = original.reason;
  copy.tries = 0;
  copy.branches = original.branches;
  return copy;
}

std::string to_text(const evaluation& e) {
  std::string text = fmt::format("{}: {}", numbered(e.id), to_text(e.outcome));
  if (!e.metrics.empty())
    text += ",";
  for (const auto& m : e.metrics)
    text += fmt::format(" {}={}", m.name, to_text(value{m.value}));
  if (e.equal_to != 0)
    text += fmt::format(", copied from #{}", e.equal_to);
  if (!e.reason.empty())
    text += ", " + e.reason;
  return text;
}

std::vector<aim> aims_of(const objective& o) {
  std::vector<aim> aims{{o.metric, o.maximize}};
  aims.insert(aims.end(), o.others.begin(), o.others.end());
  return aims;
}

bool asks_for(const objective& o, std::string_view metric) {
  const auto is_it = [&](const auto& one) { return one.metric == metric; };
  return o.metric == metric || std::ranges::any_of(o.others, is_it)
         || std::ranges::any_of(o.constraints, is_it);
}

objective of_epochs(const objective& o) {
  for (const auto& a : aims_of(o))
    if (a.metric != parameters_metric && a.metric != multiply_adds_metric
        && a.metric != latency_metric)
      return {.metric = a.metric, .maximize = a.maximize};
  return {.metric = "validation.loss", .maximize = false};
}

std::optional<double> measured(const evaluation& e, std::string_view metric) {
  const auto found = find(e.metrics, metric);
  return !found && metric == parameters_metric
             ? std::optional(static_cast<double>(e.parameters))
             : found;
}

double as_measured(double raised, bool maximize) {
  return maximize ? raised : -raised;
}

std::string to_text(const objective& o) {
  std::string text = joined(aims_of(o), ", ", [&](const auto& a) {
    return a.metric + (a.maximize ? " raised" : " lowered");
  });
  for (const auto& c : o.constraints)
    text += fmt::format(", {}{}{}", c.metric, c.at_most ? " at most " : " at least ",
                        to_text(value{c.limit}));
  return text;
}

namespace {

std::optional<double> finite(const evaluation& e, const std::string& metric) {
  const auto found = measured(e, metric);
  return found && std::isfinite(*found) ? found : std::nullopt;
}

/// Returns by how much the value misses, as a share of the limit; a value that would
/// overflow stays finite.
double missed_by(const constraint& c, double found) {
  const double over = c.at_most ? found - c.limit : c.limit - found;
  if (over <= 0)
    return 0;
  constexpr double most = 1e100;
  return std::min(most, c.limit == 0 ? over : over / std::abs(c.limit));
}

} // namespace

fitness fitness_of(const evaluation& e, const objective& o) {
  const auto primary = finite(e, o.metric);
  if (e.outcome != outcome::succeeded || !primary)
    return {};
  fitness f{.ok = true, .primary = as_measured(*primary, o.maximize)};
  if (!o.others.empty())
    f.objectives.push_back(f.primary);
  for (const auto& other : o.others) {
    const auto found = finite(e, other.metric);
    if (!found)
      return {};
    f.objectives.push_back(as_measured(*found, other.maximize));
  }
  for (const auto& c : o.constraints) {
    const auto found = finite(e, c.metric);
    if (!found)
      return {};
    f.violation += missed_by(c, *found);
  }
  if (const auto loss = finite(e, "validation.loss"))
    f.secondary = -*loss;
  return f;
}

std::vector<double> cases_of(const evaluation& e, const std::vector<aim>& by) {
  std::vector<double> cases;
  if (e.outcome != outcome::succeeded)
    return cases;
  for (const auto& o : by) {
    const auto v = find(e.metrics, o.metric);
    cases.push_back(v && std::isfinite(*v) ? (o.maximize ? *v : -*v)
                                           : -std::numeric_limits<double>::infinity());
  }
  return cases;
}

bool fitter(const individual& a, const individual& b) {
  if (a.fitness.ok != b.fitness.ok)
    return a.fitness.ok;
  if (a.fitness.violation != b.fitness.violation)
    return a.fitness.violation < b.fitness.violation;
  if (a.fitness.primary != b.fitness.primary)
    return a.fitness.primary > b.fitness.primary;
  if (a.fitness.secondary != b.fitness.secondary)
    return a.fitness.secondary > b.fitness.secondary;
  return a.id < b.id;
}

std::string to_text(const std::vector<individual>& population) {
  std::string text;
  for (const auto& i : population) {
    text += fmt::format("{}{}=", text.empty() ? "#" : " #", i.id);
    text += i.fitness.ok ? to_text(value{i.fitness.primary}) : "failed";
  }
  return text;
}

} // namespace clade
