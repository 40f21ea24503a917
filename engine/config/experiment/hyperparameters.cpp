// A hyperparameter that training does not read would be searched in vain, and one out of
// range would fail candidate after candidate, so both are found here: each value that
// ends a domain is given to training's own reader, alone. The line is looked for in the
// space's file and those that it includes.
//
// The value of [training] counts where the space has no such hyperparameter. If the space
// has one that applies to every network, a value that a person wrote would have no
// effect. A resolved experiment holds every key, whoever wrote it, so of that only the
// overrides are looked at.

#include "engine/config/experiment/sections.hpp"
#include "engine/data/formats/file_bytes.hpp"
#include "engine/training/asked/recipe.hpp"
#include "search_spaces/operators/nearest.hpp"
#include "search_spaces/toml/parse_toml.hpp"
#include "search_spaces/toml/spelling.hpp"

#include <fmt/format.h>

#include <set>

namespace clade {
namespace {

/// Files that were `seen` are not looked at again.
std::string place_in(const std::filesystem::path& file, const std::string& name,
                     std::set<std::filesystem::path>& seen) {
  if (seen.size() > most_included_files || !seen.insert(file.lexically_normal()).second)
    return {};
  const auto d = read_file(file, {.most_bytes = most_toml_file_bytes})
                     .and_then([&](file_bytes&& read) {
                       return parse_document(read.bytes, file.string());
                     });
  if (!d)
    return {};
  for (const auto spelled : {std::string_view(name), spelling_of_hashes(name)})
    if (const auto at = d->root["hyperparameters"][spelled])
      return d->place("hyperparameters", at.node());
  if (const auto* included = d->root["include"].as_array())
    for (const toml::node& other : *included)
      if (const auto path = other.value<std::string>())
        if (auto place = place_in(file.parent_path() / *path, name, seen); !place.empty())
          return place;
  return {};
}

std::vector<value> ends_of(const parameter& p) {
  if (const auto* real = std::get_if<real_domain>(&p.domain))
    return {real->low, real->high};
  if (const auto* whole = std::get_if<integer_domain>(&p.domain))
    return {whole->low, whole->high};
  return std::get<choice_domain>(p.domain).options;
}

std::string complaint(const training_params& training, const parameter& p) {
  if (find_hyperparameter(p.name) == nullptr) {
    std::vector<std::string_view> names;
    std::string all;
    for (const auto& h : hyperparameters()) {
      names.push_back(h.name);
      all += (all.empty() ? "" : ", ") + std::string(h.name);
    }
    const std::string near = nearest(p.name, names);
    return fmt::format("training has no hyperparameter \"{}\"; {}", p.name,
                       near.empty() ? "it has " + all
                                    : fmt::format("did you mean \"{}\"?", near));
  }
  for (const value& v : ends_of(p))
    if (const auto read = recipe_of(training, {{p.name, v}}); !read)
      return fmt::format("hyperparameters.{}, but may be {}", read.error().message,
                         to_text(v));
  return {};
}

std::string place_of(const experiment& e, const parameter& p) {
  std::set<std::filesystem::path> seen;
  const std::string place = place_in(e.space.name, p.name, seen);
  return place.empty() ? e.space.name : place;
}

bool has_no_effect(const document& d, const parameter& p) {
  if (p.when || !d.root["training"][p.name])
    return false;
  return !has_own_space(d) || d.overridden.contains("training." + p.name)
         || d.overridden.contains("training");
}

} // namespace

void check_hyperparameters(document& d, const experiment& e) {
  for (const parameter& p : e.space.rules.hyperparameters) {
    if (d.wrong)
      return;
    if (const auto wrong = complaint(e.training, p); !wrong.empty())
      d.wrong =
          error{error_kind::invalid_input, fmt::format("{}: {}", place_of(e, p), wrong)};
    else if (has_no_effect(d, p))
      d.wrong = error{
          error_kind::invalid_input,
          fmt::format("{}: training.{} has no effect: the search space chooses {} for "
                      "each network ({}); remove it from one of the two",
                      d.place("training." + p.name, d.root["training"][p.name].node()),
                      p.name, p.name, place_of(e, p))};
  }
}

} // namespace clade
