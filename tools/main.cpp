// The sub-commands in the order in which --help has them. What is wrong with the command
// line is said in one line, exit status 2.
#include "search_spaces/nearest.hpp"
#include "tools/command.hpp"

#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

namespace {

struct row {
  void (*add)(CLI::App& app, command& chosen);
  const char* name;
  const char* group; ///< "": not for people.
};

constexpr row commands[] = {
    // A comment keeps the formatter from laying these out in columns.
    {add_run, "run", "Evolve"},
    {add_resume, "resume", "Evolve"},
    {add_control, "control", "Evolve"},
    {add_plan, "plan", "Evolve"},
    {add_evaluate, "evaluate", "Evolve"},
    {add_upgrade, "upgrade", "Evolve"},
    {add_show, "show", "Look"},
    {add_attach, "attach", "Look"},
    {add_replay, "replay", "Look"},
    {add_list, "list", "Look"},
    {add_workers, "workers", "Look"},
    {add_explain, "explain", "Look"},
    {add_diff, "diff", "Look"},
    {add_report_command, "report", "Look"},
    {add_check, "check", "Look"},
    {add_export, "export", "Take away"},
    {add_predict, "predict", "Take away"},
    {add_keys, "keys", "Machines"},
    {add_worker, "worker", "Machines"},
    {add_launch, "launch", "Machines"},
    {add_devices, "devices", "Machines"},
    {add_bench, "bench", "Machines"},
    {add_node, "node", ""},
    {add_fleet, "fleet", ""},
};

/// A first word that is no command, with the command that was probably meant.
expected<void> check_command(int count, char** words) {
  if (count < 2 || words[1][0] == '-')
    return {};
  const std::string word = words[1];
  std::vector<std::string> names;
  for (const auto& c : commands) {
    if (word == c.name)
      return {};
    if (*c.group != '\0')
      names.push_back(c.name);
  }
  const auto meant = nearest(word, names);
  return fail(error_kind::invalid_input,
              "no command \"" + word + "\""
                  + (meant.empty() ? "; clade --help names them"
                                   : "; \"clade " + meant + "\" is the nearest"));
}

int run(int count, char** words) {
  CLI::App app("Clade evolves neural networks: an experiment file says for which data.",
               "clade");
  app.set_version_flag("--version", std::string("clade ") + CLADE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "A first run:  clade run experiments/digits.toml\n"
      "Each command has a --help of its own.\n"
      "Exit status: 0 done; 2 the command or its files are wrong; 1 the machine failed;\n"
      "130 stopped by Ctrl+C, and can be resumed.");
  command chosen;
  for (const auto& c : commands) {
    c.add(app, chosen);
    app.get_subcommand(c.name)->group(c.group);
  }
  if (count < 2) {
    std::cerr << app.help();
    return 2;
  }
  if (auto ok = check_command(count, words); !ok)
    return report(ok.error());
  try {
    app.parse(count, words);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    std::string text = "clade";
    for (const auto* sub : app.get_subcommands())
      text += " " + sub->get_name();
    return report({error_kind::invalid_input, std::string(e.what()) + "; " + text
                                                  + " --help says what may be written"});
  }
  return chosen();
}

} // namespace

} // namespace clade

int main(int count, char** words) {
  // A file that may not grow is an error of whoever writes it, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return clade::run(count, words);
  } catch (const std::exception& e) {
    return clade::report({clade::error_kind::internal, e.what()});
  }
}
