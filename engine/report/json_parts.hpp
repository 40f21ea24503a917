#pragma once

#include "engine/evolution/candidate.hpp"

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

inline ordered_json settings_json(const std::vector<setting>& settings) {
  auto out = ordered_json::object();
  for (const auto& s : settings)
    out[s.name] = std::visit([](const auto& v) { return ordered_json(v); }, s.value);
  return out;
}

} // namespace clade
