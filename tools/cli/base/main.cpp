// The sub-commands in the order in which --help has them. A mistake in the command line
// is said in one line, exit status 2. A command's output that cannot be written is said
// here, for all of them.
#include "engine/config/experiment/experiment.hpp"
#include "engine/config/file/flat_settings.hpp"
#include "search_spaces/operators/nearest.hpp"
#include "tools/cli/base/command.hpp"
#include "tools/machine/descriptor_buffer.hpp"
#include "tools/machine/standard_streams.hpp"
#include "tools/queue/clusters/familiar_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdint>
#include <exception>
#include <iostream>
#include <iterator>
#include <span>
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
    {add_new, "new", "Evolve"},
    {add_run, "run", "Evolve"},
    {add_resume, "resume", "Evolve"},
    {add_train, "train", "Evolve"},
    {add_jobs, "jobs", "Evolve"},
    {add_control, "control", "Evolve"},
    {add_note, "note", "Evolve"},
    {add_tag, "tag", "Evolve"},
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
    {add_serve, "serve", "Queue"},
    {add_submit, "submit", "Queue"},
    {add_get, "get", "Queue"},
    {add_describe, "describe", "Queue"},
    {add_logs, "logs", "Queue"},
    {add_pods, "pods", "Queue"},
    {add_cancel, "cancel", "Queue"},
    {add_wait, "wait", "Queue"},
    {add_top, "top", "Queue"},
    {add_keys, "keys", "Machines"},
    {add_worker, "worker", "Machines"},
    {add_launch, "launch", "Machines"},
    {add_devices, "devices", "Machines"},
    {add_doctor, "doctor", "Machines"},
    {add_bench, "bench", "Machines"},
    {add_help, "help", "Help"},
    {add_operators, "operators", "Help"},
    {add_completion, "completion", "Help"},
    {add_version, "version", "Help"},
    {add_node, "node", ""},
    {add_ranks, "ranks", ""},
    {add_fleet, "fleet", ""},
    {add_complete_line, "complete-line", ""},
};

/// A first word that is no command, with the command that was probably meant.
expected<void> check_command(const std::string& word) {
  if (word.starts_with('-'))
    return {};
  std::vector<std::string> names;
  for (const auto& c : commands) {
    if (word == c.name)
      return {};
    if (*c.group != '\0')
      names.push_back(c.name);
  }
  const auto meant = nearest(word, names);
  return fail(error_kind::invalid_input,
              fmt::format("no command \"{}\"{}", word,
                          meant.empty()
                              ? "; \"clade help\" lists them"
                              : fmt::format("; did you mean \"clade {}\"?", meant)));
}

/// "evolution.generations" of "generations", the first key of an experiment that ends so;
/// empty: none does.
std::string setting_named(const std::string& name) {
  const auto all = flat_settings(to_toml(experiment{}), "the defaults");
  if (!all)
    return "";
  for (const auto& [key, value] : *all)
    if (key.ends_with("." + name) && !key.starts_with("search_space."))
      return key;
  return "";
}

/// The word after that one on the command line; "VALUE" if there is none.
std::string word_after(const std::string& word, std::span<const std::string> words) {
  const auto at = std::ranges::find(words, word);
  return words.end() - at > 1 ? *std::next(at) : "VALUE";
}

/// Returns what to write in the place of words that a command does not take: `extras`, of
/// all `words` of the command line.
std::string advice_on(const CLI::App& sub, const std::vector<std::string>& extras,
                      std::span<const std::string> words) {
  const auto option = std::ranges::find_if(
      extras, [](const std::string& word) { return word.starts_with("--"); });
  if (option == extras.end())
    return fmt::format("it takes no \"{}\"", extras.front());
  const auto& first = *option;
  const auto equals = first.find('=');
  const auto name = first.substr(2, equals == std::string::npos ? equals : equals - 2);
  std::string said = "it has no option --" + name;
  if (sub.get_option_no_throw("--set") != nullptr)
    if (const auto key = setting_named(name); !key.empty()) {
      const auto value = equals != std::string::npos ? first.substr(equals + 1)
                                                     : word_after(first, words);
      return fmt::format("{}; write --set {}={}", said, key, value);
    }
  std::vector<std::string> known;
  for (const auto* option : sub.get_options())
    for (const auto& one : option->get_lnames())
      known.push_back(one);
  const auto meant = nearest(name, known);
  return said + (meant.empty() ? "" : fmt::format("; did you mean --{}?", meant));
}

/// Returns the name of an option as messages have it: "--slots", or "RUN" of words.
std::string shown_name(const CLI::Option& option) {
  auto name = option.get_name();
  if (name.starts_with('-'))
    return name;
  if (const auto& text = option.get_option_text(); !text.empty())
    return text;
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return std::toupper(c); });
  return name;
}

/// Returns what is wrong with the value of an option that takes numbers; empty: nothing.
std::string no_number(const CLI::App& sub) {
  for (const auto* option : sub.get_options()) {
    const auto type = option->get_type_name();
    const bool whole = type.starts_with("INT") || type.starts_with("UINT");
    if (!whole && !type.starts_with("FLOAT"))
      continue;
    for (const auto& word : option->results()) {
      double v = 0;
      std::int64_t n = 0;
      if (whole ? !CLI::detail::lexical_cast(word, n)
                : !CLI::detail::lexical_cast(word, v))
        return fmt::format("{} must be a {}number, not \"{}\"", shown_name(*option),
                           whole ? "whole " : "", word);
    }
  }
  return "";
}

/// Returns what is not there and must be; empty: nothing.
std::string missing(const CLI::App& sub) {
  for (const auto* option : sub.get_options())
    if (option->get_required() && option->count() == 0) {
      auto what = option->get_description();
      std::ranges::replace(what, '\n', ' ');
      return fmt::format("{} is missing{}", shown_name(*option),
                         what.empty() ? "" : ": " + what);
    }
  return "";
}

/// Returns what is wrong with the words of `sub`, of which CLI11 says `what`.
std::string wrong_words(const CLI::App& sub, const CLI::ParseError& e,
                        std::span<const std::string> words) {
  auto extras = sub.remaining();
  std::erase(extras, "--");
  if (!extras.empty())
    return advice_on(sub, extras, words);
  const auto said =
      dynamic_cast<const CLI::ConversionError*>(&e) != nullptr ? no_number(sub)
      : dynamic_cast<const CLI::RequiredError*>(&e) != nullptr ? missing(sub)
                                                               : "";
  return said.empty() ? e.what() : said;
}

/// The words of the command line, the last one first, as CLI11 takes them. The word behind
/// --extra-arg is its value even where it begins with dashes.
std::vector<std::string> words_to_parse(std::span<const std::string> words) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < words.size(); ++i) {
    all.push_back(words[i]);
    if (all.back() == "--extra-arg" && i + 1 < words.size())
      all.back() += "=" + words[++i];
  }
  std::ranges::reverse(all);
  return all;
}

int run(const std::vector<std::string>& typed) {
  CLI::App app("Clade evolves neural networks for your data, as an experiment file says.",
               "clade");
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  app.footer(
      "A first run:  clade run experiments/digits.toml\n"
      "Each command has a --help of its own; `clade help` lists topics too.\n"
      "Exit status: 0 done; 2 the command or a file is wrong; 1 Clade or the machine\n"
      "failed, or no candidate of a run succeeded; 130 stopped by Ctrl+C, and can be\n"
      "resumed.");
  command chosen;
  for (const auto& c : commands) {
    c.add(app, chosen);
    app.get_subcommand(c.name)->group(c.group);
  }
  if (typed.empty()) {
    std::cerr << app.help();
    return 2;
  }
  const auto ours = in_our_words(typed);
  if (!ours)
    return report(ours.error());
  const auto& words = ours->words;
  if (!ours->note.empty())
    std::cerr << "clade: " << ours->note << "\n";
  if (auto ok = check_command(words.front()); !ok)
    return report(ok.error());
  try {
    app.parse(words_to_parse(words));
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    std::string text = "clade";
    std::string what = e.what();
    const CLI::App* sub = &app;
    while (!sub->get_subcommands().empty()) {
      sub = sub->get_subcommands().front();
      text += " " + sub->get_name();
      if (const auto said = wrong_words(*sub, e, words); said != e.what())
        what = fmt::format("{}: {}", text, said);
    }
    return report({error_kind::invalid_input,
                   fmt::format("{}; {} --help says what may be written", what, text)});
  }
  return chosen();
}

} // namespace

} // namespace clade

int main(int count, char** words) {
  clade::open_missing_streams();
  clade::ignore_broken_connections();
  // A file that may not grow is an error of whoever writes it, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  const clade::checked_output output;
  try {
    const int status = clade::run({words + 1, words + std::max(count, 1)});
    if (const auto written = clade::flush_output(); !written && status == 0)
      return clade::report(written.error());
    return status;
  } catch (const std::exception& e) {
    return clade::report({clade::error_kind::internal, e.what()});
  }
}
