// A hyperparameter that training does not read would be searched in vain, and one out of
// range would fail candidate after candidate, so both are found here: each value that
// ends a domain is given to training's own reader, alone. The line is looked for in the
// space's file and those that it includes.

#include "engine/config/sections.hpp"
#include "engine/data/file_bytes.hpp"
#include "engine/training/recipe.hpp"
#include "search_spaces/nearest.hpp"

#include <algorithm>

namespace clade {
namespace {

std::string place_in(const std::filesystem::path& file, const std::string& name,
                     int depth) {
  constexpr int deepest = 8;
  const auto read = read_file(file);
  const auto d =
      read ? parse_document(read->bytes, file.string()) : tl::unexpected(read.error());
  if (!d || depth > deepest)
    return {};
  if (const auto at = d->root["hyperparameters"][name])
    return d->place("hyperparameters", at.node());
  if (const auto* included = d->root["include"].as_array())
    for (const toml::node& other : *included)
      if (const auto path = other.value<std::string>())
        if (auto place = place_in(file.parent_path() / *path, name, depth + 1);
            !place.empty())
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
  const auto names = hyperparameter_names();
  if (std::find(names.begin(), names.end(), p.name) == names.end()) {
    const std::string near = nearest(p.name, names);
    std::string all;
    for (const std::string_view n : names)
      all += (all.empty() ? "" : ", ") + std::string(n);
    return "training has no hyperparameter \"" + p.name + "\"; "
           + (near.empty() ? "it has " + all : "did you mean \"" + near + "\"?");
  }
  for (const value& v : ends_of(p))
    if (const auto read = recipe_of(training, {{p.name, v}}); !read)
      return "hyperparameters." + read.error().message + ", but may be " + to_text(v);
  return {};
}

} // namespace

void check_hyperparameters(document& d, const experiment& e) {
  for (const parameter& p : e.space.rules.hyperparameters) {
    const std::string wrong = complaint(e.training, p);
    if (wrong.empty() || d.wrong)
      continue;
    const std::string place = place_in(e.space.name, p.name, 0);
    d.wrong = error{error_kind::invalid_input,
                    (place.empty() ? e.space.name : place) + ": " + wrong};
  }
}

} // namespace clade
