#include "engine/report/view.hpp"

#include "engine/store/run_lock.hpp"

#include <algorithm>

namespace clade {

namespace {

/// As run_finished has it.
constexpr const char* champion_subject = "champion";

std::string name_of(const std::filesystem::path& file) {
  const auto folder = std::filesystem::absolute(file).lexically_normal().parent_path();
  return file.filename() == store_file_name ? parse_run_folder(folder).name
                                            : file.stem().string();
}

std::uint64_t bytes_of(const std::filesystem::path& file) {
  std::uint64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    auto one = file;
    one += suffix;
    std::error_code absent;
    if (const auto size = std::filesystem::file_size(one, absent); !absent)
      bytes += size;
  }
  return bytes;
}

/// The test data's counterpart of "validation.accuracy".
std::string test_metric_of(const std::string& metric) {
  constexpr std::string_view validation = "validation.";
  return metric.starts_with(validation) ? "test." + metric.substr(validation.size())
                                        : metric;
}

expected<std::vector<candidate_overview>> lineage_of(const store& s, candidate_id id) {
  std::vector<candidate_overview> line;
  for (;;) {
    auto next = s.find_overview(id);
    if (!next)
      return tl::unexpected(next.error());
    line.push_back(std::move(*next));
    // Parents are older; damaged rows must not lead in a circle.
    if (line.back().parents.empty() || line.back().parents.front() >= id)
      return line;
    id = line.back().parents.front();
  }
}

} // namespace

std::string run_view::forked_from() const {
  constexpr std::string_view before = "# forked from ";
  const auto& text = overview.experiment;
  return text.starts_with(before)
             ? text.substr(before.size(), text.find('\n') - before.size())
             : "";
}

// As a resolved experiment has it, which escapes quotes; a reason has none.
std::string run_view::chosen() const {
  constexpr std::string_view before = "\nchosen = \"";
  const auto& text = overview.experiment;
  const auto section = text.find("\n[evolution]\n");
  const auto next = text.find("\n[", section + 1);
  const auto at = section == std::string::npos ? section : text.find(before, section);
  if (at == std::string::npos || at >= next)
    return "";
  const auto begin = at + before.size();
  return text.substr(begin, text.find('"', begin) - begin);
}

const char* run_view::state() const {
  if (overview.state == "finished")
    return "finished";
  return writer ? "running" : "stopped";
}

double run_view::seconds() const {
  return overview.started_ms == 0
             ? 0
             : static_cast<double>(overview.updated_ms - overview.started_ms) / 1000;
}

expected<run_view> view_run(const store& s, const std::filesystem::path& file) {
  auto overview = s.overview();
  if (!overview)
    return tl::unexpected(overview.error());
  return run_view{.name = name_of(file),
                  .file = file,
                  .bytes = bytes_of(file),
                  .overview = std::move(*overview),
                  .writer = writer_of(file),
                  .digest = {}};
}

expected<digest> digest_of(const store& s) {
  digest sum;
  return s
      .for_each([&](std::uint64_t, std::int64_t, const record& r) -> expected<void> {
        sum.add(r);
        return {};
      })
      .map([&] { return sum; });
}

expected<genome_view> view_genome(const store& s, candidate_id id) {
  const auto overview = s.overview();
  if (!overview)
    return tl::unexpected(overview.error());
  auto born = s.find_candidate(id);
  if (!born)
    return tl::unexpected(born.error());
  genome_view view{.born = std::move(*born), .goal = overview->goal};
  auto evaluated = s.find_evaluation(id);
  if (evaluated)
    view.evaluated = std::move(*evaluated);
  else if (evaluated.error().kind != error_kind::not_found)
    return tl::unexpected(evaluated.error());
  auto lineage = lineage_of(s, id);
  if (!lineage)
    return tl::unexpected(lineage.error());
  view.lineage = std::move(*lineage);
  const auto weights = s.find_weights(id);
  if (!weights)
    return tl::unexpected(weights.error());
  view.has_weights = !weights->empty();
  return view;
}

expected<champion_view> view_champion(const store& s, const search_space* space,
                                      const problem* p) {
  const auto overview = s.overview();
  if (!overview)
    return tl::unexpected(overview.error());
  const auto examinations = s.examinations();
  if (!examinations)
    return tl::unexpected(examinations.error());
  champion_view view;
  view.validation_metric = overview->goal.metric;
  view.test_metric = test_metric_of(overview->goal.metric);
  if (overview->champion != 0) {
    auto champion = view_genome(s, overview->champion);
    if (!champion)
      return tl::unexpected(champion.error());
    view.champion = std::move(*champion);
    if (space != nullptr && p != nullptr) {
      auto decoded = decode(*space, *view.champion->born.genome, *p);
      if (!decoded)
        return tl::unexpected(decoded.error());
      view.decoded = std::move(*decoded);
    }
  }
  for (const auto& e : *examinations) {
    compared one{.subject = e.subject,
                 .id = e.id,
                 .validation = find(e.metrics, view.validation_metric),
                 .test = find(e.metrics, view.test_metric),
                 .parameters = e.parameters};
    if (e.id != 0 && !one.validation) {
      const auto evaluated = s.find_overview(e.id);
      if (!evaluated)
        return tl::unexpected(evaluated.error());
      one.validation = evaluated->fitness;
    }
    view.comparison.push_back(std::move(one));
  }
  // What is no candidate of the search first, the champion last.
  std::ranges::stable_sort(view.comparison, {}, [](const compared& c) {
    return c.id == 0 ? 0 : c.subject == champion_subject ? 2 : 1;
  });
  return view;
}

} // namespace clade
