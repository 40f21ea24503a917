#include "tools/doctor/finding.hpp"

#include "engine/report/base/format.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace clade {

namespace {

const char* word_of(health h) {
  switch (h) {
  case health::good:
    return "good";
  case health::poor:
    return "poor";
  case health::broken:
    return "broken";
  }
  return "";
}

} // namespace

health worst(const std::vector<finding>& findings) {
  health worst = health::good;
  for (const auto& f : findings)
    worst = std::max(worst, f.is);
  return worst;
}

std::string to_text(const std::vector<finding>& findings) {
  table lines({table::align::left, table::align::left, table::align::left});
  for (const auto& f : findings) {
    lines.add({f.about, word_of(f.is), f.found});
    if (!f.advice.empty())
      lines.add({"", "", "-> " + f.advice});
  }
  return lines.to_text(2);
}

std::string to_json(const std::vector<finding>& findings) {
  using json = nlohmann::ordered_json;
  json all = json::array();
  for (const auto& f : findings)
    all.push_back({{"about", f.about},
                   {"is", word_of(f.is)},
                   {"found", f.found},
                   {"advice", f.advice.empty() ? json(nullptr) : json(f.advice)}});
  const json out{{"healthy", worst(findings) != health::broken}, {"findings", all}};
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace clade
