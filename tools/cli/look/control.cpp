#include "tools/cli/base/command.hpp"
#include "tools/cli/look/watched_run.hpp"
#include "tools/views/web/orders.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>

namespace clade {

namespace {

struct control_options {
  watched_run run;
  instruction order;
  std::string from; ///< The run with the genome that is to be added.
};

int control(const control_options& options) {
  auto order = options.order;
  if (order.kind == instruction_kind::add) {
    auto found = order_to_add(options.from, order.number);
    if (!found)
      return report(found.error());
    order = std::move(*found);
  }
  const auto opened = open_watched(options.run);
  if (!opened)
    return report(opened.error());
  const auto told = (*opened)->tell(operator_command{.order = order, .who = user_name()});
  if (!told)
    return report(
        {told.error().kind == error_kind::io ? error_kind::io : error_kind::invalid_input,
         fmt::format("{}: {}", options.run.run, told.error().message)});
  std::cout << to_text(order) << ": recorded" << std::endl;
  return 0;
}

} // namespace

void add_control(CLI::App& app, command& chosen) {
  auto* sub = app.add_subcommand("control", "Steer a running search");
  sub->require_subcommand(1);
  for (const auto& o : known_orders()) {
    auto options = std::make_shared<control_options>();
    options->order.kind = o.kind;
    auto* one = sub->add_subcommand(o.name, o.help);
    add_watched_run(*one, options->run);
    if (o.kind == instruction_kind::slots)
      one->add_option("slots", options->order.text, "As in [slots] local, such as cpu:4")
          ->required()
          ->option_text("SLOTS");
    if (o.kind == instruction_kind::drop)
      one->add_option("id", options->order.number, "The candidate's number")
          ->required()
          ->check(whole_number(1, largest_candidate))
          ->option_text("ID");
    if (o.kind == instruction_kind::extend)
      one->add_option("generations", options->order.number, "How many more")
          ->required()
          ->check(whole_number(1, 1'000'000))
          ->option_text("N");
    if (o.kind == instruction_kind::add) {
      one->add_option("from", options->from, "The run with that candidate")
          ->required()
          ->option_text("RUN2");
      one->add_option("id", options->order.number, "Its number there")
          ->required()
          ->check(whole_number(1, largest_candidate))
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
