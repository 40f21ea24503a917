#include "tools/cli/take/exported_run.hpp"

#include "engine/export/rows/run_history.hpp"
#include "engine/run/records/test_details.hpp"
#include "engine/run/steps/final_choice.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/cli/base/run_problem.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <optional>

namespace clade {

namespace {

tl::unexpected<error> refuse(const std::filesystem::path& file, std::string message) {
  return fail_in(file.string(), {error_kind::invalid_input, std::move(message)});
}

expected<candidate_id> choose(const store& s, const std::filesystem::path& file,
                              const std::string& name, const std::string& text) {
  if (!text.empty())
    return parse_candidate(text, name + " ", ": not a candidate's number");
  const auto overview = s.overview();
  if (!overview)
    return tl::unexpected(overview.error());
  if (overview->champion != 0)
    return overview->champion;
  if (overview->best != 0)
    return overview->best;
  return refuse(file, "the run has no champion: no candidate has succeeded");
}

/// Why a candidate has no weights.
tl::unexpected<error> without_weights(const store& s, const std::filesystem::path& file,
                                      candidate_id id) {
  const std::string who = numbered(id);
  const auto overview = s.find_overview(id);
  if (!overview)
    return tl::unexpected(overview.error());
  if (!overview->result)
    return refuse(file, who + " has not been evaluated yet");
  if (*overview->result != outcome::succeeded)
    return refuse(file,
                  fmt::format("{} has no weights: {}", who, to_text(*overview->result)));
  return refuse(
      file,
      fmt::format("the weights of {} were not kept, as only those of the fittest are{}",
                  who,
                  overview->equal_to == 0 ? ""
                                          : fmt::format(" (its network is that of #{})",
                                                        overview->equal_to)));
}

/// A network of a run with its weights, as `trained_candidate` has them.
struct kept_network {
  candidate_id id = 0;
  std::shared_ptr<const genome> genes = std::make_shared<const genome>();
  std::vector<mixture_member> members{};
  std::vector<weight_tensor> weights{};
  bool bounded = false; ///< The probabilities of an ensemble are bounded.
  bool interim = false;
  std::vector<metric> metrics{};
};

expected<std::vector<weight_tensor>> decode_stored(const blob& stored) {
  return stored.load().and_then(
      [](const shared_bytes& content) { return decode_weights(*content); });
}

/// A copy is the network whose evaluation it shares, with other names.
expected<kept_network> find_kept(const store& s, const std::filesystem::path& file,
                                 candidate_id id) {
  auto born = s.find_candidate(id);
  if (!born)
    return fail(born.error().kind,
                born.error().kind == error_kind::not_found
                    ? fmt::format("{}: no candidate #{}", file.string(), id)
                    : born.error().message);
  auto stored = s.find_weights(id);
  if (stored && stored->empty() && born->equal_to != 0) {
    born = s.find_candidate(born->equal_to);
    if (!born)
      return tl::unexpected(born.error());
    stored = s.find_weights(born->id);
  }
  if (!stored)
    return tl::unexpected(stored.error());
  if (stored->empty())
    return without_weights(s, file, id);
  return decode_stored(*stored).map([&](std::vector<weight_tensor> weights) {
    return kept_network{.id = id, .genes = born->genome, .weights = std::move(weights)};
  });
}

/// Returns the weights of the one of the final model's members that are no candidates.
expected<std::vector<weight_tensor>> find_fitted(const store& s, fitted_kind kind) {
  const auto stored = s.find_weights(0);
  if (!stored)
    return tl::unexpected(stored.error());
  if (stored->empty())
    return fail(error_kind::not_found,
                "the weights of its members that are no candidates are gone");
  auto all = decode_stored(*stored);
  if (all)
    std::erase_if(*all,
                  [&](const weight_tensor& w) { return fitted_kind_of(w.name) != kind; });
  return all;
}

/// Returns a member that is no candidate.
mixture_member member_of(const ensemble_member& m) {
  switch (m.fitted()) {
  case fitted_kind::linear:
    return linear_member();
  case fitted_kind::trees:
    return *m.trees;
  case fitted_kind::convolutions:
    return *m.convolutions;
  case fitted_kind::smoothing:
    return smoothing_member();
  }
  return linear_member();
}

expected<kept_network> find_kept(const store& s, const std::filesystem::path& file,
                                 const model_composed& composed) {
  kept_network kept;
  weight_tensor shares{.name = "mixture.shares",
                       .shape = {static_cast<std::int64_t>(composed.members.size())},
                       .values = {}};
  for (const auto& m : composed.members) {
    const auto prefix = member_prefix(kept.members.size());
    std::vector<weight_tensor> weights;
    if (m.id == 0) {
      auto fitted = find_fitted(s, m.fitted());
      if (!fitted)
        return tl::unexpected(fitted.error());
      kept.members.push_back(member_of(m));
      weights = std::move(*fitted);
    } else {
      auto one = find_kept(s, file, m.id);
      if (!one)
        return tl::unexpected(one.error());
      kept.members.emplace_back(
          candidate_member{.genes = *one->genes, .mirrored = m.mirrored.value_or(false)});
      weights = std::move(one->weights);
    }
    for (auto& w : weights) {
      // They make the scores.
      if (w.name == "output.weight" || w.name == "output.bias")
        for (auto& value : w.values)
          value = static_cast<float>(value / m.temperature);
      w.name.insert(0, prefix);
      kept.weights.push_back(std::move(w));
    }
    shares.values.push_back(static_cast<float>(m.share));
  }
  kept.weights.push_back(std::move(shares));
  kept.weights.push_back({.name = "mixture.temperature",
                          .shape = {1},
                          .values = {static_cast<float>(composed.temperature)}});
  if (composed.least)
    kept.weights.push_back({.name = "mixture.least",
                            .shape = {1},
                            .values = {static_cast<float>(*composed.least)}});
  kept.bounded = composed.least.has_value();
  kept.metrics = composed.metrics;
  return kept;
}

/// Returns whether the model was chosen from models of which that candidate is one.
bool was_chosen_from(const model_composed& composed, candidate_id id) {
  const auto models = composed.models.value_or(std::vector<ranked_model>());
  return std::ranges::find(models, id, &ranked_model::id) != models.end();
}

/// Returns what a run that is under way has put together last, unless its best candidate is
/// newer and ahead of it.
expected<std::optional<model_composed>> find_interim(const store& s,
                                                     const objective& goal) {
  auto interim = s.find_interim_model();
  if (!interim || !*interim)
    return interim;
  if ((*interim)->members.empty())
    return std::nullopt;
  const auto overview = s.overview();
  if (!overview)
    return tl::unexpected(overview.error());
  const evaluation together{.metrics = (*interim)->metrics};
  const auto best = s.find_evaluation(overview->best);
  if (overview->champion != 0
      || (best && !was_chosen_from(**interim, overview->best)
          && is_behind(together, *best, measurable_part(goal, together))))
    return std::nullopt;
  return interim;
}

/// Returns what `text` names, or the final model where it is empty and there is one. If
/// the final model's weights are gone, it says so and returns the champion.
expected<kept_network> find_chosen(const store& s, const std::filesystem::path& file,
                                   const objective& goal, const std::string& name,
                                   const std::string& text) {
  if (text.empty()) {
    auto composed = s.find_final_model();
    const bool is_final = composed && *composed;
    if (composed && !is_final)
      composed = find_interim(s, goal);
    if (!composed)
      return tl::unexpected(composed.error());
    if (*composed) {
      auto kept = find_kept(s, file, **composed);
      if (kept) {
        kept->interim = !is_final;
        return kept;
      }
      std::cerr << fmt::format("clade: the {} cannot be used: {}; the champion is taken "
                               "in its place",
                               is_final ? "final model" : "model so far",
                               kept.error().message)
                << std::endl;
    }
  }
  return choose(s, file, name, text).and_then([&](candidate_id id) {
    return find_kept(s, file, id);
  });
}

/// Finds the errors on the validation part, if the candidate was tested at the end.
expected<error_quantiles> find_errors(const store& s, candidate_id id) {
  return s.examinations().map([&](const std::vector<examination>& tests) {
    for (const auto& e : tests)
      if (e.id == id && e.details && (id != 0 || e.subject == "final model"))
        return e.details->validation_errors;
    return error_quantiles();
  });
}

} // namespace

expected<trained_candidate> find_trained(const std::filesystem::path& file,
                                         const std::string& name,
                                         const std::string& text) {
  const auto s = store::open_to_read(file);
  if (!s)
    return tl::unexpected(s.error());
  auto e = read_experiment_of(*s, file);
  if (!e)
    return tl::unexpected(e.error());
  const auto search = find_search(*s, file);
  if (!search)
    return tl::unexpected(search.error());
  if (!e->traits().trains)
    return refuse(file, std::string(e->traits().run)
                            + " trains no networks, so there is none to take");
  auto kept = find_chosen(*s, file, e->objective, name, text);
  if (!kept)
    return tl::unexpected(kept.error());
  auto how = fit_preprocessing(e->data, e->seed);
  if (!how)
    return fail(how.error().kind,
                "how examples are scaled is fitted on the training data: "
                    + how.error().message);
  if (search_hash(*e, how->checksum) != *search)
    return fail(error_kind::conflict, e->data.file.string()
                                          + " is not the data that the run was trained "
                                            "on; put the former file back");
  auto decoded = kept->members.empty()
                     ? decode(e->space, *kept->genes, how->as_problem())
                     : decode_mixture(e->space, kept->members, how->as_problem(),
                                      mixed_for(how->task, kept->bounded));
  if (!decoded)
    return tl::unexpected(decoded.error());
  auto errors = find_errors(*s, kept->id);
  if (!errors)
    return tl::unexpected(errors.error());
  trained_network trained{.network = std::move(*decoded),
                          .weights = std::move(kept->weights),
                          .how = std::move(*how),
                          .reading = e->data,
                          .errors = std::move(*errors)};
  return trained_candidate{.experiment = std::move(*e),
                           .genes = std::move(kept->genes),
                           .trained = std::move(trained),
                           .id = kept->id,
                           .members = std::move(kept->members),
                           .interim = kept->interim,
                           .metrics = std::move(kept->metrics)};
}

std::string name_of_run(const std::filesystem::path& file) {
  if (file.filename() != store_file_name)
    return file.stem().string();
  return std::filesystem::absolute(file).lexically_normal().parent_path().filename();
}

expected<exported_model> find_exported(const std::filesystem::path& file,
                                       const std::string& text) {
  auto found = find_trained(file, "ID", text);
  if (!found)
    return tl::unexpected(found.error());
  auto& trained = found->trained;
  auto m = export_network(trained.network, trained.weights);
  if (!m)
    return tl::unexpected(m.error());
  const auto s = store::open_to_read(file);
  if (!s)
    return tl::unexpected(s.error());
  auto metrics =
      found->id == 0
          ? expected<std::vector<metric>>(std::move(found->metrics))
          : s->find_evaluation(found->id).map([](auto&& e) { return e.metrics; });
  if (!metrics)
    return tl::unexpected(metrics.error());
  m->metrics = std::move(*metrics);
  m->run = name_of_run(file);
  m->id = found->id;
  m->interim = found->interim;
  m->how = std::move(trained.how);
  m->origin = model_origin{.genes = *found->genes,
                           .members = std::move(found->members),
                           .search_space = to_toml(found->experiment.space),
                           .reading = std::move(trained.reading),
                           .errors = std::move(trained.errors)};
  return m;
}

bool names_model(const std::filesystem::path& text) {
  constexpr std::string_view sqlite("SQLite format 3", 16); // with its zero byte
  std::error_code failed;
  if (!std::filesystem::exists(text, failed))
    return text.extension() == ".safetensors";
  if (!std::filesystem::is_regular_file(text, failed)
      || text.filename() == store_file_name)
    return false;
  std::ifstream in(text, std::ios::binary);
  std::string first(sqlite.size(), '\0');
  in.read(first.data(), static_cast<std::streamsize>(first.size()));
  return first != sqlite;
}

} // namespace clade
