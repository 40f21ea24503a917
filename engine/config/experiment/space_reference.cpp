// Made from the tables that search-space files are read with: operators.cpp, the limits
// of read_document.cpp, and the hyperparameters of recipe.cpp.

#include "engine/config/experiment/space_reference.hpp"

#include "engine/config/experiment/reference.hpp"
#include "engine/training/asked/recipe.hpp"
#include "search_spaces/files/space_draft.hpp"
#include "search_spaces/operators/operators.hpp"

#include <fmt/format.h>

namespace clade {
namespace {

constexpr std::string_view composites_text = R"(
## [composites.NAME]

An operator of your own, made of known ones; [operators.NAME] then draws it like any other. A layer
takes what the one before it gives, or what `from` names; "in" is what enters. A setting is a value or a
formula: "=" and a parameter, or `channels` of what enters, times and divided by whole numbers. Layers may
have any operator above, another composite, add, concat or multiply.

    [composites.bottleneck]
    takes = "image"                 or "sequence" or "vector"; without it what the first layer takes
    repeat = "repeats"              a parameter or a number; without it 1
    share = true                    repetitions have the same weights, where layers take the same shape;
                                    statistics of batch norms are each one's own. Without it false
    layers = [
      {op = "conv", name = "reduce", filters = "=filters / 4", norm = "batch", activation = "relu"},
      {op = "conv", name = "expand", filters = "=filters", norm = "batch", zero = true},      gives 0 at first
      {op = "add", from = ["in", "expand"]},      what does not fit the last one is projected
    ]
    [composites.bottleneck.parameters]
    filters = {low = 1, high = 512, default = 32, width = true}      width: limits.max_width holds for it
    repeats = {low = 1, high = 8, default = 1}
    stride = {low = 1, high = 2, default = 1, first = true}      first: later repetitions have `low`
    kernel = {low = 1, high = 7, default = 3, odd = true}
    function = {words = ["relu", "gelu"]}

Cells are composites that a search makes once and a network has many times: the operator of a layer, and what
it takes, may be the words of a parameter. cells.toml, darts.toml and nas201.toml are examples.

    [composites.cell]
    layers = [
      {op = "=first", name = "a"},
      {op = "=second", name = "b", from = "=source"},
      {op = "add", from = ["a", "b"]},
    ]
    [composites.cell.parameters]
    first = {words = ["max_pool", "identity"]}
    second = {words = ["max_pool", "identity", "zero"]}
    source = {words = ["in", "a"]}

    [composites.stage]
    inherits = "cell"               the cell's parameters are this one's as well, and are given to it; or
                                    several, inherits = ["normal_cell", "reduction_cell"]
    repeat = 3
    layers = [{op = "cell"}]

    [operators.stage]
    words = "all"                   each setting that is a word is searched over all its words

## [rules.NAME]

A grammar of networks, for spaces that are neither graphs nor cells: search_spaces/grammar.toml is one. A
rule is a table of productions, of which one is drawn by weight. Their layers are written as those of
composites, and where the name of a rule stands for an operator, that rule makes the layers. A composite's
parameter {rule = "module"} is searched over all that the rule can make, at most so deep and of so many
parts; a mutation replaces a part by another of the same rule, and a cross takes parts of both parents.

    [rules.module]
    sequence = {weight = 3, layers = [{op = "module", name = "first"}, {op = "module", name = "second"}]}
    residual = {layers = [{op = "module", name = "inner"}, {op = "add", from = ["in", "inner"]}]}
    conv = {weight = 4, layers = [{op = "conv", filters = "=channels", norm = "batch"}]}

    [composites.network]
    layers = [{op = "conv", name = "stem", filters = "=filters"}, {op = "=body"}, {op = "global_avg_pool"}]
    [composites.network.parameters]
    filters = {low = 1, high = 64, default = 16, width = true}
    body = {rule = "module", depth = 8, size = 64}      at most 16 deep and of 100 parts

    [operators.network]             body, not named, is searched; or body = "sequence[conv residual[conv]]"
    filters = [16, 32]
)";

constexpr const char* introduction =
    "# Search-space files\n"
    "\n"
    "A search space says what networks may be made of: which layers with which settings, "
    "and how they\nare trained. search_spaces/tabular.toml and "
    "search_spaces/residual.toml "
    "are examples to copy and edit.\n"
    "\n"
    "A setting or hyperparameter is written as\n"
    "\n"
    "    kernel = 3                                               always that\n"
    "    filters = [8, 16, 32]                                    one of these; "
    "ascending "
    "numbers are\n"
    "                                                             neighbors, and "
    "mutation "
    "takes one step\n"
    "    rate = {low = 0.1, high = 0.5}                           a number between\n"
    "    learning_rate = {low = 0.001, high = 0.1, log = true}    the same, uniform in "
    "its "
    "logarithm\n"
    "    units = {low = 16, high = 256, step = 16}                whole numbers in "
    "steps\n"
    "    momentum = {low = 0.8, high = 0.99, when = {optimizer = [\"sgd\"]}}   only "
    "where "
    "it applies\n"
    "    batch_size = {choice = [16, 64], ordered = false}        a choice without "
    "neighbors\n"
    "\n"
    "- `include = [\"hyperparameters.toml\"]` takes over what other files say; what this "
    "file says\n"
    "  replaces it.\n"
    "- `image = true`: examples are images, [channels, height, width]; `sequence = "
    "true`: they are\n  sequences, [steps, features]. Without either they are vectors.\n"
    "- `merge = [\"add\", \"concat\"]`: how several inputs of a layer become one.\n"
    "\n"
    "This page is what `clade help search-spaces` prints.\n";

using kind = setting_entry::kind;

std::string number(double v) {
  return to_text(value(v));
}

std::string whole(double v) {
  return std::to_string(static_cast<std::int64_t>(v));
}

std::string operator_sections() {
  std::string out =
      "## Operators\n\nEach is a section, such as [operators.conv], with the values that "
      "its settings may have; of texts\nthe first is the default. `weight = 2` draws an "
      "operator twice as often as one of weight 1, and\n`weight = 0` takes it out. "
      "`clade operators` says what each takes, gives and costs.\n";
  for (const operator_entry& o : operators()) {
    if (o.role != operator_role::layer)
      continue;
    out += fmt::format("\n**{}**: {}{}\n\n", o.name, o.summary,
                       o.by_step ? " (also with [recurrence])" : "");
    if (o.settings.empty())
      out += "- no settings\n";
    for (const auto& s : o.settings)
      out += reference_item(std::string(s.name), values_text(s));
  }
  return out;
}

} // namespace

std::string values_text(const setting_entry& s) {
  if (s.type == kind::real)
    return fmt::format("{} to {}, default {}", number(s.low), number(s.high),
                       number(s.fallback));
  if (s.type == kind::integer)
    return fmt::format("{}{} to {}, default {}", s.odd ? "odd, " : "", whole(s.low),
                       whole(s.high), whole(s.fallback));
  std::string all;
  for (const auto word : s.words)
    all += fmt::format("{}{}\"", all.empty() ? "\"" : ", \"", word);
  return all;
}

std::string space_reference_text() {
  std::string out = std::string(introduction) + "\n## [limits]\n\n";
  for (const limit_entry& l : limit_entries())
    out += reference_item(std::string(l.name), fmt::format("default {}", l.fallback),
                          std::string(l.sentence));
  out +=
      "\n## [recurrence]\n\nWith this table, of sequences alone, networks take one step "
      "after the other, and recurrent edges lead from\nany layer, or the input, to any "
      "layer, some steps back; the output is of the last step. Layers are those\nmarked "
      "as such below: `recurrent.toml` is an example.\n\n";
  for (const limit_entry& l : recurrence_entries())
    out += reference_item(std::string(l.name), fmt::format("default {}", l.fallback),
                          std::string(l.sentence));
  out += fmt::format("\n{}\n## [hyperparameters]\n\nThose that training reads. What is "
                     "left out has its value from the experiment's [training].\n\n",
                     operator_sections());
  for (const auto& h : hyperparameters())
    out += reference_item(std::string(h.name), "", std::string(h.sentence));
  out += composites_text;
  out +=
      "\n## [seeds.NAME]\n\nA network that is known to be good: it is among the first "
      "candidates, and its descendants compete\nlike others. What it does not say is "
      "drawn; what it says must be in the space.\n\n"
      "    [seeds.small]\n"
      "    layers = [{op = \"dense\", units = 64}, {op = \"dropout\"}]      in a chain; "
      "[] is the linear model\n"
      "    hyperparameters = {optimizer = \"adamw\"}\n";
  out += "\n## Known points\n\nA file of its own, which `first = \"points.toml\"` in "
         "[evolution] names: its points are the first candidates,\nin the order of the "
         "file, "
         "whatever the strategy. What a point does not say is drawn.\n\n"
         "    [points.earlier]                        a network as `clade show RUN ID` "
         "prints "
         "it\n"
         "    genome = \"\"\"\n"
         "    input\n"
         "    n3f2a1  dense(units=64) <- input\n"
         "    output <- n3f2a1\n"
         "    learning_rate=0.003\n"
         "    \"\"\"\n"
         "    [points.chain]                          layers as in [seeds.NAME]\n"
         "    layers = [{op = \"dense\", units = 64}]\n"
         "    [points.rate]                           hyperparameters alone\n"
         "    hyperparameters = {learning_rate = 0.01}\n";
  return out;
}

} // namespace clade
