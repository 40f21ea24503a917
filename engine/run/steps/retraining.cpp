#include "engine/run/steps/retraining.hpp"

#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

namespace clade {

namespace {

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// The largest difference of each metric, and the metrics that only one side has.
class gathered {
public:
  void add(const std::vector<metric>& stored, const std::vector<metric>& again) {
    for (const auto& m : stored) {
      const auto other = find(again, m.name);
      if (!other)
        lacking_[m.name] = "no " + m.name;
      // Time is never the same; that it was measured is.
      else if (m.name != latency_metric && !same_bits(m.value, *other))
        note(m.name, std::abs(m.value - *other));
    }
    for (const auto& m : again)
      if (!find(stored, m.name))
        lacking_[m.name] = m.name + ", which is not stored";
  }

  void tell(retraining& r) const {
    for (const auto& [name, by] : largest_)
      r.largest.push_back({name, by});
    for (const auto& [name, what] : lacking_)
      r.other.push_back(what);
  }

private:
  void note(const std::string& name, double by) {
    auto& most = largest_.try_emplace(name, 0).first->second;
    most = std::isnan(by) || by > most ? by : most;
  }

  std::map<std::string, double> largest_;
  std::map<std::string, std::string> lacking_;
};

} // namespace

retraining compare(const evaluation& stored, const evaluation& again) {
  retraining r;
  r.id = stored.id;
  r.epochs = std::min(stored.curve.size(), again.curve.size());
  gathered all;
  for (std::size_t i = 0; i < r.epochs; ++i)
    all.add(stored.curve[i].metrics, again.curve[i].metrics);
  all.add(stored.metrics, again.metrics);
  if (stored.outcome != again.outcome)
    r.other.push_back(
        fmt::format("{} instead of {}", to_text(again.outcome), to_text(stored.outcome)));
  if (stored.curve.size() != again.curve.size())
    r.other.push_back(
        fmt::format("{} epochs instead of {}", again.curve.size(), stored.curve.size()));
  all.tell(r);
  if (stored.parameters != again.parameters)
    r.other.push_back(
        fmt::format("{} parameters instead of {}", again.parameters, stored.parameters));
  if (stored.weights_hash != again.weights_hash)
    r.other.push_back("other weights");
  if (stored.branches != again.branches)
    r.other.push_back("other importances of branches");
  return r;
}

std::string to_text(const retraining& r) {
  const auto epochs = fmt::format("{}{}", r.epochs, r.epochs == 1 ? " epoch" : " epochs");
  std::string text = numbered(r.id) + ": ";
  if (r.equal())
    return fmt::format("{}equal, {}", text, epochs);
  text += "differs in " + epochs;
  for (const auto& m : r.largest)
    text += fmt::format(", {} by at most {}", m.name, to_text(value{m.value}));
  for (const auto& what : r.other)
    text += ", " + what;
  return text;
}

bool repeatable(const evaluation& e) {
  // A success has a reason only where its time was short: it was cut, or the log says what
  // the clock decided.
  return (e.outcome == outcome::succeeded && (e.reason.empty() || e.updates))
         || e.outcome == outcome::diverged || e.outcome == outcome::invalid;
}

} // namespace clade
