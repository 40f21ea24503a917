// Every key of a document is either known here or a complaint with the nearest known one;
// reading goes on after a complaint. Faults that only the whole can show are left to
// assemble().
#include "genome/base/text.hpp"
#include "search_spaces/files/space_draft.hpp"
#include "search_spaces/operators/nearest.hpp"
#include "search_spaces/toml/parameter_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace clade {

namespace {

constexpr std::array<limit_entry, 6> limit_table{{
    {"max_nodes", 0, 256, 16, "Layers between input and output."},
    {"max_skips", 0, 1024, 8, "Edges beyond those of a chain."},
    {"initial_nodes", 1, 256, 3, "The most layers that a random network starts with."},
    {"max_parameters", 1, 1'000'000'000'000, 1'000'000, "Weights of a network."},
    {"max_multiply_adds", 1, 1'000'000'000'000'000, 100'000'000,
     "Multiplications for one example; decides how long a candidate trains."},
    {"max_width", 1, 65536, 512, "Channels of an image, units of a dense layer."},
}};

constexpr std::array<limit_entry, 2> recurrence_table{{
    {"max_edges", 1, 256, 8, "Recurrent edges of a network."},
    {"longest_delay", 1, longest_delay, 10,
     "The most steps of time that one of them leads back."},
}};

constexpr std::array<std::string_view, 11> top_keys{
    "include", "image",      "sequence",  "merge",           "limits", "recurrence",
    "rules",   "composites", "operators", "hyperparameters", "seeds"};
constexpr std::array<std::string_view, 2> seed_keys{"layers", "hyperparameters"};
constexpr std::array<std::string_view, 2> merges{"add", "concat"};
constexpr setting_entry merge_entry{
    .name = "merge", .type = setting_entry::kind::text, .words = merges};

/// Reads one document into the draft.
class space_reader {
public:
  space_reader(space_draft& into, complaints& wrong) : draft_(into), wrong_(wrong) {}

  void read(const toml::table& document);
  void read_hyperparameters(const toml::table& table);

private:
  void read_layout(layout l, const toml::node& node);
  void read_limits(const toml::table& table);
  void read_recurrence(const toml::table& table);
  void read_operator(std::string_view name, const toml::node& node);
  bool searches_words(const toml::table& table, const std::string& path);
  void read_seed(const std::string& name, const toml::node& node);
  const toml::table* table_at(const toml::table& document, std::string_view key);

  space_draft& draft_;
  complaints& wrong_;
};

const toml::table* space_reader::table_at(const toml::table& document,
                                          std::string_view key) {
  const toml::node* node = document.get(key);
  if (node != nullptr && !node->is_table())
    wrong_.note(node->source(), fmt::format("{} is {}, but must be a table: [{}]", key,
                                            describe(*node), key));
  return node == nullptr ? nullptr : node->as_table();
}

void space_reader::read(const toml::table& document) {
  refuse_unknown(document, "", top_keys, wrong_);
  const toml::node* image = document.get("image");
  const toml::node* sequence = document.get("sequence");
  if (image != nullptr)
    read_layout(layout::image, *image);
  if (sequence != nullptr)
    read_layout(layout::sequence, *sequence);
  if (image != nullptr && sequence != nullptr && image->value_or(false)
      && sequence->value_or(false))
    wrong_.note(sequence->source(),
                "image and sequence are true, but examples are of one "
                "kind; remove one of the two");
  if (const toml::node* merge = document.get("merge"))
    draft_.merge = read_parameter("merge", "merge", *merge, &merge_entry, wrong_);
  if (const auto* limits = table_at(document, "limits"))
    read_limits(*limits);
  if (const auto* recurrence = table_at(document, "recurrence"))
    read_recurrence(*recurrence);
  read_composites(table_at(document, "composites"), table_at(document, "rules"),
                  draft_.composites, wrong_);
  if (const auto* operators = table_at(document, "operators"))
    for (const auto& [key, node] : *operators)
      read_operator(key.str(), node);
  if (const auto* hyperparameters = table_at(document, "hyperparameters"))
    read_hyperparameters(*hyperparameters);
  if (const auto* seeds = table_at(document, "seeds"))
    for (const auto& [key, node] : *seeds)
      read_seed(std::string(key.str()), node);
}

// Only the whole space says what the values must be, so that assemble() checks them.
void space_reader::read_seed(const std::string& name, const toml::node& node) {
  const std::string path = "seeds." + name;
  const auto* table = node.as_table();
  const auto* layers = table == nullptr ? nullptr : table->get_as<toml::array>("layers");
  if (layers == nullptr)
    return wrong_.note(node.source(), path
                                          + " needs layers = [{op = \"dense\", units = "
                                            "64}, ...], which may be empty");
  refuse_unknown(*table, path, seed_keys, wrong_);
  seed_network seed{.name = name, .layers = {}};
  for (const auto& one : *layers) {
    const auto* layer = one.as_table();
    const auto op =
        layer == nullptr ? std::nullopt : (*layer)["op"].value_exact<std::string>();
    if (!op) {
      wrong_.note(
          one.source(),
          fmt::format("{}.layers: {} is no layer, such as {{op = \"dense\", units = 64}}",
                      path, describe(one)));
      continue;
    }
    node_gene gene{.op = *op};
    read_settings(*layer, path + ".layers", gene.settings, wrong_);
    seed.layers.push_back(std::move(gene));
  }
  if (const auto* given = table->get_as<toml::table>("hyperparameters"))
    read_settings(*given, path + ".hyperparameters", seed.hyperparameters, wrong_);
  draft_.seeds.insert_or_assign(
      name, located<seed_network>{std::move(seed), wrong_.place(node.source())});
}

// False takes away what an included file says of the same layout.
void space_reader::read_layout(layout l, const toml::node& node) {
  const auto v = node.value_exact<bool>();
  if (!v)
    wrong_.note(node.source(), fmt::format("{} is {}, but must be true or false",
                                           to_text(l), describe(node)));
  else if (*v)
    draft_.input = l;
  else if (draft_.input == l)
    draft_.input = layout::vector;
}

void space_reader::read_limits(const toml::table& table) {
  std::vector<std::string_view> names;
  for (const limit_entry& limit : limit_table) {
    names.push_back(limit.name);
    const toml::node* node = table.get(limit.name);
    if (node == nullptr)
      continue;
    if (const auto v = whole_from(*node, fmt::format("limits.{}", limit.name), limit.low,
                                  limit.high, wrong_))
      draft_.limits.insert_or_assign(
          std::string(limit.name),
          located<std::int64_t>{*v, wrong_.place(node->source())});
  }
  refuse_unknown(table, "limits", names, wrong_);
}

void space_reader::read_recurrence(const toml::table& table) {
  if (!draft_.recurrence)
    draft_.recurrence = {{}, wrong_.place(table.source())};
  std::vector<std::string_view> names;
  for (const limit_entry& entry : recurrence_table) {
    names.push_back(entry.name);
    if (const toml::node* node = table.get(entry.name))
      if (const auto v = whole_from(*node, fmt::format("recurrence.{}", entry.name),
                                    entry.low, entry.high, wrong_))
        draft_.recurrence->content.insert_or_assign(std::string(entry.name), *v);
  }
  refuse_unknown(table, "recurrence", names, wrong_);
}

/// A setting that is searched over all that its text may be.
parameter any_text(const setting_entry& s) {
  if (s.derivations != nullptr)
    return {.name = std::string(s.name), .domain = *s.derivations};
  choice_domain all;
  for (const auto word : s.words)
    all.options.emplace_back(std::string(word));
  return {.name = std::string(s.name), .domain = std::move(all)};
}

/// Whether settings that are words, and are not named, may be each of them.
bool space_reader::searches_words(const toml::table& table, const std::string& path) {
  const toml::node* node = table.get("words");
  if (node == nullptr)
    return false;
  if (node->value_exact<std::string>() == "all")
    return true;
  wrong_.note(node->source(),
              fmt::format("{}.words is {}, but must be \"all\": each setting that is a "
                          "word, and is not named, is searched over all its words",
                          path, describe(*node)));
  return false;
}

void space_reader::read_operator(std::string_view name, const toml::node& node) {
  const std::string path = "operators." + std::string(name);
  const auto* entry = draft_.find(name);
  if (entry == nullptr || entry->role != operator_role::layer) {
    std::vector<std::string_view> known;
    for (const operator_entry& e : operators())
      if (e.role == operator_role::layer)
        known.push_back(e.name);
    for (const auto& [own, _] : draft_.composites)
      known.push_back(own);
    const auto near = nearest(name, known);
    const std::string all = joined(known);
    return wrong_.note(
        node.source(),
        fmt::format("unknown operator \"{}\"{}", name,
                    entry != nullptr ? ": it is put in where shapes need it"
                    : near.empty()   ? "; known are " + all
                                     : fmt::format("; did you mean \"{}\"?", near)));
  }
  const auto* table = node.as_table();
  if (table == nullptr)
    return wrong_.note(node.source(), fmt::format("{} is {}, but must be a table: [{}]",
                                                  path, describe(node), path));
  operator_rule rule{.name = std::string(name), .settings = {}, .weight = 1};
  std::vector<std::string_view> known{"weight", "words"};
  const bool all_words = searches_words(*table, path);
  for (const setting_entry& setting : entry->settings) {
    known.push_back(setting.name);
    if (const toml::node* given = table->get(setting.name))
      rule.settings.push_back(read_parameter(setting.name,
                                             fmt::format("{}.{}", path, setting.name),
                                             *given, &setting, wrong_));
    else if (setting.derivations != nullptr || (all_words && setting.words.size() > 1))
      rule.settings.push_back(any_text(setting));
  }
  refuse_unknown(*table, path, known, wrong_);
  if (const toml::node* weight = table->get("weight"))
    rule.weight = weight_from(*weight, path, wrong_).value_or(rule.weight);
  draft_.operators.insert_or_assign(
      std::string(name),
      located<operator_rule>{std::move(rule), wrong_.place(node.source())});
}

void space_reader::read_hyperparameters(const toml::table& table) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const bool word =
        !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
          return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
                 || (c >= 'A' && c <= 'Z') || c == '_';
        });
    if (!word) {
      wrong_.note(key.source(), fmt::format("hyperparameters: \"{}\" is no name; use up "
                                            "to 64 letters, digits and \"_\"",
                                            name));
      continue;
    }
    draft_.hyperparameters.insert_or_assign(
        name, located<parameter>{
                  read_parameter(name, "hyperparameters." + name, node, nullptr, wrong_),
                  wrong_.place(node.source())});
  }
}

} // namespace

const operator_entry* space_draft::find(std::string_view name) const {
  const auto own = composites.find(name);
  return own == composites.end() ? find_operator(name) : &own->second.content->row();
}

std::span<const limit_entry> limit_entries() {
  return limit_table;
}

std::span<const limit_entry> recurrence_entries() {
  return recurrence_table;
}

void read_document(const toml::table& document, space_draft& into, complaints& wrong) {
  space_reader(into, wrong).read(document);
}

void read_hyperparameters(const toml::table& table, space_draft& into,
                          complaints& wrong) {
  space_reader(into, wrong).read_hyperparameters(table);
}

} // namespace clade
