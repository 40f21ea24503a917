#include "engine/report/view/front_view.hpp"

#include "engine/report/base/format.hpp"
#include "engine/store/run/visit_rows.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/operators/network.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

/// Takes in candidates by id, which is by generation too.
class front_reader {
public:
  explicit front_reader(objective goal) { view_.goal = std::move(goal); }

  void add(const candidate_row& row) {
    const auto& line = row.line;
    if (line.evaluated_ms == 0)
      return;
    if (!generation_.empty() && line.generation != current_)
      end_generation();
    current_ = line.generation;
    generation_.push_back(line.rank);
    if (row.equal_to == 0)
      join_front(view_.members, {line.id, line.generation, line.rank, line.parameters},
                 &front_member::fitness);
  }

  front_view take() {
    if (!generation_.empty())
      end_generation();
    return std::move(view_);
  }

private:
  void end_generation() {
    const auto front = fitnesses_of(view_.members, &front_member::fitness);
    view_.steps.push_back({current_, measure_front(front, generation_, box_)});
    generation_.clear();
  }

  front_view view_;
  std::optional<hypervolume_box> box_;
  std::uint64_t current_ = 0;
  std::vector<fitness> generation_;
};

std::string padded(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      text += fmt::format("  {}{}", std::string(widths[i] - row[i].size(), ' '), row[i]);
    text += "\n";
  }
  return text;
}

} // namespace

expected<std::optional<front_view>> view_front(const store& s) {
  const auto overview = s.overview();
  if (!overview)
    return tl::unexpected(overview.error());
  if (overview->goal.others.empty())
    return std::nullopt;
  front_reader reader(overview->goal);
  const auto visited = visit_rows(s, [&](const candidate_row& row) { reader.add(row); });
  return visited.map([&] { return reader.take(); });
}

std::string front_words(const front_view& v) {
  const auto count = v.members.size();
  std::string text = count == 0   ? "no network is"
                     : count == 1 ? "1 network is"
                                  : with_commas(count) + " networks are";
  text += " on the front of " + to_text(v.goal);
  if (!v.steps.empty() && count > 0)
    text += fmt::format(
        "; hypervolume {} (1 is the best of the first generation in each at once)",
        metric_text(v.steps.back().front.hypervolume));
  return text;
}

std::vector<std::vector<std::string>> front_rows(const front_view& v) {
  const auto aims = aims_of(v.goal);
  std::vector<std::vector<std::string>> rows{{"id", "generation"}};
  for (const auto& a : aims)
    rows[0].push_back(a.metric);
  for (const auto& member : v.members) {
    rows.push_back({numbered(member.id), std::to_string(member.generation)});
    for (std::size_t i = 0; i < aims.size(); ++i)
      rows.back().push_back(
          aims[i].metric == parameters_metric
              ? with_commas(member.parameters)
              : metric_text(as_measured(member.fitness.objectives[i], aims[i].maximize)));
  }
  return rows;
}

std::vector<std::vector<std::string>> step_rows(const front_view& v, std::size_t most) {
  std::vector<std::vector<std::string>> rows{
      {"generation", "on the front", "hypervolume"}};
  const auto count = v.steps.size(), shown = std::min(count, most);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& step = v.steps[shown == 1 ? count - 1 : i * (count - 1) / (shown - 1)];
    rows.push_back({std::to_string(step.generation), with_commas(step.front.members),
                    metric_text(step.front.hypervolume)});
  }
  return rows;
}

std::string to_text(const front_view& v) {
  constexpr std::size_t most = 16;
  std::string text = front_words(v) + "\n";
  if (v.members.empty())
    return text;
  return fmt::format("{}{}\n{}", text, padded(front_rows(v)), padded(step_rows(v, most)));
}

} // namespace clade
