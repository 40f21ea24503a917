#include "engine/store/run_folder.hpp"
#include "engine/store/store.hpp"
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
  std::string from; ///< The run with the genome that is to be added.
};

/// The candidate's genome, as it is to be added elsewhere.
expected<instruction> genome_of(const std::string& run, candidate_id id) {
  return find_store(run).and_then([&](const std::filesystem::path& file) {
    return store::open_to_read(file).and_then([&](const store& s) {
      return s.find_candidate(id).map([&](const candidate& c) {
        return instruction{.kind = instruction_kind::add,
                           .number = 0,
                           .text = "#" + std::to_string(id) + " of "
                                   + file.parent_path().filename().string(),
                           .genome = c.genome};
      });
    });
  });
}

/// Who asks, for the record.
std::string user_name() {
  const auto* user = ::getpwuid(::getuid());
  return user != nullptr ? user->pw_name : "user " + std::to_string(::getuid());
}

int control(const control_options& options) {
  auto order = options.order;
  if (order.kind == instruction_kind::add) {
    auto found = genome_of(options.from, order.number);
    if (!found)
      return report(found.error());
    order = std::move(*found);
  }
  const auto opened = open_watched(options.run);
  if (!opened)
    return report(opened.error());
  const auto told = (*opened)->tell(person_ordered{.order = order, .who = user_name()});
  if (!told)
    return report(
        {told.error().kind == error_kind::io ? error_kind::io : error_kind::invalid_input,
         options.run.run + ": " + told.error().message});
  std::cout << to_text(order) << ": recorded" << std::endl;
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
    {"extend", instruction_kind::extend, "Search so many generations longer"},
    {"add", instruction_kind::add,
     "Evaluate a candidate of another run, as one of the next generation"},
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
    if (o.kind == instruction_kind::extend)
      one->add_option("generations", options->order.number, "How many more")
          ->required()
          ->check(CLI::Range(1, 1'000'000))
          ->option_text("N");
    if (o.kind == instruction_kind::add) {
      one->add_option("from", options->from, "The run with that candidate")
          ->required()
          ->option_text("RUN2");
      one->add_option("id", options->order.number, "Its number there")
          ->required()
          ->option_text("ID");
    }
    one->callback(
        [&chosen, options] { chosen = [options] { return control(*options); }; });
  }
  sub->footer("Each order is a record of the run, with who gave it. Examples:\n"
              "  clade control stop-after digits\n"
              "  clade control slots digits cpu:4");
}

} // namespace clade
