// The tables of `[composites]` and `[rules]`, whose forms stand at the top of
// read_composite.cpp and read_rules.cpp.
#include "search_spaces/composites/read_composites.hpp"

#include "genome/base/text.hpp"
#include "search_spaces/composites/composite_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

namespace clade {

namespace {

/// Reads the tables of `[rules]`, and then of `[composites]`, each behind those that it is
/// made of.
class composites_reader {
public:
  composites_reader(const toml::table& table, own_composites& into, complaints& wrong)
      : table_(table),
        known_(into),
        wrong_(wrong) {}

  void read_rules(const toml::table& table);
  void read_all() {
    for (const auto& [key, node] : table_)
      read(std::string(key.str()), node);
  }

private:
  expected<std::shared_ptr<const own_operator>> find(const std::string& name);
  void read(const std::string& name, const toml::node& node);

  const toml::table& table_;
  own_composites& known_;
  complaints& wrong_;
  rule_table rules_;
  const composite_parts parts_{
      .others = [this](const std::string& other) { return find(other); },
      .rules = rules_};
  std::vector<std::string> open_; ///< The ones that are being read, one within the other.
  std::set<std::string> done_;
};

expected<std::shared_ptr<const own_operator>>
composites_reader::find(const std::string& name) {
  const toml::node* node = table_.get(name);
  if (node != nullptr && std::ranges::find(open_, name) != open_.end())
    return fail(error_kind::invalid_input,
                fmt::format("{} is within itself ({}, {})", name, joined(open_), name));
  if (node != nullptr && std::ssize(open_) == own_description::deepest)
    return fail(error_kind::invalid_input,
                fmt::format("{} is more than {} deep within other composites", name,
                            own_description::deepest));
  if (node != nullptr)
    read(name, *node);
  const auto found = known_.find(name);
  if (found != known_.end())
    return found->second.content;
  if (node != nullptr)
    return fail(error_kind::invalid_input, "");
  return nullptr;
}

// A space is written with one set of rules, so that those of two files cannot both be its.
void composites_reader::read_rules(const toml::table& table) {
  if (std::ranges::any_of(known_, [](const auto& one) {
        return one.second.content->description().rules != nullptr;
      }))
    wrong_.note(table.source(), "rules stand in an included file already: write the "
                                "rules of both there, or here alone");
  for (const auto& [key, node] : table) {
    rules_.names.emplace_back(key.str());
    if (table_.contains(key) || known_.contains(key.str()))
      wrong_.note(key.source(),
                  fmt::format("rules.{}: there is a composite of that name", key.str()));
  }
  rules_.read = clade::read_rules(table, wrong_, parts_);
  rules_.failed = rules_.read == nullptr;
}

void composites_reader::read(const std::string& name, const toml::node& node) {
  if (!done_.insert(name).second)
    return;
  const auto* one = node.as_table();
  if (!is_composite_word(name) || find_operator(name) != nullptr || one == nullptr) {
    wrong_.note(
        node.source(),
        fmt::format("composites.{}{}", name,
                    find_operator(name) != nullptr
                        ? ": there is an operator of that name already"
                        : ": a composite is a table, [composites.NAME], with a name "
                          "of up to 32 small letters, digits and \"_\""));
    return;
  }
  open_.push_back(name);
  if (auto made = read_composite(name, *one, wrong_, parts_))
    known_.insert_or_assign(name,
                            located<std::shared_ptr<const own_operator>>{
                                std::make_shared<const own_operator>(std::move(*made)),
                                wrong_.place(node.source())});
  open_.pop_back();
}

} // namespace

void read_composites(const toml::table* composites, const toml::table* rules,
                     own_composites& into, complaints& wrong) {
  static const toml::table none;
  composites_reader reader(composites != nullptr ? *composites : none, into, wrong);
  if (rules != nullptr)
    reader.read_rules(*rules);
  reader.read_all();
}

} // namespace clade
