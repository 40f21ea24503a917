#include "engine/report/view/view.hpp"

#include "engine/config/experiment/experiment.hpp"
#include "engine/evaluation/epochs_in_time.hpp"
#include "engine/evaluation/evaluator_spec.hpp"
#include "engine/report/base/format.hpp"
#include "engine/report/view/verdict.hpp"
#include "engine/run/records/test_details.hpp"
#include "engine/store/sqlite/run_lock.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace clade {

namespace {

/// The subject, as run_finished has it.
constexpr const char* champion_subject = "champion";
constexpr const char* final_model_subject = "final model";

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

/// Counts the rivals of the champion that the table of evaluations has. A search with
/// several objectives or with constraints has other reasons to prefer one.
expected<void> count_rivals(const store& s, const run_overview& o, double fitness,
                            end_facts& facts) {
  const bool weighed = !o.goal.others.empty() || !o.goal.constraints.empty();
  std::uint64_t parameters = 0;
  const auto read = s.for_each_evaluation([&](const evaluation_row& e) {
    if (!e.fitness || e.copied)
      return;
    ++facts.candidates;
    facts.shortened += epochs_in_time(e.reason).empty() ? 0 : 1;
    if (e.id == o.champion) {
      parameters = e.parameters;
      return;
    }
    facts.as_good += std::abs(*e.fitness - fitness) <= facts.standard_error ? 1 : 0;
    if (!weighed && *e.fitness == fitness
        && (!facts.smaller || e.parameters < facts.smaller->parameters))
      facts.smaller = {.id = e.id, .parameters = e.parameters};
  });
  if (!read)
    return read;
  if (facts.smaller && facts.smaller->parameters >= parameters)
    facts.smaller.reset();
  if (!facts.smaller)
    return {};
  std::vector<double> losses;
  for (const auto id : {o.champion, facts.smaller->id}) {
    const auto evaluated = s.find_evaluation(id);
    if (!evaluated)
      return tl::unexpected(evaluated.error());
    losses.push_back(find(evaluated->metrics, "validation.loss").value_or(0));
  }
  facts.smaller->higher_loss = losses[1] > losses[0];
  return s.find_weights(facts.smaller->id).map([&](const blob& weights) {
    facts.smaller->has_weights = !weights.empty();
  });
}

/// The limits that an evaluation misses: "parameters 22, at most 3".
std::string unmet_limits(const evaluation& e, const objective& goal) {
  std::vector<std::string> all;
  for (const auto& limit : goal.constraints)
    if (const auto v = measured(e, limit.metric);
        v && (limit.at_most ? *v > limit.limit : *v < limit.limit))
      all.push_back(fmt::format("{} {:g}, at {} {:g}", limit.metric, *v,
                                limit.at_most ? "most" : "least", limit.limit));
  return joined(all, "; ");
}

expected<std::vector<std::string>> verdict_of(const store& s, const run_overview& o,
                                              const champion_view& view,
                                              const experiment* known) {
  end_facts facts{.metric = view.validation_metric,
                  .test_metric = view.test_metric,
                  .maximize = o.goal.maximize,
                  .comparison = view.comparison};
  if (view.details) {
    facts.validation_examples = view.details->validation;
    facts.standard_error = view.details->standard_error;
  }
  const auto fitness = s.find_overview(o.champion);
  if (!fitness)
    return tl::unexpected(fitness.error());
  if (fitness->fitness)
    if (auto counted = count_rivals(s, o, *fitness->fitness, facts); !counted)
      return tl::unexpected(counted.error());
  const auto evaluated = s.find_evaluation(o.champion);
  if (!evaluated)
    return tl::unexpected(evaluated.error());
  facts.unmet = unmet_limits(*evaluated, o.goal);
  // An experiment of another version may not be readable; the rest of the view is.
  facts.by_the_clock = known != nullptr
                           ? ends_by_clock(*known)
                           : parse_resolved(o.experiment, "the stored experiment")
                                 .map(ends_by_clock)
                                 .value_or(false);
  return verdict(facts);
}

} // namespace

const char* to_text(run_standing s) {
  return s == run_standing::running   ? "running"
         : s == run_standing::stopped ? "stopped"
                                      : "finished";
}

std::string run_view::forked_from() const {
  constexpr std::string_view before = "# forked from ";
  const auto& text = overview.experiment;
  return text.starts_with(before)
             ? text.substr(before.size(), text.find('\n') - before.size())
             : "";
}

std::string run_view::chosen() const {
  const auto e = parse_resolved(overview.experiment, file.string());
  return e ? e->evolution.chosen : std::string();
}

std::string run_view::named_by() const {
  const auto e = parse_resolved(overview.experiment, file.string());
  return e ? std::string(e->evaluator->traits().named_by) : std::string();
}

run_standing run_view::state() const {
  if (overview.state == stored_state::finished)
    return run_standing::finished;
  return writer ? run_standing::running : run_standing::stopped;
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

expected<failure_ways> failures_of(const store& s) {
  failure_ways found;
  return s
      .for_each([&](std::uint64_t, std::int64_t, const record& r) -> expected<void> {
        if (const auto* done = std::get_if<candidate_evaluated>(&r))
          found.add(done->evaluated);
        return {};
      })
      .map([&] { return std::move(found); });
}

const compared* find(const std::vector<compared>& all, std::string_view subject) {
  const auto found = std::ranges::find(all, subject, &compared::subject);
  return found == all.end() ? nullptr : &*found;
}

expected<champion_view> view_champion(const store& s, const experiment* known,
                                      const problem* p) {
  const auto overview = s.overview();
  if (!overview)
    return tl::unexpected(overview.error());
  const auto examinations = s.examinations();
  if (!examinations)
    return tl::unexpected(examinations.error());
  champion_view view;
  auto final_model = s.find_final_model();
  if (!final_model)
    return tl::unexpected(final_model.error());
  view.final_model = std::move(*final_model);
  auto seeds = tell_seeds(s);
  if (!seeds)
    return tl::unexpected(seeds.error());
  view.seeds = std::move(*seeds);
  view.validation_metric = overview->goal.metric;
  view.test_metric = test_metric_of(overview->goal.metric);
  if (overview->champion != 0) {
    auto champion = view_genome(s, overview->champion);
    if (!champion)
      return tl::unexpected(champion.error());
    view.champion = std::move(*champion);
    if (known != nullptr && p != nullptr) {
      auto decoded = decode(known->space, *view.champion->born.genome, *p);
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
                 .parameters = e.parameters,
                 .test_metrics = e.details ? e.details->metrics : e.metrics};
    if (e.subject == (view.final_model ? final_model_subject : champion_subject))
      view.details = e.details;
    if (e.id != 0 && !one.validation) {
      const auto evaluated = s.find_overview(e.id);
      if (!evaluated)
        return tl::unexpected(evaluated.error());
      one.validation = evaluated->fitness;
    }
    view.comparison.push_back(std::move(one));
  }
  // A benchmark table may have none.
  if (std::ranges::none_of(view.comparison,
                           [](const compared& c) { return c.test.has_value(); }))
    view.test_metric.clear();
  // Models that are no candidates of the search come first, then the champion, and what
  // is used at the end.
  std::ranges::stable_sort(view.comparison, {}, [](const compared& c) {
    return c.subject == final_model_subject ? 3
           : c.subject == champion_subject  ? 2
                                            : static_cast<int>(c.id != 0);
  });
  if (overview->champion == 0)
    return failures_of(s).map([&](const failure_ways& ways) {
      view.failures = ways.text();
      return std::move(view);
    });
  return verdict_of(s, *overview, view, known).map([&](std::vector<std::string>&& said) {
    view.verdict = std::move(said);
    return std::move(view);
  });
}

} // namespace clade
