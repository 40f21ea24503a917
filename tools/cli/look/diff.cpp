#include "engine/report/view/diff.hpp"

#include "tools/cli/base/command.hpp"
#include "tools/run/stored_run.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>

namespace clade {

namespace {

struct diff_options {
  std::vector<std::string> runs, others;
  bool json = false;
};

expected<std::vector<opened_run>> open_all(const std::vector<std::string>& names) {
  std::vector<opened_run> runs;
  for (const auto& name : names) {
    auto opened = open_stored_run(name);
    if (!opened)
      return tl::unexpected(opened.error());
    runs.push_back(std::move(*opened));
  }
  return runs;
}

expected<std::string> diff(diff_options options) {
  if (options.others.empty()) {
    if (options.runs.size() != 2)
      return fail(error_kind::invalid_input,
                  fmt::format("{}{} to compare; write two, or --with between the two "
                              "sides: clade diff A1 A2 --with B1 B2",
                              options.runs.size(),
                              options.runs.size() == 1 ? " run" : " runs"));
    options.others.push_back(std::move(options.runs.back()));
    options.runs.pop_back();
  }
  const auto a = open_all(options.runs);
  if (!a)
    return tl::unexpected(a.error());
  const auto b = open_all(options.others);
  if (!b)
    return tl::unexpected(b.error());
  return diff_runs(*a, *b).map(
      [&](const run_diff& d) { return options.json ? to_json(d) + "\n" : to_text(d); });
}

} // namespace

void add_diff(CLI::App& app, command& chosen) {
  auto options = std::make_shared<diff_options>();
  auto* sub = app.add_subcommand("diff", "Compare two runs, or several of each kind");
  sub->add_option("run", options->runs,
                  "Two runs, each its folder, its name (for the latest of it) or the\n"
                  "beginning of that, or a store's file; with --with, those of one side")
      ->required()
      ->option_text("RUN...");
  sub->add_option("--with", options->others, "The runs of the other side")
      ->option_text("RUN...");
  sub->add_flag("--json", options->json, "One JSON object, for programs");
  sub->footer(
      "Settings that differ, digests, the first decision that does with both sides (in\n"
      "whatever order evaluations arrived), and the best fitness after so many\n"
      "evaluations and so much time. Runs of several seeds on each side are paired by\n"
      "seed, and a two-sided sign test says whether one side is better. Examples:\n"
      "  clade diff digits-20260131-140500 digits-20260131-150500\n"
      "  clade diff wide-1 wide-2 wide-3 --with deep-1 deep-2 deep-3");
  sub->callback([&chosen, options] {
    chosen = [options] {
      const auto text = diff(*options);
      if (!text)
        return report(text.error());
      std::cout << *text << std::flush;
      return 0;
    };
  });
}

} // namespace clade
