// Reads the grammar at the top of change.cpp. A node is "input", "output" or "n" and
// hexadecimal digits, which tells a change of a layer's setting from one of a
// hyperparameter. A layer without settings reads "relu" and one that has some "conv(...)",
// so that the change of a setting alone has a space and no bracket before the arrow.
#include "genome/variation/old_change_text.hpp"

#include <algorithm>
#include <optional>

namespace clade {

namespace {

constexpr std::string_view between = "; ", arrow = " -> ";

bool is_node(std::string_view word) {
  if (word == "input" || word == "output")
    return true;
  return word.size() > 1 && word.front() == 'n'
         && word.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
}

/// Takes what is before the separator off the text, or all of it where there is none.
std::string_view take(std::string_view& text, std::string_view separator) {
  const auto part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + separator.size(), text.size()));
  return part;
}

/// For "units 16", the text is "16".
void assign_name_and_before(change& c, std::string_view text) {
  if (text.find(' ') != std::string_view::npos)
    c.name = take(text, " ");
  c.before = text;
}

change parse_value_change(std::string_view text) {
  change c;
  auto before = take(text, arrow);
  c.after = text;
  const auto word = before.substr(0, before.find(' '));
  c.kind = word == "widen"    ? change_kind::widen
           : word == "narrow" ? change_kind::narrow
           : is_node(word)    ? change_kind::change_setting
                              : change_kind::change_hyperparameter;
  if (c.kind == change_kind::widen || c.kind == change_kind::narrow)
    take(before, " ");
  if (c.kind != change_kind::change_hyperparameter)
    c.gene = take(before, " ");
  if (c.kind == change_kind::change_setting
      && (before.find('(') != before.npos || before.find(' ') == before.npos)) {
    c.kind = change_kind::change_operator;
    c.before = before;
  } else {
    assign_name_and_before(c, before);
  }
  return c;
}

std::optional<change> parse_recurrent_edge(std::string_view text) {
  constexpr std::string_view added = "add recurrent edge ",
                             removed = "remove recurrent edge ";
  const bool adds = text.starts_with(added);
  if (!adds && !text.starts_with(removed))
    return std::nullopt;
  text.remove_prefix((adds ? added : removed).size());
  change c{.kind = adds ? change_kind::add_recurrent_edge
                        : change_kind::remove_recurrent_edge};
  c.gene = take(text, " of ");
  (adds ? c.after : c.before) = text;
  return c;
}

change parse_mutation(std::string_view text) {
  if (text.starts_with("add edge "))
    return {.kind = change_kind::add_edge, .gene = std::string(text.substr(9))};
  if (text.starts_with("remove edge "))
    return {.kind = change_kind::remove_edge, .gene = std::string(text.substr(12))};
  if (auto c = parse_recurrent_edge(text))
    return *c;
  change c;
  auto rest = text.substr(std::min(text.find(' '), text.size() - 1) + 1);
  if (text.starts_with("add ")) {
    c.kind = change_kind::add_node;
    c.after = take(rest, " on ");
    c.gene = rest;
  } else if (text.starts_with("remove ")) {
    c.kind = change_kind::remove_node;
    c.gene = take(rest, " ");
    c.before = rest;
  } else {
    return parse_value_change(text);
  }
  return c;
}

change parse_other(std::string_view text) {
  change c;
  for (const auto kind : {change_kind::sampled, change_kind::unchanged})
    if (text == to_text(kind))
      return {.kind = kind};
  if (text.starts_with("crossed")) {
    c.kind = change_kind::crossed;
    take(text, ", ");
    c.after = text;
  } else if (text.starts_with("goes on ")) {
    c.kind = change_kind::goes_on;
    auto from = take(text, "to epoch ");
    if (from.size() > 14) // "goes on from #3 "
      c.before = from.substr(13, from.size() - 14);
    c.after = text;
  } else if (text.ends_with("by TPE")) {
    c = {.kind = change_kind::proposed, .name = "TPE", .after = std::string(text)};
  }
  return c;
}

change parse(std::string_view text) {
  for (const auto read : {parse_other, parse_mutation})
    if (!text.empty())
      if (auto c = read(text); to_text(c) == text)
        return c;
  return {.after = std::string(text)};
}

} // namespace

std::vector<change> parse_old_change_text(std::string_view text) {
  std::vector<change> changes;
  for (auto rest = text; !rest.empty();)
    changes.push_back(parse(take(rest, between)));
  if (to_text(changes) == text)
    return changes;
  return {{.after = std::string(text)}}; // It ends with a semicolon.
}

} // namespace clade
