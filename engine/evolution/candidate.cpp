#include "engine/evolution/candidate.hpp"

#include "genome/codec.hpp"
#include "genome/hash.hpp"

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
  std::string text =
      "#" + std::to_string(c.id) + " generation " + std::to_string(c.generation);
  for (std::size_t i = 0; i < c.parents.size(); ++i)
    text += (i == 0 ? " from #" : " #") + std::to_string(c.parents[i]);
  text += ": " + c.origin;
  if (c.start != 0)
    text += ", from the weights of #" + std::to_string(c.start);
  if (c.epochs != 0)
    text += ", to epoch " + std::to_string(c.epochs);
  if (c.equal_to != 0)
    text += " (equal to #" + std::to_string(c.equal_to) + ")";
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
  return copy;
}

std::string to_text(const evaluation& e) {
  std::string text = "#" + std::to_string(e.id) + ": " + to_text(e.outcome);
  if (!e.metrics.empty())
    text += ",";
  for (const auto& m : e.metrics)
    text += " " + m.name + "=" + to_text(value{m.value});
  if (e.equal_to != 0)
    text += ", copied from #" + std::to_string(e.equal_to);
  if (!e.reason.empty())
    text += ", " + e.reason;
  return text;
}

fitness fitness_of(const evaluation& e, const objective& o) {
  const auto primary = find(e.metrics, o.metric);
  if (e.outcome != outcome::succeeded || !primary || !std::isfinite(*primary))
    return {};
  fitness f{.ok = true, .primary = o.maximize ? *primary : -*primary};
  if (const auto loss = find(e.metrics, "validation.loss"); loss && std::isfinite(*loss))
    f.secondary = -*loss;
  return f;
}

bool fitter(const individual& a, const individual& b) {
  if (a.fitness.ok != b.fitness.ok)
    return a.fitness.ok;
  if (a.fitness.primary != b.fitness.primary)
    return a.fitness.primary > b.fitness.primary;
  if (a.fitness.secondary != b.fitness.secondary)
    return a.fitness.secondary > b.fitness.secondary;
  return a.id < b.id;
}

std::string to_text(const std::vector<individual>& population) {
  std::string text;
  for (const auto& i : population) {
    text += (text.empty() ? "#" : " #") + std::to_string(i.id) + "=";
    text += i.fitness.ok ? to_text(value{i.fitness.primary}) : "failed";
  }
  return text;
}

} // namespace clade
