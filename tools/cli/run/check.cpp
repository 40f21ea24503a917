#include "engine/store/repair/check.hpp"

#include "engine/config/experiment/experiment.hpp"
#include "engine/store/sqlite/run_folder.hpp"
#include "engine/store/sqlite/run_lock.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/run/stored_run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>

namespace clade {

namespace {

struct check_options {
  std::string run;
  bool repair = false;
  bool json = false;
};

expected<objective> goal_of(const run_started& started) {
  return parse_resolved(started.experiment, "the experiment in the store")
      .map([](const experiment& e) { return e.objective; });
}

std::string or_fine(const std::string& fault, const char* fine) {
  return fault.empty() ? fine : fault;
}

std::string to_text(const store_condition& c) {
  std::string text =
      fmt::format("  records  {}{} whole{}\n", c.records,
                  c.written > c.records ? fmt::format(" of {}", c.written) : "",
                  c.record_fault.empty() ? "" : "; " + c.record_fault);
  text += fmt::format(
      "  tables   {}\n",
      or_fine(c.table_fault, c.record_fault.empty()
                                 ? "say what the records say"
                                 : "not compared; a repair derives them anew"));
  for (std::size_t i = 0; i < c.additions.size(); ++i)
    text += (i == 0 ? "  added    " : "; ") + c.additions[i]
            + (i + 1 == c.additions.size() ? "\n" : "");
  text += fmt::format("  weights  of {} models whole", c.weights.size());
  for (const auto& fault : c.weights_faults)
    text += "; " + fault;
  text +=
      fmt::format("\n  file     {}\n", or_fine(c.file_fault, "SQLite finds no fault"));
  if (!c.log_fault.empty())
    text += fmt::format("  log      {}\n", c.log_fault);
  return text;
}

nlohmann::json or_null(const std::string& text) {
  return text.empty() ? nlohmann::json() : nlohmann::json(text);
}

/// The text of SQLite about a damaged file may have any bytes in it.
std::string to_line(const nlohmann::json& j) {
  return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string to_json(const std::filesystem::path& file, const store_condition& c,
                    const std::filesystem::path& damaged) {
  return to_line({{"file", file.string()},
                  {"whole", c.whole()},
                  {"records", c.records},
                  {"written", c.written},
                  {"record_fault", or_null(c.record_fault)},
                  {"table_fault", or_null(c.table_fault)},
                  {"additions", c.additions},
                  {"weights", c.weights},
                  {"weights_faults", c.weights_faults},
                  {"file_fault", or_null(c.file_fault)},
                  {"log_fault", or_null(c.log_fault)},
                  {"damaged", or_null(damaged.string())}});
}

/// "clade resume RUN", if that is a run's folder and not a copy of its store.
std::string resume_command(const std::filesystem::path& file) {
  return file.filename() == store_file_name
             ? "clade resume " + file.parent_path().string()
             : "";
}

error damage(const std::filesystem::path& file, const store_condition& c) {
  if (c.records == 0)
    return {
        error_kind::corrupt,
        file.string()
            + ": no record of it is whole, so that nothing can be resumed; take a copy "
              "of it if there is one, or start the run again: clade run FILE"};
  const auto resume = resume_command(file);
  return {error_kind::corrupt,
          fmt::format("{}: damaged; to keep what is whole: {} --repair{}", file.string(),
                      check_command(file), resume.empty() ? "" : ", then: " + resume)};
}

int examine(const std::filesystem::path& file, bool json) {
  const auto found = examine_store(file, goal_of);
  if (!found)
    return report(found.error());
  std::cout << (json ? to_json(file, *found, {})
                     : fmt::format("{}\n{}", file.string(), to_text(*found)));
  if (!found->whole())
    return report(damage(file, *found));
  // One that is written at this moment may be about to begin.
  return found->records > 0 || writer_of(file) ? 0 : report(nothing_recorded(file));
}

int repair(const std::filesystem::path& file, bool json) {
  const auto repaired = repair_store(file, goal_of);
  if (!repaired)
    return report(repaired.error());
  const auto& [found, damaged] = *repaired;
  if (json) {
    std::cout << to_json(file, found, damaged);
    return 0;
  }
  std::cout << file.string() << "\n" << to_text(found);
  if (damaged.empty()) {
    std::cout << "nothing to repair\n";
    return 0;
  }
  const auto resume = resume_command(file);
  std::cout << "written anew with what is whole; the damaged file is " << damaged.string()
            << "\n"
            << (resume.empty() ? "" : fmt::format("to go on: {}\n", resume));
  return 0;
}

int check(const check_options& options) {
  const auto file = find_store(options.run);
  if (!file)
    return report(file.error());
  return options.repair ? repair(*file, options.json) : examine(*file, options.json);
}

} // namespace

void add_check(CLI::App& app, command& chosen) {
  auto options = std::make_shared<check_options>();
  auto* sub =
      app.add_subcommand("check", "Check that a run's store is whole, or repair it");
  sub->add_option(
         "run", options->run,
         "The run: its folder, its name (for the latest of it), or a store's file")
      ->required()
      ->option_text("RUN");
  sub->add_flag("--repair", options->repair,
                "Put a new store with what is whole in the place of a damaged one,\n"
                "which is kept as run.db.damaged");
  sub->add_flag("--json", options->json, "One JSON object, for programs");
  sub->footer(
      "Also while the run is going on, but for --repair. Exit status 0: all is whole;\n"
      "2: it is not, and what can be done about that is said.");
  sub->callback([&chosen, options] { chosen = [options] { return check(*options); }; });
}

} // namespace clade
