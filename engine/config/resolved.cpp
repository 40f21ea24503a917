// The resolved document holds every key of every section in the order of the structs,
// with absolute paths, and the whole search space under [search_space], beside its name
// under "file". It is written here by hand, so that it reads like an experiment file; the
// space's own document is nested by toml++. Numbers are written such that they parse to
// the same.

#include "engine/config/experiment.hpp"
#include "engine/config/sections.hpp"
#include "engine/config/units.hpp"
#include "genome/hash.hpp"

#include <array>
#include <charconv>
#include <sstream>

namespace clade {
namespace {

class toml_writer {
public:
  toml_writer& section(std::string_view name) {
    text_ += (text_.empty() ? "[" : "\n[") + std::string(name) + "]\n";
    return *this;
  }
  toml_writer& key(std::string_view name, std::string_view v) {
    return raw(name, quoted(v));
  }
  toml_writer& key(std::string_view name, const std::string& v) {
    return raw(name, quoted(v));
  }
  toml_writer& key(std::string_view name, const char* v) { return raw(name, quoted(v)); }
  toml_writer& key(std::string_view name, std::uint64_t v) {
    return raw(name, std::to_string(v));
  }
  toml_writer& key(std::string_view name, std::uint32_t v) {
    return raw(name, std::to_string(v));
  }
  toml_writer& key(std::string_view name, std::int64_t v) {
    return raw(name, std::to_string(v));
  }
  toml_writer& key(std::string_view name, double v) { return raw(name, number(v)); }
  toml_writer& key(std::string_view name, std::chrono::microseconds v) {
    return raw(name, quoted(duration_literal(v)));
  }
  toml_writer& path(std::string_view name, const std::filesystem::path& v) {
    return v.empty() ? *this : raw(name, quoted(v.string()));
  }
  /// Only where there is something to say.
  toml_writer& set(std::string_view name, const std::string& v) {
    return v.empty() ? *this : key(name, v);
  }
  toml_writer& list(std::string_view name, const std::vector<std::string>& v) {
    std::string items;
    for (const std::string& item : v)
      items += (items.empty() ? "" : ", ") + quoted(item);
    return raw(name, "[" + items + "]");
  }
  toml_writer& raw(std::string_view name, const std::string& v) {
    text_ += std::string(name) + " = " + v + "\n";
    return *this;
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

void write_data(toml_writer& out, const experiment& e) {
  out.section("data");
  if (e.fitness == fitness_kind::synthetic) {
    out.raw("shape", to_text(e.synthetic_problem.input))
        .key("classes", e.synthetic_problem.outputs);
    return;
  }
  const data_params& p = e.data;
  out.path("file", p.file)
      .path("target_file", p.target_file)
      .path("test_file", p.test_file)
      .path("test_target_file", p.test_target_file)
      .set("array", p.array)
      .set("target_array", p.target_array)
      .set("test_array", p.test_array)
      .set("test_target_array", p.test_target_array)
      .key("target", p.target)
      .key("header", p.header)
      .key("task", p.task == task_kind::classification ? "classification" : "regression")
      .key("blanks", p.blanks == blank_rule::refuse ? "refuse"
                     : p.blanks == blank_rule::mean ? "mean"
                                                    : "drop")
      .list("categories", p.categories)
      .raw("shape", to_text(p.shape))
      .raw("split", "{train = " + toml_writer::number(p.train)
                        + ", validation = " + toml_writer::number(p.validation)
                        + ", test = " + toml_writer::number(p.test) + "}")
      .key("limit", p.limit);
}

void write_evolution(toml_writer& out, const evolution_params& p) {
  out.section("evolution")
      .key("strategy", p.strategy)
      .key("population", p.population)
      .key("generations", p.generations)
      .key("selection", p.selection)
      .key("tournament", p.tournament)
      .key("truncation", p.truncation)
      .key("elites", p.elites)
      .key("crossover", p.crossover)
      .key("tell_order", p.tell_order)
      .key("in_flight", p.in_flight);
  const mutation_params& m = p.mutation;
  out.section("evolution.mutation")
      .key("add_node", m.add_node)
      .key("add_edge", m.add_edge)
      .key("remove_node", m.remove_node)
      .key("remove_edge", m.remove_edge)
      .key("change_operator", m.change_operator)
      .key("widen", m.widen)
      .key("narrow", m.narrow)
      .key("change_setting", m.change_setting)
      .key("change_hyperparameter", m.change_hyperparameter)
      .key("again", m.again);
}

void write_fitness(toml_writer& out, const experiment& e) {
  const training_params& t = e.training;
  out.section("training")
      .key("epochs", t.epochs)
      .key("patience", t.patience)
      .key("optimiser", t.optimiser)
      .key("schedule", t.schedule)
      .key("learning_rate", t.learning_rate)
      .key("momentum", t.momentum)
      .key("weight_decay", t.weight_decay)
      .key("batch_size", t.batch_size);
  const synthetic_params& s = e.synthetic;
  if (e.fitness == fitness_kind::synthetic)
    out.section("synthetic")
        .key("duration", s.duration)
        .key("diverge", s.diverge)
        .key("crash", s.crash)
        .key("hang", s.hang)
        .key("hog", s.hog)
        .key("epochs", s.epochs);
}

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

search_space read_nested(table_reader& t, document& d) {
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

} // namespace

std::string to_toml(const experiment& e) {
  toml_writer out;
  out.section("experiment")
      .key("name", e.name)
      .key("seed", e.seed)
      .key("fitness", e.fitness == fitness_kind::training ? "training" : "synthetic");
  write_data(out, e);
  out.section("objective")
      .raw(e.objective.maximize ? "maximize" : "minimize",
           "[" + toml_writer::quoted(e.objective.metric) + "]");
  write_evolution(out, e.evolution);
  write_fitness(out, e);
  out.section("limits")
      .key("evaluation_time", e.limits.evaluation_time)
      .key("evaluation_memory", size_literal(e.limits.evaluation_memory))
      .key("wall_time", e.limits.wall_time);
  out.section("slots").key("local", e.slots.local);
  return out.take() + "\n" + nested(e.space);
}

expected<experiment> parse_resolved(std::string_view text, std::string_view origin) {
  auto d = parse_document(text, origin);
  if (!d)
    return tl::unexpected(std::move(d).error());
  return read_experiment(*d, {}, [&](table_reader& t) { return read_nested(t, *d); });
}

genome_hash search_hash(const experiment& e, genome_hash data_checksum) {
  experiment decisive = e;
  decisive.name.clear();
  decisive.space.name.clear();
  for (auto* path : {&decisive.data.file, &decisive.data.target_file,
                     &decisive.data.test_file, &decisive.data.test_target_file})
    path->clear();
  decisive.limits.wall_time = {};
  decisive.slots = {};
  return hash128(to_toml(decisive) + "data = " + to_text(data_checksum));
}

} // namespace clade
