#include "engine/report/page/run_report.hpp"
#include "engine/report/view/wrong_examples_shown.hpp"
#include "engine/report/view/wrong_pictures.hpp"
#include "genome/base/utf8.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/cli/base/run_problem.hpp"
#include "tools/jobs/stored_jobs.hpp"
#include "tools/launch/shell_word.hpp"
#include "tools/machine/output_file.hpp"
#include "tools/machine/standard_streams.hpp"
#include "tools/run/stored_run.hpp"

#include <iostream>
#include <memory>

namespace clade {

namespace {

struct report_options {
  std::string run;
  std::filesystem::path output;
  bool markdown = false;
};

/// In the run's folder; of a store that was copied from its own, beside it.
std::filesystem::path usual_place(const std::filesystem::path& store_file,
                                  bool markdown) {
  const auto* suffix = markdown ? ".md" : ".html";
  if (store_file.filename() == store_file_name)
    return store_file.parent_path() / ("report" + std::string(suffix));
  auto place = store_file;
  return place.replace_extension(suffix);
}

/// The data may be gone, or be others by now: the report says that in their place.
void tell_data(const store& s, run_report& story) {
  const auto known = load_run_problem(s, story.run.file);
  if (!known) {
    story.without_data = known.error().message;
    return;
  }
  const auto& e = known->experiment;
  if (known->data)
    story.data = summarize(*known->data, e.data.file.filename().string());
  if (known->data && story.details && story.details->evidence) {
    const auto& evidence = *story.details->evidence;
    story.wrong_pictures = wrong_pictures(*known->data, evidence);
    story.wrong_series = wrong_series(*known->data, evidence);
    story.wrong_texts = wrong_texts(e.data, e.seed, evidence);
  }
  if (!story.best)
    return;
  const auto& g = *story.best->born.genome;
  if (const auto n = decode(e.space, g, known->problem))
    story.costs = costs_by_node(*n, g);
}

expected<void> write_report(const report_options& options) {
  const auto opened = open_stored_run(options.run);
  if (!opened)
    return tl::unexpected(opened.error());
  const auto& file = opened->file;
  const auto run = file.filename() == store_file_name ? file.parent_path() : file;
  const auto jobs = find_jobs(opened->s, run);
  if (!jobs)
    return tl::unexpected(jobs.error());
  auto story = tell_story(opened->s, file, shell_word(run.string()),
                          *jobs ? told_jobs(**jobs) : std::vector<told_job>{});
  if (!story)
    return tl::unexpected(story.error());
  if (!*jobs)
    tell_data(opened->s, *story);
  const auto text = options.markdown ? plain_text(to_markdown(*story)) : to_html(*story);
  if (options.output == "-") {
    print_data(text);
    return {};
  }
  const auto place =
      options.output.empty() ? usual_place(file, options.markdown) : options.output;
  return write_output(place, text).map([&] {
    auto& said = is_standard_output(place) ? std::cerr : std::cout;
    said << place.string() << " (" << to_text(story->run.state()) << " run)" << std::endl;
  });
}

} // namespace

void add_report_command(CLI::App& app, command& chosen) {
  auto options = std::make_shared<report_options>();
  auto* sub = app.add_subcommand("report", "Write a report of a run as one HTML file");
  sub->add_option("run", options->run,
                  "The run: its folder, its name (for the latest of it) or the beginning "
                  "of\nthat, or a store's file")
      ->required()
      ->option_text("RUN");
  sub->add_flag("--md", options->markdown,
                "Markdown, with tables in the place of charts");
  sub->add_option("--output", options->output,
                  "Instead of report.html, or report.md, in the run's folder; - is "
                  "standard\noutput")
      ->option_text("FILE");
  sub->footer(
      "The champion and its lineage, fitness and learning curves, what changes paid, "
      "what\n"
      "failed, where the time went, and how to run it again. The file stands alone: its\n"
      "charts are in it, it needs no script and no network, and it prints well. Also\n"
      "while the run is going on; the report says so. Of a run of jobs: how each ended,\n"
      "why, and where the time went. Prints where it is.");
  sub->callback([&chosen, options] {
    chosen = [options] {
      const auto written = write_report(*options);
      return written ? 0 : report(written.error());
    };
  });
}

} // namespace clade
