// The tables of `[composites]`, whose form stands at the top of read_composite.cpp.
#include "genome/base/text.hpp"
#include "search_spaces/files/composite_table.hpp"
#include "search_spaces/files/space_draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

namespace clade {

namespace {

/// Reads the tables of `[composites]`, each behind those that it is made of.
class composites_reader {
public:
  composites_reader(const toml::table& table, space_draft& into, complaints& wrong)
      : table_(table),
        draft_(into),
        wrong_(wrong) {}

  void read_all() {
    for (const auto& [key, node] : table_)
      read(std::string(key.str()), node);
  }

private:
  expected<std::shared_ptr<const own_operator>> find(const std::string& name);
  void read(const std::string& name, const toml::node& node);

  const toml::table& table_;
  space_draft& draft_;
  complaints& wrong_;
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
  const auto found = draft_.composites.find(name);
  if (found != draft_.composites.end())
    return found->second.content;
  if (node != nullptr)
    return fail(error_kind::invalid_input, "");
  return nullptr;
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
  const composite_source others = [&](const std::string& other) { return find(other); };
  if (auto made = read_composite(name, *one, wrong_, others))
    draft_.composites.insert_or_assign(
        name, located<std::shared_ptr<const own_operator>>{
                  std::make_shared<const own_operator>(std::move(*made)),
                  wrong_.place(node.source())});
  open_.pop_back();
}

} // namespace

void read_composites(const toml::table& table, space_draft& into, complaints& wrong) {
  composites_reader(table, into, wrong).read_all();
}

} // namespace clade
