// The reference is made by a visitor of keys.hpp from default parameters, so it lists
// what is read, with the defaults that are used. The few keys that are read by hand
// (objective.cpp, sections.cpp) stand here; a test holds all of it to what the reader
// knows.

#include "engine/config/experiment/reference.hpp"

#include "engine/config/experiment/toml_writer.hpp"
#include "engine/search/strategies/registry/automatic.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

namespace clade {
namespace {

constexpr std::size_t widest_line = 100;

/// `text` in lines of at most `widest_line` characters, all but the first after `indent`.
std::string wrapped(const std::string& text, const std::string& indent) {
  std::string out, line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!line.empty() && line.size() + 1 + word.size() > widest_line) {
      out += line + "\n";
      line = indent + word;
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
    at = end + 1;
  }
  return fmt::format("{}{}\n", out, line);
}

/// Visits the keys of a section and notes each with its type and default.
class key_collector {
public:
  [[nodiscard]] std::vector<reference_key> take() { return std::move(keys_); }

  void key(described_key k, const std::string& v) { note(k, "text", v); }
  void key(described_key k, std::integral auto v) { note(k, "whole number", v); }
  void key(described_key k, bool v) { note(k, "true or false", v); }
  void key(described_key k, double v) { note(k, "number", v); }
  void key(described_key k, std::chrono::microseconds v) { note(k, "time", v); }
  void key(described_key k, const std::vector<double>& v) {
    toml_writer out;
    out.key("", v);
    note_literal(k, "list of numbers", out.last_value());
  }
  void key(described_key k, const tensor_shape& v) {
    keys_.push_back({std::string(k.name), "list of whole numbers",
                     v.sizes.empty() ? "" : to_text(v), std::string(k.sentence)});
  }
  void flag(described_key k, bool v) { key(k, v); }
  void set(described_key k, const std::optional<std::uint64_t>&) {
    without_default(k, "whole number");
  }
  void set(described_key k, const std::string&) { without_default(k, "text"); }
  void unusual(described_key k, const auto& v, const auto&) { key(k, v); }
  void unusual_list(described_key k, const auto& v, const auto&) { list(k, v); }
  void strategy(described_key k, const std::string& v) { key(k, v); }
  void unusual_strategies(described_key k, const auto& v, const auto&) { list(k, v); }
  void path(described_key k, const std::filesystem::path&) { without_default(k, "path"); }
  void folder(described_key k, const std::filesystem::path&) {
    without_default(k, "path");
  }
  void kind(std::string_view name, const shared_evaluator_spec& usual);
  void size(described_key k, std::uint64_t v) {
    toml_writer out;
    out.size("", v);
    note_literal(k, "size", out.last_value());
  }
  void column(described_key k, const std::string& v) {
    note(k, "column's name or number", v);
  }
  void devices(described_key k, const std::string& v) {
    note(k, "text or list of texts", v);
  }
  void numbers(described_key k, const std::vector<std::uint32_t>&) {
    without_default(k, "list of whole numbers");
  }
  void texts(described_key k, const std::vector<named_text>&) {
    without_default(k, "table of texts");
  }
  void table(described_key k, bool, const auto& inner) {
    toml_writer out;
    out.table("", true, inner);
    note_literal(k, "table", out.last_value());
  }
  void list(described_key k, const std::vector<std::string>& v) {
    toml_writer out;
    out.list("", v);
    note_literal(k, "list of texts", out.last_value());
  }
  void lists(described_key k, const std::map<std::string, std::vector<std::string>>&) {
    without_default(k, "table of lists of texts");
  }
  template<class Enum, std::size_t count>
  void choice(described_key k, Enum v, const words<Enum, count>& known) {
    const std::string all =
        joined(known, ", ", [&](const auto& w) { return toml_writer::quoted(w.first); });
    toml_writer out;
    out.choice("", v, known);
    note_literal(k, "one of " + all, out.last_value());
  }
  template<class Enum, std::size_t count>
  void unusual_choice(described_key k, Enum v, Enum, const words<Enum, count>& known) {
    choice(k, v, known);
  }
  void slots_of_training(described_key k, const distribution_params& params) {
    note(k, "whole number, \"fit\", or table of whole numbers", params.devices);
  }
  void collectives(described_key k, const collectives_params& params) {
    keys_.push_back({std::string(k.name), "table of texts",
                     fmt::format("{{backend = {}}}", toml_writer::quoted(params.backend)),
                     std::string(k.sentence)});
  }
  void split(described_key k, const data_params& params) {
    toml_writer out;
    out.split("", params);
    note_literal(k, "table", out.last_value());
  }
  void columns(described_key k, const std::vector<column_choice>&) {
    without_default(k, "table of texts");
  }
  void weights(described_key k, const class_weights&) {
    keys_.push_back({std::string(k.name), "\"none\", \"balanced\" or table of numbers",
                     "\"none\"", std::string(k.sentence)});
  }

private:
  void without_default(described_key k, const char* type) {
    keys_.push_back({std::string(k.name), type, "", std::string(k.sentence)});
  }
  void note(described_key k, const char* type, const auto& v) {
    toml_writer out;
    out.key("", v);
    note_literal(k, type, out.last_value());
  }
  void note_literal(described_key k, std::string type, const std::string& value) {
    const bool empty = value == "\"\"" || value == "[]";
    keys_.push_back({std::string(k.name), std::move(type), empty ? "" : value,
                     std::string(k.sentence)});
  }

  std::vector<reference_key> keys_;
};

// The sentence is what the kinds say of themselves.
void key_collector::kind(std::string_view name, const shared_evaluator_spec& usual) {
  std::string names, sentence;
  for (const auto& kind : evaluator_kinds()) {
    const auto& traits = kind->traits();
    const auto word = toml_writer::quoted(traits.name);
    names += (names.empty() ? "" : ", ") + word;
    sentence += fmt::format("{}{} {}", sentence.empty() ? "" : "; ", word, traits.does);
  }
  keys_.push_back({std::string(name), "one of " + names,
                   toml_writer::quoted(usual->traits().name), sentence + "."});
}

std::vector<reference_key> keys_of_part(const auto& params) {
  key_collector collector;
  keys(collector, params);
  return collector.take();
}

reference_section part(std::string name, std::string sentence, const auto& params) {
  return {std::move(name), std::move(sentence), keys_of_part(params)};
}

reference_section data_section() {
  auto section = part("data",
                      "The examples to learn from. A synthetic experiment has only "
                      "`shape` and `classes` here, as may one that runs a command, for "
                      "the networks that it gives to programs; one on a table has no "
                      "such section.",
                      data_params{});
  section.keys.insert(section.keys.begin(),
                      {"folder", "path", "",
                       "Where the files below are, if they are not beside the "
                       "experiment file."});
  for (auto& key : keys_of_part(experiment{}.synthetic_problem))
    if (key.name == "classes")
      section.keys.push_back(std::move(key));
  return section;
}

reference_section objective_section() {
  return {"objective",
          "What makes a network good. Left out: the accuracy of a classification, the "
          "squared error of a regression (`clade help metrics` lists all metrics).",
          {{"maximize", "text or list of texts", "",
            "The metrics to raise, such as [\"validation.accuracy\"]."},
           {"minimize", "text or list of texts", "",
            "The metrics to lower, such as [\"parameters\"]. Several metrics give a "
            "Pareto front; the champion is the best of it in the first."},
           {"at_most", "table of numbers", "",
            "Constraints, such as {parameters = 50_000}. A candidate that meets them "
            "ranks above one that does not."},
           {"at_least", "table of numbers", "",
            "Constraints, such as {\"validation.accuracy\" = 0.9}."}}};
}

reference_section evolution_section() {
  evolution_params usual;
  usual.strategy = automatic_strategy;
  return part("evolution", "How the search goes, and how long it is.", usual);
}

constexpr const char* introduction =
    "# Experiment files\n"
    "\n"
    "An experiment file says what to search and on which data. It is TOML: texts stand "
    "in quotes,\nkeys in sections. Only `[data] file` must be given; every other key has "
    "a "
    "default. A key that\nClade does not know is an error with its line. `clade new "
    "DATA` "
    "writes such a file for your data.\n"
    "\n"
    "- A relative path starts at the experiment file's folder.\n"
    "- A time has a unit: \"250ms\", \"90s\", \"2min\", \"1h30min\". So has a size: "
    "\"512MiB\", \"2GiB\".\n"
    "- `--set evolution.population=48` on the command line replaces a key of the file.\n"
    "- `clade plan FILE` checks a file and says what the search will cost, without "
    "starting it.\n"
    "\n"
    "This page is what `clade help experiment` prints. After each key: its type and its "
    "default.\n";

} // namespace

std::vector<reference_section> experiment_reference() {
  std::vector<reference_section> all{
      part("experiment", "What the run is called, and what scores its candidates.",
           experiment{}),
      data_section(),
      {"search_space",
       "What networks are made of: layers, their settings and hyperparameters.",
       {{"file", "path", "",
         "\"tabular\" and \"mlp\" (for tables), \"residual\", \"photo\" (images of 48 "
         "pixels and more), \"mobile\" and \"image\" (for images) and \"series\" (for "
         "sequences) are built in; or a file of your own (`clade help search-spaces`). "
         "Left out: \"tabular\", \"residual\" or \"series\", as fits the data."},
        {"seeds", "text", "\"space\"",
         "\"none\" leaves out the networks that the space names as first candidates. "
         "Those that the limits forbid for the data are always left out."}}},
      objective_section(),
      evolution_section(),
      part("evolution.mutation",
           "How children differ from their parents: rates, relative to each other.",
           mutation_params{}),
      part("training",
           "How each candidate is trained. Hyperparameters that the search space names "
           "are searched instead.",
           training_params{})};
  for (const auto& kind : evaluator_kinds()) {
    const auto& traits = kind->traits();
    if (traits.title.empty())
      continue;
    key_collector collector;
    visit_copy(collector, *kind);
    all.push_back(
        {std::string(traits.name), std::string(traits.title), collector.take()});
  }
  all.push_back(
      part("limits", "What a candidate and the run may take.", limits_params{}));
  all.push_back(part("final",
                     "What is made of the search at its end, and measured on the test "
                     "part.",
                     final_params{}));
  all.push_back(part("slots",
                     "Which devices train. A slot trains one candidate at a time.",
                     slots_params{}));
  return all;
}

std::string reference_item(const std::string& name, const std::string& remark,
                           const std::string& sentence) {
  return wrapped(fmt::format("- `{}`{}{}", name,
                             remark.empty() ? "" : fmt::format(" ({})", remark),
                             sentence.empty() ? "" : ": " + sentence),
                 "  ");
}

std::string experiment_reference_text() {
  std::string out = introduction;
  for (const auto& section : experiment_reference()) {
    out += fmt::format("\n## [{}]\n\n{}\n", section.name, wrapped(section.sentence, ""));
    for (const auto& key : section.keys)
      out += reference_item(
          key.name, key.type + (key.usual.empty() ? "" : ", default " + key.usual),
          key.sentence);
  }
  return out;
}

} // namespace clade
