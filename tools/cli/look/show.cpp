#include "engine/report/page/importance.hpp"
#include "engine/report/text/json.hpp"
#include "engine/report/text/text.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/jobs/stored_jobs.hpp"

#include <fmt/format.h>

#include <iostream>
#include <limits>
#include <memory>
#include <optional>

namespace clade {

namespace {

struct show_options {
  std::string run;
  std::optional<std::uint64_t> generation;
  std::string genome;
  bool experiment = false;
  bool importance = false;
  bool json = false;
};

/// The table of a long run has so many of the first generations, and of the latest.
constexpr std::uint64_t first_shown = 8, latest_shown = 24;

expected<std::string> show_genome(const store& s, const show_options& options) {
  return parse_candidate(options.genome, "--genome ", ": not a candidate's number")
      .and_then([&](candidate_id id) { return view_genome(s, id); })
      .and_then([&](const genome_view& g) {
        return s.find_annotations().map([&](const annotations& all) {
          const auto found = all.find(g.born.id);
          const auto* written = found == all.end() ? nullptr : &found->second;
          if (options.json)
            return to_json(g, written) + "\n";
          return written == nullptr
                     ? to_text(g)
                     : fmt::format("{}\n{}", to_text(g), to_text(*written));
        });
      });
}

expected<std::string> show_importance(const store& s, const show_options& options) {
  const auto measured = measure_importance(s);
  if (!measured)
    return tl::unexpected(measured.error());
  if (!*measured)
    return fail(error_kind::invalid_input,
                fmt::format("{}: importance needs {} candidates that succeeded and "
                            "differ in what was searched",
                            options.run, importance::least));
  return options.json ? to_json(**measured) + "\n" : to_text(**measured);
}

expected<std::string> show_generation(const store& s, const show_options& options) {
  const auto members = s.members(*options.generation);
  if (!members)
    return tl::unexpected(members.error());
  if (options.json)
    return to_json(*members, *options.generation) + "\n";
  return s.overview().map(
      [&](const run_overview& o) { return to_text(*members, o.goal); });
}

/// All generations, or the first and the latest.
expected<std::vector<generation_overview>>
shown_generations(const store& s, std::uint64_t latest, bool all) {
  if (all || latest < first_shown + latest_shown)
    return s.generations(0, std::numeric_limits<std::size_t>::max());
  return s.generations(0, first_shown).and_then([&](auto first) {
    return s.generations(latest - latest_shown + 1, latest_shown)
        .map([&](const auto& last) {
          first.insert(first.end(), last.begin(), last.end());
          return first;
        });
  });
}

expected<std::string> show_run(const store& s, const std::filesystem::path& file,
                               const show_options& options) {
  auto run = view_run(s, file);
  if (!run)
    return tl::unexpected(run.error());
  if (run->overview.state != stored_state::finished) {
    auto interim = s.find_interim_model();
    if (!interim)
      return tl::unexpected(interim.error());
    run->interim = std::move(*interim);
  }
  if (options.json) {
    const auto digest = digest_of(s);
    if (!digest)
      return tl::unexpected(digest.error());
    run->digest = *digest;
  }
  const auto generations = shown_generations(s, run->overview.generation, options.json);
  if (!generations)
    return tl::unexpected(generations.error());
  auto nodes = s.nodes();
  if (!nodes)
    return tl::unexpected(std::move(nodes).error());
  run->nodes = std::move(*nodes);
  const auto front = view_front(s);
  if (!front)
    return tl::unexpected(front.error());
  const auto annotated = s.find_annotations();
  if (!annotated)
    return tl::unexpected(annotated.error());
  std::optional<champion_view> end;
  if (run->overview.state == stored_state::finished) {
    auto viewed = view_champion(s, nullptr, nullptr);
    if (!viewed)
      return tl::unexpected(viewed.error());
    end = std::move(*viewed);
  }
  if (options.json)
    return to_json(*run, *generations, run->nodes, *front, end, *annotated) + "\n";
  auto text = to_text(*run);
  if (!generations->empty())
    text += "\n" + to_text(*generations);
  if (*front)
    text += "\n" + to_text(**front);
  if (end)
    text += "\n" + to_text(*end);
  if (const auto written = to_text(*annotated); !written.empty())
    text += "\n" + written;
  return text;
}

expected<std::string> show_jobs(const store& s, const std::filesystem::path& file,
                                const jobs_summary& jobs) {
  const auto run = view_run(s, file);
  if (!run)
    return tl::unexpected(run.error());
  const auto annotated = s.find_annotations();
  if (!annotated)
    return tl::unexpected(annotated.error());
  auto text = fmt::format("{}\n{}", to_text(*run, ""), to_text(jobs));
  if (const auto written = to_text(*annotated); !written.empty())
    text += "\n" + written;
  return text;
}

expected<std::string> show(const show_options& options) {
  const auto file = find_store(options.run);
  if (!file)
    return tl::unexpected(file.error());
  const auto opened = store::open_to_read(*file);
  if (!opened)
    return tl::unexpected(opened.error());
  if (options.experiment)
    return opened->overview().map([](const run_overview& o) { return o.experiment; });
  if (!options.genome.empty())
    return show_genome(*opened, options);
  if (options.importance)
    return show_importance(*opened, options);
  if (options.generation)
    return show_generation(*opened, options);
  const auto jobs = find_jobs(*opened, file->parent_path());
  if (!jobs)
    return tl::unexpected(jobs.error());
  return *jobs && !options.json ? show_jobs(*opened, *file, **jobs)
                                : show_run(*opened, *file, options);
}

} // namespace

void add_show(CLI::App& app, command& chosen) {
  auto options = std::make_shared<show_options>();
  auto* sub =
      app.add_subcommand("show", "Show a run, one of its generations, or a network");
  sub->add_option(
         "run", options->run,
         "The run: its folder, its name (for the latest of it) or the beginning of\n"
         "that, or a store's file")
      ->required()
      ->option_text("RUN");
  auto* generation =
      sub->add_option("--generation", options->generation,
                      "The candidates of this generation, the fittest first")
          ->option_text("N");
  sub->add_option(
         "--genome", options->genome,
         "This candidate: its graph, its learning curve, and where it comes from")
      ->option_text("ID")
      ->excludes(generation);
  sub->add_flag("--importance", options->importance,
                "How much each hyperparameter and kind of layer matters for the metric")
      ->excludes(generation);
  auto* json = sub->add_flag("--json", options->json, "One JSON object, for programs");
  sub->add_flag("--experiment", options->experiment,
                "The experiment as it was run, all defaults and the search space\n"
                "included: a file for clade run")
      ->excludes(generation)
      ->excludes(json);
  sub->footer(
      "Also while the run is going on. Examples:\n"
      "  clade show digits                    the latest run of digits.toml\n"
      "  clade show digits --genome 231       how candidate #231 looks\n"
      "  clade show digits --generation 3 --json\n"
      "The store is one SQLite file; engine/store/schema.sql says what can be asked of\n"
      "it in SQL, with examples.");
  sub->callback([&chosen, options] {
    chosen = [options] {
      const auto text = show(*options);
      if (!text)
        return report(text.error());
      std::cout << *text << std::flush;
      return 0;
    };
  });
}

} // namespace clade
