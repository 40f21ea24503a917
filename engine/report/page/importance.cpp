#include "engine/report/page/importance.hpp"

#include "engine/report/base/forest.hpp"
#include "engine/report/base/format.hpp"
#include "engine/report/base/json_fields.hpp"
#include "engine/report/page/report_words.hpp"
#include "engine/store/run/visit_rows.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/operators/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace clade {

namespace {

/// The candidates that succeeded and are no copies, by rising id.
expected<std::vector<candidate_row>> measured_rows(const store& s,
                                                   const std::string& metric) {
  std::vector<candidate_row> found;
  const auto visited = visit_rows(s, [&](candidate_row&& row) {
    if (row.line.fitness && row.equal_to == 0 && find(row.metrics, metric))
      found.push_back(std::move(row));
  });
  return visited.map([&] { return std::move(found); });
}

feature_value value_of(const std::vector<setting>& settings, const std::string& name) {
  const auto found = std::ranges::find(settings, name, &setting::name);
  if (found == settings.end())
    return {};
  return std::visit(
      [](const auto& v) -> feature_value {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(v)>>)
          return static_cast<double>(v);
        else
          return std::string(v);
      },
      found->value);
}

struct named_feature {
  importance::matter what;
  std::vector<feature_value> values;
};

/// Returns the features that differ among the rows: layers by operator, then
/// hyperparameters, by name.
std::vector<named_feature> features_of(const std::vector<candidate_row>& rows) {
  std::set<std::string> operators, hyperparameters;
  for (const auto& row : rows) {
    for (const auto& s : row.operators)
      operators.insert(s.name);
    for (const auto& s : row.hyperparameters)
      hyperparameters.insert(s.name);
  }
  std::vector<named_feature> found;
  const auto add = [&](named_feature f) {
    if (std::set<feature_value>(f.values.begin(), f.values.end()).size() > 1)
      found.push_back(std::move(f));
  };
  for (const auto& name : operators) {
    named_feature f{.what = {.name = name + " layers", .layers = true}};
    for (const auto& row : rows) {
      auto count = value_of(row.operators, name);
      f.values.push_back(
          std::holds_alternative<std::monostate>(count) ? 0.0 : std::move(count));
    }
    add(std::move(f));
  }
  for (const auto& name : hyperparameters) {
    named_feature f{.what = {.name = name}};
    for (const auto& row : rows)
      f.values.push_back(value_of(row.hyperparameters, name));
    add(std::move(f));
  }
  return found;
}

} // namespace

expected<std::optional<importance>> measure_importance(const store& s) {
  const auto overview = s.overview();
  if (!overview)
    return tl::unexpected(overview.error());
  const auto& metric = overview->goal.metric;
  auto rows = measured_rows(s, metric);
  if (!rows)
    return tl::unexpected(rows.error());
  const auto step = (rows->size() + importance::most - 1) / importance::most;
  std::vector<candidate_row> some;
  std::vector<double> targets;
  for (std::size_t i = 0; i < rows->size(); i += std::max<std::size_t>(step, 1)) {
    targets.push_back(*find((*rows)[i].metrics, metric));
    some.push_back(std::move((*rows)[i]));
  }
  auto features = features_of(some);
  if (some.size() < importance::least || features.empty())
    return std::optional<importance>();
  std::vector<std::vector<feature_value>> columns;
  for (auto& f : features)
    columns.push_back(std::move(f.values));
  const auto measured = measure_features(columns, targets);
  importance out{.metric = metric,
                 .order = {},
                 .candidates = some.size(),
                 .explained = measured.explained};
  for (std::size_t i = 0; i < features.size(); ++i) {
    out.order.push_back(std::move(features[i].what));
    out.order.back().share = measured.shares[i];
  }
  std::ranges::stable_sort(out.order, std::greater(), &importance::matter::share);
  return std::optional(std::move(out));
}

std::string importance_words(const importance& i) {
  const auto explained = std::max(0.0, i.explained);
  return fmt::format(
      "Permutation importance on a random forest of {} trees over {} candidates. The "
      "forest explains {} of the variance of {} among candidates that its trees did not "
      "see{}",
      forest_importance::trees, with_commas(i.candidates), percent(explained), i.metric,
      explained < 0.2 ? ": so little that this order says not much." : ".");
}

std::string to_text(const importance& i) {
  using enum table::align;
  table lines({left, right, left});
  lines.add({"what", "importance", ""});
  for (const auto& m : i.order) {
    const auto bar = static_cast<std::size_t>(
        std::lround(30 * m.share / std::max(0.01, i.order.front().share)));
    lines.add({m.name, percent(m.share), std::string(bar, '#')});
  }
  std::string text = fmt::format("importance for {}\n{}", i.metric, lines.to_text(2));
  for (const auto& line : wrapped(importance_words(i), 78))
    text += line + "\n";
  return text;
}

std::string to_json(const importance& i) {
  const auto one = [](const auto& m) -> ordered_json {
    return {{"name", m.name},
            {"kind", m.layers ? "network" : "hyperparameter"},
            {"share", m.share}};
  };
  return text_of({{"metric", i.metric},
                  {"candidates", i.candidates},
                  {"explained", i.explained},
                  {"order", json_of(i.order, one)}});
}

} // namespace clade
