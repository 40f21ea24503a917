#include "engine/report/run_story.hpp"
#include "tools/command.hpp"
#include "tools/shell_word.hpp"
#include "tools/stored_run.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
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

/// What was there before stays until the new one is whole.
expected<void> write_whole(const std::filesystem::path& file, const std::string& text) {
  std::error_code failed;
  if (std::filesystem::is_directory(file, failed))
    return fail(error_kind::invalid_input,
                file.string() + ": a folder; --output names a file");
  const auto parent = file.has_parent_path() ? file.parent_path() : ".";
  if (!std::filesystem::is_directory(parent, failed))
    return fail(error_kind::invalid_input,
                file.string() + ": there is no folder " + parent.string());
  auto draft = file;
  draft += ".part";
  std::ofstream out(draft, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  const auto cause = errno;
  if (!out) {
    std::filesystem::remove(draft, failed);
    return fail(error_kind::io, file.string()
                                    + ": cannot be written: " + std::strerror(cause)
                                    + "; --output FILE writes it elsewhere");
  }
  std::filesystem::rename(draft, file, failed);
  if (failed)
    return fail(error_kind::io,
                file.string() + ": cannot be written: " + failed.message());
  return {};
}

expected<void> write_report(const report_options& options) {
  const auto opened = open_stored_run(options.run);
  if (!opened)
    return tl::unexpected(opened.error());
  const auto& file = opened->file;
  const auto run = file.filename() == store_file_name ? file.parent_path() : file;
  const auto story = tell_story(opened->s, file, shell_word(run.string()));
  if (!story)
    return tl::unexpected(story.error());
  const auto text = options.markdown ? to_markdown(*story) : to_html(*story);
  if (options.output == "-") {
    std::cout << text << std::flush;
    return {};
  }
  const auto place =
      options.output.empty() ? usual_place(file, options.markdown) : options.output;
  return write_whole(place, text).map([&] {
    std::cout << place.string() << " (" << story->run.state() << " run)" << std::endl;
  });
}

} // namespace

void add_report_command(CLI::App& app, command& chosen) {
  auto options = std::make_shared<report_options>();
  auto* sub = app.add_subcommand("report", "Write a run up as one HTML file");
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
      "while the run is going on; the report says so. Prints where it is.");
  sub->callback([&chosen, options] {
    chosen = [options] {
      const auto written = write_report(*options);
      return written ? 0 : report(written.error());
    };
  });
}

} // namespace clade
