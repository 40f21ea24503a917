#include "engine/report/base/json_parts.hpp"

namespace clade {

namespace {

using json = ordered_json;

json confusion_json(const test_details& t) {
  if (t.classes.empty())
    return {};
  json rows = json::array();
  const auto width = t.classes.size();
  for (std::size_t i = 0; i < width; ++i) {
    const auto row = t.confusion.begin() + static_cast<std::ptrdiff_t>(i * width);
    rows.push_back(
        std::vector<std::uint64_t>(row, row + static_cast<std::ptrdiff_t>(width)));
  }
  return rows;
}

json pairs_json(const test_details& t) {
  if (t.pairs.empty())
    return {};
  json all = json::array();
  for (const auto& p : t.pairs)
    all.push_back({p.actual, p.predicted});
  return all;
}

json errors_json(const error_quantiles& q) {
  return q.values.empty() ? json() : json{{"examples", q.examples}, {"values", q.values}};
}

json interval_json(const std::optional<test_evidence>& e) {
  if (!e || !e->interval)
    return {};
  return {{"metric", e->interval->metric},
          {"low", e->interval->low},
          {"high", e->interval->high},
          {"resamples", e->interval->resamples}};
}

json most_wrong_json(const std::optional<test_evidence>& e) {
  if (!e)
    return {};
  const char* place = e->by_line ? "line" : "index";
  json all = json::array();
  for (const auto& m : e->classes)
    all.push_back({{place, m.place},
                   {"actual", m.actual},
                   {"predicted", m.predicted},
                   {"actual_probability", m.actual_probability},
                   {"predicted_probability", m.predicted_probability}});
  for (const auto& m : e->values)
    all.push_back({{place, m.place}, {"actual", m.actual}, {"predicted", m.predicted}});
  return all;
}

ordered_json best_json(const std::optional<seed_story::best>& best) {
  if (!best)
    return {};
  ordered_json out{{"id", best->id}};
  if (!best->seed.empty())
    out["name"] = best->seed;
  out["fitness"] = best->fitness;
  return out;
}

} // namespace

ordered_json changes_json(const std::vector<change>& changes) {
  auto out = json::array();
  for (const auto& c : changes)
    out.push_back({{"kind", to_text(c.kind)},
                   {"gene", some(c.gene)},
                   {"name", some(c.name)},
                   {"before", some(c.before)},
                   {"after", some(c.after)}});
  return out;
}

ordered_json details_json(const std::shared_ptr<const test_details>& details) {
  if (!details)
    return {};
  const auto& t = *details;
  return {
      {"examples", {{"train", t.train}, {"validation", t.validation}, {"test", t.test}}},
      {"metrics", metrics_json(t.metrics)},
      {"standard_error", t.standard_error > 0 ? json(t.standard_error) : json()},
      {"classes", t.classes.empty() ? json() : json(t.classes)},
      {"confusion", confusion_json(t)},
      {"pairs", pairs_json(t)},
      {"validation_errors", errors_json(t.validation_errors)},
      {"interval", interval_json(t.evidence)},
      {"most_wrong", most_wrong_json(t.evidence)}};
}

ordered_json seeds_json(const std::optional<seed_story>& told) {
  if (!told)
    return {};
  ordered_json champion;
  if (told->champion != 0)
    champion = {{"id", told->champion},
                {"is", some(told->champion_is)},
                {"descends_from", told->champion_from}};
  return {{"seeds", told->seeds},
          {"descendants", told->descendants},
          {"candidates", told->candidates},
          {"best_seed", best_json(told->best_seed)},
          {"best_other", best_json(told->best_other)},
          {"champion", std::move(champion)}};
}

} // namespace clade
