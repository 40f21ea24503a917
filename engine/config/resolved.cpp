// The resolved document holds every key of every section in the order of keys.hpp, with
// absolute paths, and the whole search space under [search_space], beside its name under
// "file". It is written here by hand, so that it reads like an experiment file; the
// space's own document is nested by toml++. Numbers are written such that they parse to
// the same.

#include "engine/config/keys.hpp"
#include "engine/config/sections.hpp"
#include "engine/config/units.hpp"
#include "genome/hash.hpp"

#include <array>
#include <charconv>
#include <concepts>
#include <sstream>

namespace clade {
namespace {

// Visits the keys of a section (keys.hpp).
class toml_writer {
public:
  void section(std::string_view name) {
    text_ += (text_.empty() ? "[" : "\n[") + std::string(name) + "]\n";
  }
  void section(std::string_view name, const auto& params) {
    section(name);
    keys(*this, params);
  }

  void key(std::string_view name, const std::string& v) { raw(name, quoted(v)); }
  void key(std::string_view name, std::integral auto v) { raw(name, std::to_string(v)); }
  void key(std::string_view name, bool v) { raw(name, v ? "true" : "false"); }
  void key(std::string_view name, double v) { raw(name, number(v)); }
  void key(std::string_view name, std::chrono::microseconds v) {
    raw(name, quoted(duration_literal(v)));
  }
  void key(std::string_view name, const tensor_shape& v) { raw(name, to_text(v)); }
  /// Where it is true, so that what was resolved before there was such a key is the same.
  void flag(std::string_view name, bool v) {
    if (v)
      raw(name, "true");
  }
  void set(std::string_view name, const std::optional<std::uint64_t>& v) {
    if (v)
      key(name, *v);
  }
  void set(std::string_view name, const std::string& v) {
    if (!v.empty())
      key(name, v);
  }
  void unusual(std::string_view name, const auto& v, const auto& usual) {
    if (v != usual)
      key(name, v);
  }
  void unusual_list(std::string_view name, const auto& v, const auto& usual) {
    if (v != usual)
      list(name, v);
  }
  void path(std::string_view name, const std::filesystem::path& v) {
    set(name, v.string());
  }
  void size(std::string_view name, std::uint64_t v) { key(name, size_literal(v)); }
  void column(std::string_view name, const std::string& v) { key(name, v); }
  void devices(std::string_view name, const std::string& v) { key(name, v); }
  void numbers(std::string_view name, const std::vector<std::uint32_t>& v) {
    std::string items;
    for (const auto n : v)
      items += (items.empty() ? "" : ", ") + std::to_string(n);
    if (!v.empty())
      raw(name, "[" + items + "]");
  }
  void list(std::string_view name, const std::vector<std::string>& v) {
    std::string items;
    for (const std::string& item : v)
      items += (items.empty() ? "" : ", ") + quoted(item);
    raw(name, "[" + items + "]");
  }
  template<class Enum, std::size_t count>
  void choice(std::string_view name, Enum v, const words<Enum, count>& known) {
    for (const auto& [word, meaning] : known)
      if (meaning == v)
        key(name, std::string(word));
  }
  void shares(std::string_view name, const auto& parts) {
    std::string items;
    for (const auto& [part, share] : parts)
      items += (items.empty() ? "" : ", ") + std::string(part) + " = " + number(*share);
    raw(name, "{" + items + "}");
  }
  void raw(std::string_view name, const std::string& v) {
    text_ += std::string(name) + " = " + v + "\n";
  }

  static std::string number(double v) {
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), v).ptr;
    std::string text(digits.data(), end);
    // TOML takes a number without point or exponent for a whole one.
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  }

  static std::string quoted(std::string_view v) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    std::string out = "\"";
    for (const char c : v) {
      const auto u = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\')
        (out += '\\') += c;
      else if (u < 0x20 || u == 0x7F)
        ((out += "\\u00") += hex[u >> 4]) += hex[u & 15];
      else
        out += c;
    }
    return out + "\"";
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

private:
  std::string text_;
};

// What `to_toml(search_space)` wrote, as a table of the experiment's document.
std::string nested(const search_space& space) {
  toml::table inner = toml::parse(to_toml(space));
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
      items += (items.empty() ? "" : ", ") + toml_writer::quoted(c.metric) + " = "
               + toml_writer::number(c.limit);
  if (!items.empty())
    out.raw(key, "{" + items + "}");
}

// What is not there is not written, so that one metric alone looks as it always did.
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

std::string to_toml(const experiment& e) {
  toml_writer out;
  const bool synthetic = e.fitness == fitness_kind::synthetic;
  out.section("experiment", e);
  if (synthetic)
    out.section("data", e.synthetic_problem);
  else if (e.fitness == fitness_kind::training)
    out.section("data", e.data);
  write_objective(out, e.objective);
  out.section("evolution", e.evolution);
  out.section("evolution.mutation", e.evolution.mutation);
  out.section("training", e.training);
  if (synthetic)
    out.section("synthetic", e.synthetic);
  if (e.fitness == fitness_kind::table)
    out.section("table", e.table);
  out.section("limits", e.limits);
  out.section("slots", e.slots);
  return out.take() + "\n" + nested(e.space);
}

expected<experiment> parse_resolved(std::string_view text, std::string_view origin) {
  auto d = parse_document(text, origin);
  if (!d)
    return tl::unexpected(std::move(d).error());
  return read_experiment(*d, {}, [&](table_reader& t) { return read_own_space(t, *d); });
}

namespace {

/// As it would be if nothing but what a fork may not change were changed.
std::string unchangeable(const experiment& e, const experiment& origin) {
  experiment kept = origin;
  kept.fitness = e.fitness;
  kept.data = e.data;
  kept.table = e.table;
  kept.synthetic_problem = e.synthetic_problem;
  return to_toml(kept);
}

} // namespace

expected<experiment> change_resolved(const experiment& origin, const std::string& name,
                                     std::span<const std::string> changes) {
  const std::string option = "--change ";
  auto d = parse_document(to_toml(origin), "the origin's experiment");
  if (!d)
    return tl::unexpected(std::move(d).error());
  for (const auto& change : changes)
    if (auto applied = apply_override(*d, change, option); !applied)
      return tl::unexpected(std::move(applied).error());
  if (d->overridden.contains("experiment.name"))
    return fail_in(option + "experiment.name",
                   {error_kind::invalid_input, "a fork is named by --as"});
  if (d->overridden.contains("search_space.file"))
    return fail_in(option + "search_space.file",
                   {error_kind::invalid_input,
                    "a fork keeps its origin's space, whose keys can be changed one by "
                    "one"});
  auto changed =
      read_experiment(*d, {}, [&](table_reader& t) { return read_own_space(t, *d); });
  if (!changed)
    return changed;
  if (unchangeable(*changed, origin) != to_toml(origin))
    return fail(error_kind::invalid_input,
                "the data and the kind of fitness cannot be changed in a fork: what has "
                "been evaluated was evaluated by them");
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
  for (auto* path :
       {&decisive.table.file, &decisive.data.file, &decisive.data.target_file,
        &decisive.data.test_file, &decisive.data.test_target_file})
    path->clear();
  decisive.limits.wall_time = {};
  decisive.slots = {};
  return hash128(to_toml(decisive) + "data = " + to_text(data_checksum));
}

} // namespace clade
