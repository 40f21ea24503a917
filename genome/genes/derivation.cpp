#include "genome/genes/derivation.hpp"

#include "genome/base/text.hpp"
#include "genome/base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

// The fewest productions within each depth are known for every rule, so that drawing never
// runs into an end that it would have to take back: a production is a candidate if its
// parts can end within the bounds, and each part is left what those after it need.

namespace clade {

namespace {

constexpr int attempts = 64;

std::size_t sum_up_to(std::size_t a, std::size_t b, std::size_t most) {
  return a >= most || b >= most - a ? most : a + b;
}

derivation least_of(const production_rules& rules, std::size_t rule, std::size_t depth) {
  const auto& all = rules.all()[rule].productions;
  const auto first = std::ranges::find_if(all, [&](const production& p) {
    return rules.least(p, depth) == rules.least(rule, depth);
  });
  derivation d{.rule = rule, .production = static_cast<std::size_t>(first - all.begin())};
  for (const auto part : first->parts)
    d.parts.push_back(least_of(rules, part, depth - 1));
  return d;
}

/// Draws a derivation of a rule that has one within these bounds.
derivation grow(const production_rules& rules, std::size_t rule, std::size_t depth,
                std::size_t size, random_stream& random) {
  const auto& all = rules.all()[rule].productions;
  std::vector<double> weights;
  weights.reserve(all.size());
  for (const production& p : all)
    weights.push_back(rules.least(p, depth) <= size ? p.weight : 0);
  const auto drawn = draw_by_weight(weights, random);
  if (!drawn)
    return least_of(rules, rule, depth); // All that fit have the weight 0.
  derivation d{.rule = rule, .production = *drawn};
  const auto& parts = all[*drawn].parts;
  std::size_t spare = size - rules.least(all[*drawn], depth);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto own = rules.least(parts[i], depth - 1);
    const auto more = spare / (parts.size() - i);
    d.parts.push_back(grow(rules, parts[i], depth - 1, own + more, random));
    spare -= size_of(d.parts.back()) - own;
  }
  return d;
}

/// A place within a derivation.
struct place {
  derivation* at = nullptr;
  std::size_t depth = 0; ///< The root's is 0.
};

void add_places(derivation& d, std::size_t depth, std::vector<place>& all) {
  all.push_back({&d, depth});
  for (auto& part : d.parts)
    add_places(part, depth + 1, all);
}

std::vector<place> places_of(derivation& d) {
  std::vector<place> all;
  add_places(d, 0, all);
  return all;
}

class derivation_parser {
public:
  derivation_parser(const derivation_domain& domain, std::string_view text)
      : domain_(domain),
        text_(text) {}

  expected<derivation> read() {
    auto d = read(domain_.start, domain_.depth);
    if (d && !text_.empty())
      return refuse(fmt::format("\"{}\" is left over", clipped(text_)));
    return d;
  }

private:
  static tl::unexpected<error> refuse(std::string message) {
    return fail(error_kind::invalid_input, std::move(message));
  }

  expected<derivation> read(std::size_t rule, std::size_t depth);
  expected<void> take(char c, const production& within) {
    if (!text_.starts_with(c))
      return refuse(fmt::format("{} has {} parts, as in {}[...{}]", within.name,
                                within.parts.size(), within.name,
                                within.parts.size() > 1 ? " ..." : ""));
    text_.remove_prefix(1);
    return {};
  }

  const derivation_domain& domain_;
  std::string_view text_;
  std::size_t read_ = 0;
};

expected<derivation> derivation_parser::read(std::size_t rule, std::size_t depth) {
  const auto& [rule_name, productions] = domain_.rules->all()[rule];
  const auto name = text_.substr(0, text_.find_first_of("[] "));
  const auto found = std::ranges::find(productions, name, &production::name);
  if (found == productions.end())
    return refuse(fmt::format("\"{}\" is none of the rule {}: {}", clipped(name),
                              rule_name,
                              joined(productions, ", ", std::mem_fn(&production::name))));
  if (depth == 0)
    return refuse(fmt::format("it is more than {} deep", domain_.depth));
  if (++read_ > domain_.size)
    return refuse(fmt::format("it has more than {} parts", domain_.size));
  text_.remove_prefix(name.size());
  derivation d{.rule = rule,
               .production = static_cast<std::size_t>(found - productions.begin())};
  for (const auto part : found->parts) {
    if (auto begun = take(d.parts.empty() ? '[' : ' ', *found); !begun)
      return tl::unexpected(begun.error());
    auto made = read(part, depth - 1);
    if (!made)
      return made;
    d.parts.push_back(std::move(*made));
  }
  if (!found->parts.empty())
    if (auto ended = take(']', *found); !ended)
      return tl::unexpected(ended.error());
  return d;
}

} // namespace

production_rules::production_rules(std::vector<production_rule> all)
    : all_(std::move(all)) {
  least_.assign(deepest + 1, std::vector<std::size_t>(all_.size(), endless));
  number_.assign(deepest + 1, std::vector<std::size_t>(all_.size(), 0));
  for (std::size_t depth = 1; depth <= deepest; ++depth)
    for (std::size_t rule = 0; rule < all_.size(); ++rule)
      for (const production& p : all_[rule].productions) {
        auto& fewest = least_[depth][rule];
        fewest = std::min(fewest, least(p, depth));
        std::size_t number = p.weight > 0 ? 1 : 0;
        for (const auto part : p.parts)
          number = std::min<std::size_t>(number * number_[depth - 1][part], 2);
        number_[depth][rule] = sum_up_to(number_[depth][rule], number, 2);
      }
}

std::size_t production_rules::least(std::size_t rule, std::size_t depth) const {
  return least_[std::min(depth, deepest)][rule];
}

std::size_t production_rules::least(const production& p, std::size_t depth) const {
  if (depth == 0)
    return endless;
  std::size_t sum = 1;
  for (const auto part : p.parts)
    sum = sum_up_to(sum, least(part, depth - 1), endless);
  return sum;
}

bool production_rules::varies(std::size_t rule, std::size_t depth) const {
  return number_[std::min(depth, deepest)][rule] > 1;
}

bool operator==(const derivation_domain& a, const derivation_domain& b) {
  return a.start == b.start && a.depth == b.depth && a.size == b.size
         && (a.rules == b.rules || a.rules->all() == b.rules->all());
}

std::size_t size_of(const derivation& d) {
  std::size_t sum = 1;
  for (const auto& part : d.parts)
    sum += size_of(part);
  return sum;
}

std::size_t depth_of(const derivation& d) {
  std::size_t deepest = 0;
  for (const auto& part : d.parts)
    deepest = std::max(deepest, depth_of(part));
  return deepest + 1;
}

std::string to_text(const production_rules& rules, const derivation& d) {
  const auto& name = rules.at(d).name;
  if (d.parts.empty())
    return name;
  return fmt::format("{}[{}]", name, joined(d.parts, " ", [&](const derivation& part) {
                       return to_text(rules, part);
                     }));
}

expected<derivation> parse_derivation(const derivation_domain& domain,
                                      std::string_view text) {
  return derivation_parser(domain, text).read();
}

derivation least_derivation(const derivation_domain& domain) {
  return least_of(*domain.rules, domain.start, domain.depth);
}

derivation draw(const derivation_domain& domain, random_stream& random) {
  return grow(*domain.rules, domain.start, domain.depth, domain.size, random);
}

derivation perturbed(const derivation_domain& domain, const derivation& d,
                     random_stream& random) {
  derivation made = d;
  const auto places = places_of(made);
  const auto rest = domain.size - size_of(made);
  for (int i = 0; i < attempts; ++i) {
    const auto [at, depth] = places[random.below(places.size())];
    auto other =
        grow(*domain.rules, at->rule, domain.depth - depth, rest + size_of(*at), random);
    if (other == *at)
      continue;
    *at = std::move(other);
    break;
  }
  return made;
}

derivation crossed(const derivation_domain& domain, const derivation& mine,
                   const derivation& theirs, random_stream& random) {
  derivation made = mine, donor = theirs;
  const auto places = places_of(made), offered = places_of(donor);
  const auto rest = domain.size - size_of(made);
  for (int i = 0; i < attempts; ++i) {
    const auto [at, depth] = places[random.below(places.size())];
    const auto& from = *offered[random.below(offered.size())].at;
    if (from.rule != at->rule || from == *at || size_of(from) > rest + size_of(*at)
        || depth_of(from) > domain.depth - depth)
      continue;
    *at = from;
    break;
  }
  return made;
}

std::pair<std::string, std::string>
differing_parts(const production_rules& rules, const derivation& a, const derivation& b) {
  if (a.rule == b.rule && a.production == b.production) {
    const derivation* one = nullptr;
    const derivation* other = nullptr;
    std::size_t differing = 0;
    for (std::size_t i = 0; i < a.parts.size(); ++i)
      if (a.parts[i] != b.parts[i]) {
        one = &a.parts[i];
        other = &b.parts[i];
        ++differing;
      }
    if (differing == 1)
      return differing_parts(rules, *one, *other);
  }
  return {to_text(rules, a), to_text(rules, b)};
}

} // namespace clade
