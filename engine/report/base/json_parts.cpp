#include "engine/report/base/json_fields.hpp"
#include "engine/run/records/record_fields.hpp"

#include <algorithm>

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
  return json_of(t.pairs, [](const value_pair& p) -> json {
    return {p.actual, p.predicted};
  });
}

json most_wrong_json(const std::optional<test_evidence>& e) {
  if (!e)
    return {};
  json all = json::array();
  const auto add = [&](const auto& wrong) {
    json one{{e->by_line ? "line" : "index", wrong.place}};
    if constexpr (requires { wrong.file; })
      if (wrong.file)
        one["file"] = *wrong.file;
    all.push_back(put_fields(one, wrong));
  };
  std::ranges::for_each(e->classes, add);
  std::ranges::for_each(e->values, add);
  return all;
}

std::string_view model_of(const ensemble_member& m) {
  return m.id == 0 ? to_text(m.fitted()) : "candidate";
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

json forecast_json(const forecast_curve& of, const error_quantiles& errors) {
  json steps = json::array();
  for (const auto& s : of.steps) {
    json one = json_of(s);
    if (const auto interval = interval_of(of, s, errors)) {
      one["low"] = interval->low;
      one["high"] = interval->high;
    }
    steps.push_back(std::move(one));
  }
  return {{"series", of.series}, {"from", of.from},          {"origin", of.origin},
          {"to", of.to},         {"past", json_of(of.past)}, {"steps", steps}};
}

json forecasts_json(const test_details& t) {
  if (!t.forecasts)
    return {};
  return json_of(*t.forecasts, [&](const forecast_curve& one) {
    return forecast_json(one, t.validation_errors);
  });
}

} // namespace

ordered_json changes_json(const std::vector<change>& changes) {
  return json_of(changes);
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
      {"validation_errors",
       t.validation_errors.known() ? json_of(t.validation_errors) : json()},
      {"interval", t.evidence ? json_of(t.evidence->interval) : json()},
      {"most_wrong", most_wrong_json(t.evidence)},
      {"reliability", json_of(t.reliability)},
      {"columns", json_of(t.columns)},
      {"forecasts", forecasts_json(t)}};
}

ordered_json final_model_json(const model_composed& composed) {
  ordered_json out{{"temperature", composed.temperature},
                   {"least_probability", json_of(composed.least)},
                   {"metrics", metrics_json(composed.metrics)},
                   {"left_out", composed.left_out}};
  out["members"] = json_of(composed.members, [](const ensemble_member& m) -> json {
    return {{"id", m.id},
            {"share", m.share},
            {"model", model_of(m)},
            {"mirrored", m.mirrored.value_or(false)}};
  });
  out["models"] = json_of(composed.models);
  return out;
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
