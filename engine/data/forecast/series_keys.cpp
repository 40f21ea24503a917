#include "engine/data/forecast/series_keys.hpp"

#include <fmt/format.h>

namespace clade {

expected<void> series_keys::find(const csv_head& head,
                                 const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto at = head.find_column(name, "column of series");
    if (!at)
      return tl::unexpected(at.error());
    columns_.push_back(*at);
    names_.push_back(head.name(*at));
  }
  return {};
}

std::uint32_t series_keys::series_of(const csv_row& r, const std::string& own) {
  std::string key;
  for (const std::size_t column : columns_)
    key += fmt::format("{}:{}", r.fields[column].size(), r.fields[column]);
  key += own;
  const auto series = codes_.code_of(key);
  if (series == labels_.size()) {
    auto& label = labels_.emplace_back();
    for (const std::size_t column : columns_)
      label.emplace_back(r.fields[column]);
    if (!own.empty())
      label.push_back(own);
  }
  return series;
}

} // namespace clade
