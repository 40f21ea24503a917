// The resolved document holds every key of every section in the order of keys.hpp, with
// absolute paths, and the whole search space under [search_space], beside its name under
// "file". It is written here by hand, so that it reads like an experiment file; the
// space's own document is nested by toml++. Numbers are written such that they parse to
// the same.

#include "engine/config/experiment/sections.hpp"
#include "engine/config/experiment/toml_writer.hpp"
#include "genome/genes/hash.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/toml/parse_toml.hpp"

#include <fmt/format.h>

#include <array>
#include <sstream>

namespace clade {
namespace {

// Returns the text that `to_toml(search_space)` wrote, as a table of the experiment's
// document.
std::string nested(const search_space& space) {
  // Clade can read each text that it writes of a space.
  toml::table inner = parse_toml(to_toml(space), space.name).value();
  inner.insert_or_assign("file", space.name);
  toml::table outer;
  outer.insert("search_space", std::move(inner));
  std::ostringstream out;
  out << outer << "\n";
  return out.str();
}

void write_limits(toml_writer& out, const char* key, bool at_most,
                  const std::vector<constraint>& all) {
  std::string items;
  for (const auto& c : all)
    if (c.at_most == at_most)
      items += fmt::format("{}{} = {}", items.empty() ? "" : ", ",
                           toml_writer::quoted(c.metric), toml_writer::number(c.limit));
  if (!items.empty())
    out.raw(key, fmt::format("{{{}}}", items));
}

// A part that is not there is not written, so that one metric alone looks as it always
// did.
void write_objective(toml_writer& out, const objective& o) {
  std::vector<std::string> raised, lowered;
  for (const auto& a : aims_of(o))
    (a.maximize ? raised : lowered).push_back(a.metric);
  out.section("objective");
  if (!raised.empty())
    out.list("maximize", raised);
  if (!lowered.empty())
    out.list("minimize", lowered);
  write_limits(out, "at_most", true, o.constraints);
  write_limits(out, "at_least", false, o.constraints);
}

} // namespace

bool has_own_space(const document& d) {
  return d.root["search_space"]["operators"].is_table();
}

search_space read_own_space(table_reader& t, document& d) {
  const toml::table* table = d.root["search_space"].as_table();
  if (table == nullptr) {
    t.fail("", "the search space is missing");
    return {};
  }
  toml::table inner = *table;
  const auto name = inner["file"].value_or(std::string("search_space"));
  inner.erase("file");
  std::ostringstream text;
  text << inner;
  auto space = parse_search_space(text.str(), name);
  if (space)
    return std::move(*space);
  if (!d.wrong)
    d.wrong = std::move(space).error();
  return {};
}

namespace {

std::string write(const experiment& e, toml_writer out) {
  const auto& traits = e.traits();
  out.section("experiment", e);
  if (traits.data == data_role::shape || e.shaped)
    out.section("data", e.synthetic_problem);
  else if (traits.data == data_role::examples)
    out.section("data", e.data);
  write_objective(out, e.objective);
  out.section("evolution", e.evolution);
  out.section("evolution.mutation", e.evolution.mutation);
  out.section("training", e.training);
  if (!traits.title.empty()) {
    out.section(traits.name);
    visit_copy(out, *e.evaluator);
  }
  out.section("limits", e.limits);
  if (e.final_stage.wanted()) // Others have none, as before there was such a section.
    out.section("final", e.final_stage);
  out.section("slots", e.slots);
  return fmt::format("{}\n{}", out.take(), nested(e.space));
}

} // namespace

std::string to_toml(const experiment& e) {
  return write(e, toml_writer());
}

expected<experiment> parse_resolved(std::string_view text, std::string_view origin) {
  auto d = parse_document(text, origin);
  if (!d)
    return tl::unexpected(std::move(d).error());
  return read_experiment(
      *d, {}, [&](table_reader& t, const experiment&) { return read_own_space(t, *d); },
      written_by::clade);
}

namespace {

/// Returns the text as it would be if nothing but what a fork may not change were
/// changed.
std::string unchangeable(const experiment& e, const experiment& origin) {
  experiment kept = origin;
  if (e.traits().name != origin.traits().name || !e.traits().changes_in_forks)
    kept.evaluator = e.evaluator;
  kept.data = e.data;
  kept.synthetic_problem = e.synthetic_problem;
  kept.shaped = e.shaped;
  return to_toml(kept);
}

} // namespace

expected<experiment> change_resolved(const experiment& origin, const std::string& name,
                                     std::span<const std::string> changes,
                                     const change_words& words) {
  const auto& option = words.option;
  auto d = parse_document(to_toml(origin), "the origin's experiment");
  if (!d)
    return tl::unexpected(std::move(d).error());
  for (const auto& change : changes)
    if (auto applied = apply_override(*d, change, option); !applied)
      return tl::unexpected(std::move(applied).error());
  if (d->overridden.contains("experiment.name"))
    return fail_in(option + "experiment.name",
                   {error_kind::invalid_input, words.of_name});
  if (d->overridden.contains("search_space.file"))
    return fail_in(option + "search_space.file",
                   {error_kind::invalid_input,
                    "a fork keeps its origin's space, whose keys can be changed one by "
                    "one"});
  auto changed = read_experiment(
      *d, {}, [&](table_reader& t, const experiment&) { return read_own_space(t, *d); },
      written_by::clade);
  if (!changed)
    return changed;
  if (unchangeable(*changed, origin) != to_toml(origin))
    return fail(error_kind::invalid_input,
                "the data and the kind of fitness cannot be changed in a fork: what has "
                "been evaluated was evaluated by them");
  if (name.starts_with('-'))
    return fail_in("--as " + name,
                   {error_kind::invalid_input, "a run's name must not begin with '-'"});
  changed->name = name;
  if (changed->seed != origin.seed && !changed->data.seed)
    changed->data.seed = origin.seed;
  // Whatever came by another way than the command line, such as the name, is read too.
  return parse_resolved(to_toml(*changed), option + "or --as");
}

genome_hash search_hash(const experiment& e, genome_hash data_checksum) {
  experiment decisive = e;
  decisive.name.clear();
  decisive.space.name.clear();
  auto evaluator = e.evaluator->clone();
  evaluator->forget_places();
  decisive.evaluator = std::move(evaluator);
  for (auto* path :
       {&decisive.data.file, &decisive.data.target_file, &decisive.data.test_file,
        &decisive.data.test_target_file, &decisive.data.image_folder})
    path->clear();
  decisive.limits.wall_time = {};
  decisive.slots = {};
  decisive.training.distribution.collectives = {};
  return hash128(fmt::format("{}data = {}", write(decisive, toml_writer::for_hashes()),
                             to_text(data_checksum)));
}

} // namespace clade
