#include "tools/command.hpp"
#include "tools/watched_run.hpp"

#include <pwd.h>
#include <unistd.h>

#include <iostream>
#include <memory>

namespace clade {

namespace {

struct control_options {
  watched_run run;
  instruction order;
};

/// Who asks, for the record.
std::string user_name() {
  const auto* user = ::getpwuid(::getuid());
  return user != nullptr ? user->pw_name : "user " + std::to_string(::getuid());
}

int control(const control_options& options) {
  const auto opened = open_watched(options.run);
  if (!opened)
    return report(opened.error());
  const auto told =
      (*opened)->tell(person_ordered{.order = options.order, .who = user_name()});
  if (!told)
    return report(
        {told.error().kind == error_kind::io ? error_kind::io : error_kind::invalid_input,
         options.run.run + ": " + told.error().message});
  std::cout << to_text(options.order) << ": recorded" << std::endl;
  return 0;
}

struct row {
  const char* name;
  instruction_kind kind;
  const char* help;
};

constexpr row orders[] = {
    {"hold", instruction_kind::hold,
     "Hand out nothing more; what is in training goes on"},
    {"go-on", instruction_kind::go_on, "End a hold"},
    {"stop", instruction_kind::stop,
     "Finish and record what is in training, then pause, as Ctrl+C does"},
    {"stop-after", instruction_kind::stop_after,
     "The same, once the generation in progress is closed"},
    {"slots", instruction_kind::slots,
     "Train on these slots of the head's machine from now on"},
    {"drop", instruction_kind::drop, "Evaluate an open candidate as dropped"},
};

} // namespace

void add_control(CLI::App& app, command& chosen) {
  auto* sub = app.add_subcommand("control", "Tell a run that is going on what to do");
  sub->require_subcommand(1);
  for (const auto& o : orders) {
    auto options = std::make_shared<control_options>();
    options->order.kind = o.kind;
    auto* one = sub->add_subcommand(o.name, o.help);
    add_watched_run(*one, options->run);
    if (o.kind == instruction_kind::slots)
      one->add_option("slots", options->order.text, "As in [slots] local: cpu:4")
          ->required()
          ->option_text("SLOTS");
    if (o.kind == instruction_kind::drop)
      one->add_option("id", options->order.number, "The candidate's number")
          ->required()
          ->option_text("ID");
    one->callback(
        [&chosen, options] { chosen = [options] { return control(*options); }; });
  }
  sub->footer("Each order is a record of the run, with who gave it. Examples:\n"
              "  clade control stop-after digits\n"
              "  clade control slots digits cpu:4");
}

} // namespace clade
