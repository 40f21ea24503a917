// Notes and tags of people: orders to a run that change nothing of its search. If a head
// is at work it records them, else they are written into the store.
#include "tools/cli/base/command.hpp"
#include "tools/cli/look/watched_run.hpp"
#include "tools/views/web/orders.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>

namespace clade {

namespace {

struct annotate_options {
  watched_run run;
  std::vector<std::string> words; ///< The candidate, if the first is one, and the rest.
  std::vector<std::string> removed;
};

/// Takes the candidate's number from the beginning of `words`: where more follows it, or
/// where it is written "#12".
candidate_id take_candidate(std::vector<std::string>& words, bool alone) {
  if (words.empty() || (words.size() == 1 && !alone && !words[0].starts_with('#')))
    return 0;
  const auto id = parse_candidate(words.front(), "", "");
  if (!id)
    return 0;
  words.erase(words.begin());
  return *id;
}

/// Gives the orders one after the other, and says what was recorded.
int tell_all(const watched_run& run, const std::vector<instruction>& orders) {
  const auto opened = open_watched(run);
  if (!opened)
    return report(opened.error());
  for (const auto& order : orders) {
    const auto told =
        (*opened)->tell(operator_command{.order = order, .who = user_name()});
    if (!told)
      return report(
          {told.error().kind, fmt::format("{}: {}", run.run, told.error().message)});
    std::cout << to_text(order) << ": recorded" << std::endl;
    // Each is checked against what is there, with those before it.
    if (const auto came = (*opened)->wait(std::chrono::milliseconds(0)); !came)
      return report(came.error());
  }
  return 0;
}

int note(const annotate_options& options) {
  auto words = options.words;
  const auto id = take_candidate(words, false);
  if (words.size() != 1)
    return report({error_kind::invalid_input,
                   words.empty()
                       ? "clade note: there is no text"
                       : "clade note: put the text in quotes, so that the shell "
                         "takes it for one word"});
  return tell_all(options.run,
                  {{.kind = instruction_kind::note, .number = id, .text = words[0]}});
}

int tag(const annotate_options& options) {
  auto words = options.words;
  const auto id = take_candidate(words, !options.removed.empty());
  if (words.empty() && options.removed.empty())
    return report({error_kind::invalid_input, "clade tag: there is no tag"});
  std::vector<instruction> orders;
  for (const auto& word : words)
    orders.push_back({.kind = instruction_kind::tag, .number = id, .text = word});
  for (const auto& word : options.removed)
    orders.push_back({.kind = instruction_kind::untag, .number = id, .text = word});
  return tell_all(options.run, orders);
}

} // namespace

void add_note(CLI::App& app, command& chosen) {
  auto options = std::make_shared<annotate_options>();
  auto* sub = app.add_subcommand("note", "Write a note on a run or a candidate");
  add_watched_run(*sub, options->run);
  sub->add_option("words", options->words,
                  "The candidate's number, where it is about one, and the text; it\n"
                  "replaces the note before it, and \"\" takes that away")
      ->required()
      ->option_text("[ID] TEXT");
  sub->footer("A note is a record of the run, with who wrote it. Examples:\n"
              "  clade note digits \"the first with augmentation\"\n"
              "  clade note digits 231 \"small, and as good as the champion\"");
  sub->callback([&chosen, options] { chosen = [options] { return note(*options); }; });
}

void add_tag(CLI::App& app, command& chosen) {
  auto options = std::make_shared<annotate_options>();
  auto* sub = app.add_subcommand("tag", "Give a run or a candidate tags");
  add_watched_run(*sub, options->run);
  sub->add_option("words", options->words,
                  "The candidate's number, where it is about one, and the tags")
      ->option_text("[ID] TAG...");
  sub->add_option("--remove", options->removed, "Take this tag away")
      ->option_text("TAG")
      ->expected(1)
      ->take_all();
  sub->footer("A tag is one word; the page finds candidates by it (tag:good). Examples:\n"
              "  clade tag digits baseline\n"
              "  clade tag digits 231 good small --remove maybe");
  sub->callback([&chosen, options] { chosen = [options] { return tag(*options); }; });
}

} // namespace clade
