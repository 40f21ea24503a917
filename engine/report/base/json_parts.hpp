#pragma once

#include "engine/report/base/seed_story.hpp"
#include "engine/run/records/annotations.hpp"
#include "engine/run/records/test_details.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace clade {

// Parts of what programs read, for the files that write JSON; what is not known is null.

using ordered_json = nlohmann::ordered_json;

/// Text that is no UTF-8 (a reason, a file's name) must not end the program.
inline std::string text_of(const ordered_json& j) {
  return j.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// 0 is nobody.
inline ordered_json some(candidate_id id) {
  return id == 0 ? ordered_json() : ordered_json(id);
}

template<class T>
ordered_json some(const std::optional<T>& v) {
  return v ? ordered_json(*v) : ordered_json();
}

inline ordered_json some(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

inline ordered_json metrics_json(const std::vector<metric>& metrics) {
  auto out = ordered_json::object();
  for (const auto& m : metrics)
    out[m.name] = m.value;
  return out;
}

/// {"note","who","written","tags":[..]}: what people wrote on a candidate or on the run.
/// "written" is when they wrote the note, in milliseconds since 1970.
inline ordered_json annotation_json(const annotation& a) {
  return {{"note", some(a.note)},
          {"who", some(a.who)},
          {"written", a.unix_ms == 0 ? ordered_json() : ordered_json(a.unix_ms)},
          {"tags", a.tags}};
}

/// [{"id",..}]: the same by candidate; id 0 is the run.
inline ordered_json annotations_json(const annotations& all) {
  auto out = ordered_json::array();
  for (const auto& [id, one] : all) {
    out.push_back({{"id", id}});
    out.back().update(annotation_json(one));
  }
  return out;
}

/// {"examples":{"train","validation","test"},"metrics":{..},"standard_error",
/// "classes":[..],"confusion":[[..]],"pairs":[[actual,predicted]],
/// "validation_errors":{"examples","values"},
/// "interval":{"metric","low","high","resamples"},
/// "most_wrong":[{"line" or "index","file" of images,"actual","predicted",
/// "actual_probability","predicted_probability"}],
/// "reliability":{"bins":[{"examples","said","right"}],"error"},
/// "columns":{"metric","examples","times","columns":[{"column","worse","low","high"}]}}:
/// confusion has a row for each actual class and a column for each predicted one; a
/// regression's most wrong examples have no probabilities. Null is what the task does not
/// have, or the run did not record; see test_details.hpp.
[[nodiscard]] ordered_json
details_json(const std::shared_ptr<const test_details>& details);

/// {"temperature","least_probability","metrics":{..},"left_out":[..],
/// "members":[{"id","share","model"}],
/// "models":[{"subject","id","metrics":{..},"parameters","share"}]}: models is null in runs
/// of earlier versions.
[[nodiscard]] ordered_json final_model_json(const model_composed& composed);

/// {"seeds","descendants","candidates","best_seed":{"id","name","fitness"},
/// "best_other":{"id","fitness"},"champion":{"id","is","descends_from":[..]}}: what the
/// seeds brought (seed_story.hpp); null where there were none.
[[nodiscard]] ordered_json seeds_json(const std::optional<seed_story>& told);

/// [{"kind":"widen","gene","name","before","after"}]: what made a candidate.
[[nodiscard]] ordered_json changes_json(const std::vector<change>& changes);

inline ordered_json settings_json(const std::vector<setting>& settings) {
  auto out = ordered_json::object();
  for (const auto& s : settings)
    out[s.name] = std::visit([](const auto& v) { return ordered_json(v); }, s.value);
  return out;
}

} // namespace clade
