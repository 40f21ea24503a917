// Writes a search space in the forms that parameter_reader.cpp reads, each as short as it
// can be: a list where a choice has no condition and is ordered as lists are (ascending
// numbers are, all else is not), a table otherwise. Reals always have a point or an
// exponent, since TOML takes them for whole numbers otherwise, and the shortest digits
// that give the number back.
#include "genome/base/text.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/operators/own_operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace clade {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string toml_value(const value& v) {
  if (const auto* text = std::get_if<std::string>(&v))
    return quoted(*text);
  std::string number = to_text(v);
  // "1e-05" is a real to TOML as it stands, "5" is not.
  if (std::holds_alternative<double>(v)
      && number.find_first_of(".e") == std::string::npos)
    number += ".0";
  return number;
}

std::string toml_list(const std::vector<value>& values) {
  std::string out = "[";
  for (std::size_t i = 0; i < values.size(); ++i)
    out += (i == 0 ? "" : ", ") + toml_value(values[i]);
  return out + "]";
}

bool ascending_numbers(const std::vector<value>& options) {
  return !options.empty() && !std::holds_alternative<std::string>(options.front())
         && std::ranges::adjacent_find(options, std::greater_equal<>()) == options.end();
}

std::string range_text(const value& low, const value& high, bool log) {
  return fmt::format("low = {}, high = {}{}", toml_value(low), toml_value(high),
                     log ? ", log = true" : "");
}

std::string condition_text(const std::optional<condition>& when) {
  return when ? fmt::format(", when = {{ {} = {} }}", when->parameter,
                            toml_list(when->values))
              : "";
}

std::string domain_text(const parameter& p) {
  const std::string when = condition_text(p.when);
  if (const auto* d = std::get_if<real_domain>(&p.domain))
    return fmt::format("{{ {}{} }}", range_text(d->low, d->high, d->log), when);
  if (const auto* d = std::get_if<integer_domain>(&p.domain))
    return fmt::format("{{ {}{}{} }}", range_text(d->low, d->high, d->log),
                       d->step == 1 ? "" : fmt::format(", step = {}", d->step), when);
  const auto& d = std::get<choice_domain>(p.domain);
  const bool as_list = d.ordered == ascending_numbers(d.options);
  if (as_list && when.empty())
    return toml_list(d.options);
  return fmt::format("{{ choice = {}{}{} }}", toml_list(d.options),
                     as_list     ? ""
                     : d.ordered ? ", ordered = true"
                                 : ", ordered = false",
                     when);
}

/// Derivations have no line: those that are not named are searched.
std::string lines(const std::vector<parameter>& parameters) {
  std::string out;
  for (const parameter& p : parameters)
    if (!std::holds_alternative<derivation_domain>(p.domain))
      out += fmt::format("{} = {}\n", p.name, domain_text(p));
  return out;
}

std::string items(const std::vector<setting>& settings, std::string text) {
  for (const auto& s : settings)
    text +=
        fmt::format("{}{} = {}", text.empty() ? "" : ", ", s.name, toml_value(s.value));
  return fmt::format("{{{}}}", text);
}

std::string seed_text(const seed_network& seed) {
  const std::string layers = joined(seed.layers, ", ", [&](const auto& l) {
    return items(l.settings, "op = " + quoted(l.op));
  });
  return fmt::format("[seeds.{}]\nlayers = [{}]\nhyperparameters = {}\n",
                     quoted(seed.name), layers, items(seed.hyperparameters, ""));
}

std::string own_text(const own_parameter& p) {
  const auto flag = [](bool is, const char* name) {
    return is ? fmt::format(", {} = true", name) : std::string();
  };
  const auto sentence = p.sentence.empty() ? "" : ", summary = " + quoted(p.sentence);
  if (p.derivations)
    return fmt::format("{} = {{rule = {}, depth = {}, size = {}{}}}\n", p.name,
                       quoted(p.derivations->rules->all()[p.derivations->start].name),
                       p.derivations->depth, p.derivations->size, sentence);
  if (p.type == setting_entry::kind::text)
    return fmt::format("{} = {{words = [{}]{}}}\n", p.name, joined(p.words, ", ", quoted),
                       sentence);
  const auto number = [&](double v) {
    return toml_value(p.type == setting_entry::kind::integer
                          ? value(static_cast<std::int64_t>(v))
                          : value(v));
  };
  return fmt::format("{} = {{low = {}, high = {}, default = {}{}{}{}{}}}\n", p.name,
                     number(p.low), number(p.high), number(p.fallback),
                     flag(p.odd, "odd"), flag(p.width, "width"), flag(p.first, "first"),
                     sentence);
}

std::string own_text(const own_layer& l) {
  std::string text = fmt::format("{{op = {}, name = {}", quoted(l.op), quoted(l.name));
  if (!l.from.empty())
    text += fmt::format(", from = [{}]", joined(l.from, ", ", quoted));
  if (l.starts_at_zero)
    text += ", zero = true";
  for (const auto& [name, source] : l.settings) {
    const auto* formula = std::get_if<own_formula>(&source);
    text += fmt::format(", {} = {}", name,
                        formula != nullptr ? quoted(to_text(*formula))
                                           : toml_value(std::get<value>(source)));
  }
  return text + "}";
}

std::string own_text(const own_description& d, std::set<std::string>& written);

std::string rules_text(const layer_rules& rules, std::set<std::string>& written) {
  if (!written.insert("[rules]").second)
    return "";
  std::string within, text;
  const auto& all = rules.rules->all();
  for (std::size_t r = 0; r < all.size(); ++r) {
    text += fmt::format("\n[rules.{}]\n", all[r].name);
    for (std::size_t p = 0; p < all[r].productions.size(); ++p) {
      const auto& d = rules.layers[r][p]->description();
      for (const auto& one : d.uses)
        within += own_text(one->description(), written);
      text += fmt::format(
          "{} = {{weight = {}, layers = [{}]}}\n", d.name,
          toml_value(all[r].productions[p].weight),
          joined(d.layers, ", ", [](const own_layer& l) { return own_text(l); }));
    }
  }
  return within + text;
}

std::string own_text(const own_description& d, std::set<std::string>& written) {
  if (!written.insert(d.name).second)
    return "";
  std::string within;
  if (d.rules)
    within = rules_text(*d.rules, written);
  for (const auto& one : d.uses)
    within += own_text(one->description(), written);
  std::string text = fmt::format("\n[composites.{}]\ntakes = {}\n", d.name,
                                 quoted(std::string(to_text(d.takes))));
  if (!d.summary.empty())
    text += fmt::format("summary = {}\n", quoted(d.summary));
  if (const auto* parameter = std::get_if<std::string>(&d.repeat))
    text += fmt::format("repeat = {}\n", quoted(*parameter));
  else
    text += fmt::format("repeat = {}\n", std::get<std::int64_t>(d.repeat));
  if (d.share)
    text += "share = true\n";
  const auto layer = [](const own_layer& l) { return "  " + own_text(l); };
  text += fmt::format("layers = [\n{}\n]\n", joined(d.layers, ",\n", layer));
  if (!d.parameters.empty())
    text += fmt::format("[composites.{}.parameters]\n", d.name);
  for (const auto& p : d.parameters)
    text += own_text(p);
  return within + text;
}

} // namespace

std::string to_toml(const search_space& space) {
  const auto line = [](const char* key, auto number) {
    return fmt::format("{} = {}\n", key, number);
  };
  std::string out = space.input == layout::vector
                        ? "image = false\n"
                        : fmt::format("{} = true\n", to_text(space.input));
  out += lines(space.rules.merge);
  out += "\n[limits]\n";
  if (space.rules.max_nodes > 0)
    out += line("initial_nodes", space.rules.initial_nodes);
  out += line("max_nodes", space.rules.max_nodes)
         + line("max_skips", space.rules.max_skips)
         + line("max_parameters", space.limits.max_parameters)
         + line("max_multiply_adds", space.limits.max_multiply_adds)
         + line("max_width", space.limits.max_width);
  if (space.rules.max_recurrent > 0)
    out += "\n[recurrence]\n" + line("max_edges", space.rules.max_recurrent)
           + line("longest_delay", space.rules.longest_delay);
  std::set<std::string> written;
  for (const auto& own : space.composites)
    out += own_text(own->description(), written);
  for (const operator_rule& rule : space.rules.operators)
    out += fmt::format("\n[operators.{}]\nweight = {}\n{}", rule.name,
                       toml_value(rule.weight), lines(rule.settings));
  if (!space.rules.hyperparameters.empty())
    out += "\n[hyperparameters]\n" + lines(space.rules.hyperparameters);
  for (const seed_network& seed : space.seeds)
    out += "\n" + seed_text(seed);
  return out;
}

} // namespace clade
