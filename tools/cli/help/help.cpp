#include "genome/base/text.hpp"
#include "search_spaces/operators/nearest.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/cli/base/command_tree.hpp"
#include "tools/cli/help/help_topics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

namespace clade {

namespace {

std::string topic_list() {
  std::string out = "Topics:\n";
  for (const auto& t : help_topics())
    out += fmt::format("  clade help {}{}{}\n", t.name,
                       std::string(16 - std::min<std::size_t>(t.name.size(), 15), ' '),
                       t.sentence);
  return out;
}

/// The command of these words, such as "bench search"; nullptr if there is none.
const CLI::App* find_command(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* found = &app;
  for (const auto& word : words)
    found = found == nullptr ? nullptr : find_subcommand(*found, word);
  return found;
}

int help(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty()) {
    // `app.help()` is the help of the command that was called, which is this one.
    std::cout << app.get_formatter()->make_help(&app, app.get_name(),
                                                CLI::AppFormatMode::Normal)
              << "\n"
              << topic_list();
    return 0;
  }
  const auto topic = std::ranges::find(help_topics(), words.front(), &help_topic::name);
  if (topic != help_topics().end() && words.size() == 1) {
    std::cout << topic->text();
    return 0;
  }
  if (const auto* found = find_command(app, words)) {
    std::string callers = app.get_name();
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
      callers += " " + words[i];
    std::cout << found->help(callers);
    return 0;
  }
  std::vector<std::string> names;
  for (const auto& t : help_topics())
    names.emplace_back(t.name);
  for (const auto* c : subcommands_of(app))
    names.push_back(c->get_name());
  const std::string asked = joined(words, " ");
  const auto near = nearest(asked, names);
  return report(
      {error_kind::invalid_input,
       fmt::format("no help on \"{}\"{}", asked,
                   near.empty()
                       ? "; \"clade help\" lists commands and topics"
                       : fmt::format("; did you mean \"clade help {}\"?", near))});
}

} // namespace

std::string version_text() {
  return fmt::format(
      "clade {}\nLicense: Apache-2.0 (the file LICENSE; NOTICE names what others wrote)",
      CLADE_VERSION);
}

void add_help(CLI::App& app, command& chosen) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto* sub = app.add_subcommand("help", "Explain a command or a topic");
  sub->add_option("topic", *words, "A command, such as run or bench search, or a topic")
      ->option_text("TOPIC");
  sub->footer([] { return topic_list(); });
  sub->callback(
      [&app, &chosen, words] { chosen = [&app, words] { return help(app, *words); }; });
}

void add_version(CLI::App& app, command& chosen) {
  auto* sub = app.add_subcommand("version", "Print the version and the license");
  sub->callback([&chosen] {
    chosen = [] {
      std::cout << version_text() << std::endl;
      return 0;
    };
  });
}

} // namespace clade
