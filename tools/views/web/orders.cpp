#include "tools/views/web/orders.hpp"

#include "engine/store/run/store.hpp"
#include "genome/base/json_depth.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace clade {

namespace {

constexpr std::array orders{
    order_entry{"hold", instruction_kind::hold,
                "Start no further candidate; those in training go on"},
    order_entry{"go-on", instruction_kind::go_on, "End a hold"},
    order_entry{"stop", instruction_kind::stop,
                "Finish and record what is in training, then pause, as Ctrl+C does"},
    order_entry{"stop-after", instruction_kind::stop_after,
                "The same, when the generation in progress is complete"},
    order_entry{"slots", instruction_kind::slots,
                "Train on these slots of the head's machine from now on"},
    order_entry{"drop", instruction_kind::drop,
                "Give up a candidate that has no result yet"},
    order_entry{"extend", instruction_kind::extend,
                "Search this many generations longer"},
    order_entry{"add", instruction_kind::add,
                "Evaluate a candidate of another run, as one of the next generation"},
};

/// A note or tag: it is no order to the search, and `clade note` and `clade tag` write
/// it.
struct annotation_entry {
  const char* name;
  instruction_kind kind;
};
constexpr std::array annotation_orders{
    annotation_entry{"note", instruction_kind::note},
    annotation_entry{"tag", instruction_kind::tag},
    annotation_entry{"untag", instruction_kind::untag},
};

constexpr std::uint64_t most_generations = 1'000'000;

tl::unexpected<error> refused(const std::string& what) {
  return fail(error_kind::invalid_input, what);
}

bool needs_number(instruction_kind kind) {
  return kind == instruction_kind::drop || kind == instruction_kind::extend;
}

expected<instruction> parse_annotation(instruction_kind kind,
                                       const nlohmann::json& sent) {
  const auto number = sent.find("number"), text = sent.find("text");
  if (number != sent.end() && !number->is_number_unsigned())
    return refused("the number of a candidate is a whole number");
  if (text == sent.end() || !text->is_string())
    return refused("a note or tag needs a text");
  return instruction{.kind = kind,
                     .number = number == sent.end() ? 0 : number->get<candidate_id>(),
                     .text = text->get<std::string>()};
}

} // namespace

std::span<const order_entry> known_orders() {
  return orders;
}

expected<instruction> parse_order(std::string_view json) {
  const auto parsed = parse_shallow<nlohmann::json>(json);
  if (!parsed.is_object() || !parsed.contains("order") || !parsed["order"].is_string())
    return refused("an order is {\"order\": NAME, ...}");
  const auto name = parsed["order"].get<std::string>();
  const auto* written =
      std::ranges::find(annotation_orders, name, &annotation_entry::name);
  if (written != annotation_orders.end())
    return parse_annotation(written->kind, parsed);
  const auto* known = std::ranges::find(orders, name, &order_entry::name);
  if (known == orders.end() || known->kind == instruction_kind::add)
    return refused(fmt::format("no order \"{}\"", name));
  instruction order{.kind = known->kind};
  if (needs_number(order.kind)) {
    const auto number = parsed.find("number");
    if (number == parsed.end() || !number->is_number_unsigned() || *number == 0
        || (order.kind == instruction_kind::extend && *number > most_generations))
      return refused(name + " needs a whole number, from 1");
    order.number = number->get<std::uint64_t>();
  }
  if (order.kind == instruction_kind::slots) {
    const auto text = parsed.find("text");
    if (text == parsed.end() || !text->is_string())
      return refused("slots needs a text, such as cpu:2");
    order.text = text->get<std::string>();
  }
  return order;
}

expected<instruction> order_to_add(const std::string& run, candidate_id id,
                                   const std::filesystem::path& folder) {
  return find_store(run, folder).and_then([&](const std::filesystem::path& file) {
    return store::open_to_read(file).and_then([&](const store& s) {
      return s.find_candidate(id).map([&](const candidate& c) {
        return instruction{.kind = instruction_kind::add,
                           .number = 0,
                           .text = fmt::format("{} of {}", numbered(id),
                                               file.parent_path().filename().string()),
                           .genome = c.genome};
      });
    });
  });
}

std::string user_name() {
  const auto* user = ::getpwuid(::getuid());
  return user != nullptr ? user->pw_name : fmt::format("user {}", ::getuid());
}

} // namespace clade
