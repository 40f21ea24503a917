// Settings of layers against the table of operators: reading, objecting, completing.
#include "genome/base/text.hpp"
#include "genome/base/utf8.hpp"
#include "search_spaces/operators/nearest.hpp"
#include "search_spaces/operators/operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace clade {

namespace {

using kind = setting_entry::kind;

template<class T>
const T& existing(const std::vector<setting>& settings, std::string_view name) {
  const value* found = find(settings, name);
  const T* typed = found == nullptr ? nullptr : std::get_if<T>(found);
  if (typed == nullptr) {
    std::fprintf(stderr, "clade: a layer without its setting '%.*s'\n",
                 static_cast<int>(name.size()), name.data());
    std::abort();
  }
  return *typed;
}

std::string_view kind_name(kind k) {
  return k == kind::integer ? "a whole number" : k == kind::real ? "a number" : "text";
}

std::string range_text(const setting_entry& entry) {
  if (entry.type == kind::integer)
    return fmt::format("{} to {}", static_cast<std::int64_t>(entry.low),
                       static_cast<std::int64_t>(entry.high));
  return fmt::format("{} to {}", to_text(value(entry.low)), to_text(value(entry.high)));
}

std::string object_to_word(const setting_entry& entry, const std::string& word) {
  if (entry.derivations != nullptr) {
    const auto read = parse_derivation(*entry.derivations, word);
    return read ? "" : fmt::format("is '{}': {}", clipped(word), read.error().message);
  }
  if (std::ranges::find(entry.words, word) != entry.words.end())
    return {};
  const std::string near = nearest(word, entry.words);
  if (!near.empty())
    return fmt::format("is '{}', did you mean '{}'?", word, near);
  const std::string all = joined(entry.words);
  return fmt::format("is '{}', but must be one of {}", word, all);
}

value fallback(const setting_entry& entry) {
  switch (entry.type) {
  case kind::integer:
    return static_cast<std::int64_t>(entry.fallback);
  case kind::real:
    return entry.fallback;
  default:
    return std::string(entry.words[0]);
  }
}

} // namespace

std::int64_t integer_setting(const std::vector<setting>& settings,
                             std::string_view name) {
  return existing<std::int64_t>(settings, name);
}

double real_setting(const std::vector<setting>& settings, std::string_view name) {
  return existing<double>(settings, name);
}

const std::string& text_setting(const std::vector<setting>& settings,
                                std::string_view name) {
  return existing<std::string>(settings, name);
}

std::string objection(const setting_entry& entry, const value& v) {
  const bool typed = entry.type == kind::integer ? std::holds_alternative<std::int64_t>(v)
                     : entry.type == kind::real  ? std::holds_alternative<double>(v)
                                                 : std::holds_alternative<std::string>(v);
  if (!typed) {
    const auto* word = std::get_if<std::string>(&v);
    return fmt::format("is {}, but must be {}",
                       word != nullptr ? fmt::format("'{}'", *word) : to_text(v),
                       kind_name(entry.type));
  }
  if (const auto* word = std::get_if<std::string>(&v))
    return object_to_word(entry, *word);
  const auto* whole = std::get_if<std::int64_t>(&v);
  const double number =
      whole != nullptr ? static_cast<double>(*whole) : std::get<double>(v);
  if (!(number >= entry.low && number <= entry.high))
    return fmt::format("is {}, but must be from {}", to_text(v), range_text(entry));
  if (entry.odd && whole != nullptr && *whole % 2 == 0)
    return fmt::format("is {}, but must be odd", to_text(v));
  return {};
}

std::string discord(const setting_entry& entry, std::int64_t v, std::int64_t whole) {
  if (whole % v == 0)
    return {};
  return fmt::format("{} is {}, which does not divide {}, {}", entry.name, v,
                     entry.divides, whole);
}

expected<std::vector<setting>> complete(const operator_entry& entry,
                                        const std::vector<setting>& given) {
  std::vector<setting> all;
  all.reserve(entry.settings.size());
  std::size_t used = 0;
  for (const setting_entry& wanted : entry.settings) {
    const value* found = find(given, wanted.name);
    if (found == nullptr) {
      all.push_back({std::string(wanted.name), fallback(wanted)});
      continue;
    }
    if (auto complaint = objection(wanted, *found); !complaint.empty())
      return fail(error_kind::invalid_input,
                  fmt::format("{}: {} {}", entry.name, wanted.name, complaint));
    all.push_back({std::string(wanted.name), *found});
    ++used;
  }
  for (const setting_entry& e : entry.settings)
    if (!e.divides.empty())
      if (auto wrong =
              discord(e, integer_setting(all, e.name), integer_setting(all, e.divides));
          !wrong.empty())
        return fail(error_kind::invalid_input, fmt::format("{}: {}", entry.name, wrong));
  if (used == given.size())
    return all;
  for (const setting& s : given)
    if (std::ranges::find(entry.settings, s.name, &setting_entry::name)
        == entry.settings.end())
      return fail(error_kind::invalid_input,
                  fmt::format("{} has no setting '{}'", entry.name, s.name));
  return fail(error_kind::invalid_input,
              std::string(entry.name) + " has a setting twice");
}

} // namespace clade
