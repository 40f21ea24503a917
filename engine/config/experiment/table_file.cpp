// A table's description:
//
//   include = "spaces/x.toml"           another description, which this one adds to; what
//                                       both say counts as it stands here
//   folder = "../../../shared/data"     where the files are, from the folder of the file
//                                       that says so; CLADE_BENCHMARKS takes its place
//   files = ["x.csv.gz"]                row i of each file is about the same setting
//   lookup = "exact"                    or "nearest"
//   fidelities = [12, 200]              epochs, rising; or {first = 1, last = 51}; [1]
//   separate = true                     each fidelity is a training from the beginning;
//                                       else one goes on where the one below stopped
//   seeds = [0, 1, 2]                   what {seed} stands for
//   cost = "time_s{seed}"               seconds of the greatest fidelity; others cost
//                                       their share. It becomes the metric "seconds"
//   truth = "test.accuracy"             what a search is judged by in the end; the
//                                       objective's of "test." where there is one, else
//                                       the objective
//   [key]
//   column = "arch"                     a column of digits, each an index into the list
//   digits = ["edge_0_1", "edge_0_2"]   of these parameters; else each parameter has a
//   columns = {edge_0_1 = "e01"}        column of its name, or of this one
//   [hyperparameters]                   the table's parameters, as in search-space files
//   [objective]                         maximize or minimize = "validation.accuracy"
//   [metrics]                           the columns of each: one text, or a list of one
//   validation.accuracy = ["acc12", "acc200_s{seed}"]         for each fidelity
//
// In a column's name {seed} is each of the seeds in turn, {fidelity} the epochs, {index}
// the number of the fidelity from 0.
#include "engine/config/experiment/table_file.hpp"

#include "engine/config/file/merged_document.hpp"
#include "engine/config/file/table_reader.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/evaluation/table/table_fitness.hpp"
#include "genome/base/text.hpp"
#include "genome/genes/hash.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/files/space_draft.hpp"
#include "search_spaces/operators/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace clade {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_fidelities = 100'000;
// The number of columns of all metrics, a column counted wherever it is named.
constexpr std::size_t max_columns = 1'000'000;

/// The text with each `name` in it replaced.
std::string filled(std::string text, std::string_view name, const std::string& by) {
  for (std::size_t at = text.find(name); at != std::string::npos;
       at = text.find(name, at + by.size()))
    text.replace(at, name.size(), by);
  return text;
}

/// Reads the merged document of a description.
class description_reader {
public:
  description_reader(document& d, const fs::path& file) : document_(d), root_(d) {
    result_.name = file.string();
  }

  expected<table_description> read();

private:
  void read_files();
  void read_fidelities();
  void read_rising_list(const std::vector<std::string>& texts);
  void read_parameters(const toml::table* table);
  void read_key(table_reader key);
  void check_digits(table_reader& key, const std::vector<std::string>& names);
  void read_metrics(const toml::table* metrics, const std::string& path);
  void read_metric(const std::string& name, const toml::node& node);
  void add_metric(std::string name, std::vector<std::string> patterns, std::string place);
  void read_cost();
  void read_goal(table_reader goal);
  const toml::table* table_at(std::string_view key);
  [[nodiscard]] bool has_metric(const std::string& name) const;
  void fail(const std::string& place, std::string message);

  document& document_;
  table_reader root_;
  table_description result_;
  std::vector<std::string> seeds_;
  std::string cost_;
  std::size_t columns_ = 0;
};

void description_reader::fail(const std::string& place, std::string message) {
  if (!document_.wrong)
    document_.wrong = error{error_kind::invalid_input,
                            fmt::format("{}: {}", place, std::move(message))};
}

const toml::table* description_reader::table_at(std::string_view key) {
  // Asked for, so that it is known; what stands in it is read elsewhere.
  static_cast<void>(root_.table(key));
  return document_.root[key].as_table();
}

/// The folder is that of the file in which it stands, which may be an included one.
void description_reader::read_files() {
  std::vector<std::string> names;
  std::string folder = ".";
  root_.read("folder", folder);
  root_.read_list("files", names);
  result_.files_place = root_.place("files");
  if (names.empty())
    return root_.fail("files", "files is missing: it says what holds the table, files = "
                               "[\"x.csv.gz\"]");
  const toml::node* says = document_.root.get("folder");
  const fs::path file = says != nullptr && says->source().path
                            ? fs::path(*says->source().path)
                            : fs::path(result_.name);
  fs::path home = file.parent_path() / folder;
  const char* elsewhere = std::getenv("CLADE_BENCHMARKS");
  const bool moved = elsewhere != nullptr && *elsewhere != '\0';
  if (moved)
    home = elsewhere;
  result_.advice = (moved ? ", where CLADE_BENCHMARKS says; let it name the folder that "
                            "holds "
                          : "; set CLADE_BENCHMARKS to the folder that holds ")
                   + names.front();
  for (const auto& name : names)
    result_.files.push_back(fs::absolute(home / name).lexically_normal());
}

void description_reader::read_rising_list(const std::vector<std::string>& texts) {
  for (const auto& text : texts) {
    const auto n = parse_number<std::uint32_t>(text).value_or(0);
    if (n == 0)
      return root_.fail(
          "fidelities",
          fmt::format(
              "fidelities has {}, which is no number of epochs from 1 to 4294967295",
              in_quotes(text)));
    if (!result_.fidelities.empty() && n <= result_.fidelities.back())
      return root_.fail("fidelities",
                        fmt::format("fidelities must rise, but {} follows {}", n,
                                    result_.fidelities.back()));
    result_.fidelities.push_back(n);
  }
}

void description_reader::read_fidelities() {
  const auto at = document_.root["fidelities"];
  if (at.is_table()) {
    auto range = root_.table("fidelities");
    std::uint32_t first = 1, last = 0;
    range.read("first", first);
    range.read("last", last);
    range.finish();
    if (first == 0 || last < first || last - first >= max_fidelities)
      return range.fail("last", "fidelities must go from first, at least 1, up to last, "
                                "at most 100,000 of them");
    for (std::uint32_t n = 0; n <= last - first; ++n)
      result_.fidelities.push_back(first + n);
    return;
  }
  std::vector<std::string> texts{"1"};
  root_.read_list("fidelities", texts);
  if (texts.empty())
    root_.fail("fidelities",
               "fidelities is empty; leave it out where there is one alone");
  read_rising_list(texts);
}

void description_reader::read_parameters(const toml::table* table) {
  if (table == nullptr || table->empty())
    return root_.fail("hyperparameters",
                      "[hyperparameters] is missing: it says what a setting is made of");
  complaints wrong(result_.name);
  space_draft draft;
  draft.limits.insert_or_assign("max_nodes", located<std::int64_t>{0, result_.name});
  read_hyperparameters(*table, draft, wrong);
  if (wrong.first()) {
    if (!document_.wrong)
      document_.wrong = wrong.first();
    return;
  }
  auto space = assemble(draft, result_.name);
  if (!space) {
    if (!document_.wrong)
      document_.wrong = space.error();
    return;
  }
  result_.space = std::move(*space);
  for (const parameter& p : result_.space.rules.hyperparameters) {
    result_.columns.push_back(p.name);
    const auto& place = draft.hyperparameters.find(p.name)->second.place;
    result_.places.push_back(place);
    if (p.when && result_.lookup == table_lookup::nearest)
      fail(place, p.name
                      + " has a condition, and lookup = \"nearest\" knows no distance "
                        "to what does not apply; use \"exact\"");
  }
}

void description_reader::check_digits(table_reader& key,
                                      const std::vector<std::string>& names) {
  const auto& parameters = result_.space.rules.hyperparameters;
  for (const auto& name : names) {
    const auto found = std::ranges::find(parameters, name, &parameter::name);
    const auto n = static_cast<std::size_t>(found - parameters.begin());
    if (found == parameters.end())
      return key.fail("digits",
                      fmt::format("digits names {}, which is none of [hyperparameters]",
                                  in_quotes(name)));
    if (!std::holds_alternative<choice_domain>(found->domain))
      return key.fail(
          "digits",
          fmt::format("digits names {}, which is no list that a digit could index",
                      name));
    if (std::ranges::find(result_.digits, n) != result_.digits.end())
      return key.fail("digits", fmt::format("digits names {} twice", name));
    result_.digits.push_back(n);
  }
  if (result_.digits.size() != parameters.size())
    key.fail("digits",
             fmt::format("digits names {} of the {} hyperparameters; each has a digit",
                         result_.digits.size(), parameters.size()));
}

void description_reader::read_key(table_reader key) {
  std::vector<std::string> digits;
  key.read("column", result_.digits_column);
  key.read_list("digits", digits);
  auto columns = key.table("columns");
  key.finish();
  const auto& parameters = result_.space.rules.hyperparameters;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (columns.has(parameters[p].name))
      result_.places[p] = columns.place(parameters[p].name);
    columns.read(parameters[p].name, result_.columns[p]);
  }
  columns.finish();
  result_.digits_place = key.place("column");
  if (!result_.digits_column.empty())
    check_digits(key, digits);
  else if (key.has("digits"))
    key.fail("digits", "digits needs a column of them: column = \"config\"");
}

void description_reader::add_metric(std::string name, std::vector<std::string> patterns,
                                    std::string place) {
  const std::size_t count = result_.fidelities.size();
  if (patterns.size() == 1)
    patterns.resize(count, patterns.front());
  if (patterns.size() != count)
    return fail(place, fmt::format("metrics.{} names columns for {} fidelities of {}",
                                   name, patterns.size(), count));
  columns_ += count * std::max<std::size_t>(seeds_.size(), 1);
  if (columns_ > max_columns)
    return fail(
        place,
        fmt::format(
            "metrics.{}: metrics, fidelities and seeds make more than 1,000,000 columns",
            name));
  table_metric m{.name = std::move(name), .columns = {}, .place = std::move(place)};
  for (std::size_t f = 0; f < count; ++f) {
    auto pattern =
        filled(patterns[f], "{fidelity}", std::to_string(result_.fidelities[f]));
    pattern = filled(std::move(pattern), "{index}", std::to_string(f));
    auto& columns = m.columns.emplace_back();
    if (pattern.find("{seed}") == std::string::npos)
      columns.push_back(std::move(pattern));
    else if (seeds_.empty())
      return fail(
          m.place,
          fmt::format("metrics.{} speaks of {{seed}}, but there are none: seeds = [0, 1]",
                      m.name));
    else
      for (const auto& seed : seeds_)
        columns.push_back(filled(pattern, "{seed}", seed));
  }
  result_.metrics.push_back(std::move(m));
}

void description_reader::read_metric(const std::string& name, const toml::node& node) {
  const auto place = document_.place("metrics." + name, &node);
  std::vector<std::string> patterns;
  if (const auto one = node.value_exact<std::string>())
    patterns.push_back(*one);
  else if (const auto* list = node.as_array())
    for (const toml::node& item : *list)
      patterns.push_back(item.value_exact<std::string>().value_or(""));
  if (patterns.empty() || std::ranges::find(patterns, "") != patterns.end())
    return fail(
        place,
        fmt::format(
            "metrics.{} must be a column's name, or a list of one for each fidelity",
            name));
  const bool plain =
      !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
               || c == '_' || c == '.';
      });
  if (!plain)
    return fail(
        place,
        fmt::format(
            "metrics: {} is no name; use up to 64 letters, digits, \"_\" and \".\"",
            in_quotes(name)));
  if (has_metric(name))
    return fail(place, fmt::format("metrics.{} is there twice", name));
  add_metric(name, std::move(patterns), place);
}

void description_reader::read_metrics(const toml::table* metrics,
                                      const std::string& path) {
  if (metrics == nullptr)
    return;
  for (const auto& [key, node] : *metrics) {
    const auto name = path + std::string(key.str());
    if (node.is_table())
      read_metrics(node.as_table(), name + ".");
    else
      read_metric(name, node);
  }
}

void description_reader::read_cost() {
  if (cost_.empty())
    return;
  if (has_metric("seconds"))
    return root_.fail("cost", "cost becomes the metric \"seconds\", which [metrics] has "
                              "too; remove one");
  const bool each = cost_.find("{fidelity}") != std::string::npos
                    || cost_.find("{index}") != std::string::npos;
  const auto before = result_.metrics.size();
  add_metric("seconds", {cost_}, root_.place("cost"));
  if (result_.metrics.size() > before)
    result_.metrics.back().in_proportion = !each;
}

bool description_reader::has_metric(const std::string& name) const {
  return std::ranges::find(result_.metrics, name, &table_metric::name)
         != result_.metrics.end();
}

void description_reader::read_goal(table_reader goal) {
  std::string raised, lowered;
  goal.read("maximize", raised);
  goal.read("minimize", lowered);
  goal.finish();
  if (raised.empty() == lowered.empty())
    return goal.fail("maximize", "[objective] names one metric: maximize = "
                                 "\"validation.accuracy\" or minimize = ...");
  result_.objective = {.metric = raised.empty() ? lowered : raised,
                       .maximize = !raised.empty()};
  const std::string key = raised.empty() ? "minimize" : "maximize";
  const auto& name = result_.objective.metric;
  if (!has_metric(name) || name.starts_with("test."))
    return goal.fail(key,
                     fmt::format("objective.{}: {}{}", key, in_quotes(name),
                                 has_metric(name)
                                     ? " is kept for the end; a search sees none of test"
                                     : " is none of [metrics]"));
  const auto of_test = "test." + name.substr(name.find('.') + 1);
  if (result_.truth.empty())
    result_.truth = has_metric(of_test) ? of_test : name;
  if (!has_metric(result_.truth))
    root_.fail("truth",
               fmt::format("truth: {} is none of [metrics]", in_quotes(result_.truth)));
}

expected<table_description> description_reader::read() {
  constexpr std::array<std::pair<std::string_view, table_lookup>, 2> lookups{
      {{"exact", table_lookup::exact}, {"nearest", table_lookup::nearest}}};
  auto key = root_.table("key"), goal = root_.table("objective");
  const auto* parameters = table_at("hyperparameters");
  const auto* metrics = table_at("metrics");
  root_.read_list("seeds", seeds_);
  root_.read("cost", cost_);
  root_.read("separate", result_.separate);
  root_.read("truth", result_.truth);
  read_files();
  root_.read_choice("lookup", result_.lookup, std::span(lookups));
  read_fidelities();
  // Before anything is missed that stands under a misspelt name.
  root_.finish();
  read_parameters(parameters);
  if (!document_.wrong)
    read_key(std::move(key));
  read_metrics(metrics, "");
  read_cost();
  std::ranges::sort(result_.metrics, {}, &table_metric::name);
  read_goal(std::move(goal));
  if (document_.wrong)
    return tl::unexpected(*document_.wrong);
  return std::move(result_);
}

} // namespace

expected<table_description> load_table_description(const fs::path& file) {
  auto read = read_merged(file);
  if (!read)
    return tl::unexpected(std::move(read).error());
  return description_reader(read->says, file).read().map([&](table_description&& d) {
    d.checksum = hash128(read->checksums);
    return std::move(d);
  });
}

expected<table_description> parse_table_description(std::string_view text,
                                                    const fs::path& origin) {
  auto d = parse_document(text, origin.string());
  if (!d)
    return tl::unexpected(std::move(d).error());
  if (const auto* include = d->root.get("include"))
    return fail_in(d->place("include", include),
                   {error_kind::invalid_input, "include works in files alone"});
  return description_reader(*d, origin).read().map([&](table_description&& read) {
    read.checksum = hash128(text);
    return std::move(read);
  });
}

expected<std::shared_ptr<const benchmark_table>> load_table(const experiment& e) {
  const auto* params = params_of<table_params>(*e.evaluator);
  if (params == nullptr)
    return fail(error_kind::internal, "the experiment is not on a table");
  auto d = load_table_description(params->file);
  if (!d)
    return tl::unexpected(std::move(d).error());
  const auto changed = [&](const char* what) {
    return fail_in(params->file.string(),
                   {error_kind::conflict,
                    fmt::format("the description no longer has the {} that this "
                                "experiment searches by: put it back, or start a new run",
                                what)});
  };
  if (to_toml(d->space) != to_toml(e.space))
    return changed("parameters");
  if (std::ranges::find(d->metrics, e.objective.metric, &table_metric::name)
      == d->metrics.end())
    return changed("objective");
  if (params->epochs != 0 && params->epochs < d->fidelities.front())
    return fail(error_kind::invalid_input,
                fmt::format("table.epochs is {}, but {} has nothing below {} epochs",
                            params->epochs, params->file.string(),
                            d->fidelities.front()));
  return load_table(std::move(*d));
}

} // namespace clade
