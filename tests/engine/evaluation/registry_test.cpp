#include "engine/config/file/own_section.hpp"
#include "engine/evaluation/registry.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace clade;

namespace {

/// A visitor of keys that notes their names.
struct key_names {
  void key(std::string_view name, auto&) { names.emplace(name); }
  void unusual(std::string_view name, auto&, const auto&) { names.emplace(name); }
  void unusual_list(std::string_view name, auto&, const auto&) { names.emplace(name); }
  void unusual_strategies(std::string_view name, auto&, const auto&) {
    names.emplace(name);
  }
  void list(std::string_view name, auto&) { names.emplace(name); }
  void lists(std::string_view name, auto&) { names.emplace(name); }
  void numbers(std::string_view name, auto&) { names.emplace(name); }
  void texts(std::string_view name, auto&) { names.emplace(name); }
  void table(std::string_view name, bool, const auto&) { names.emplace(name); }
  void path(std::string_view name, auto&) { names.emplace(name); }
  void folder(std::string_view name, auto&) { names.emplace(name); }

  std::set<std::string> names;
};

} // namespace

TEST_CASE("evaluator kinds: each has a name and words of its own") {
  std::set<std::string_view> names, words;
  for (const auto& kind : evaluator_kinds()) {
    const auto& traits = kind->traits();
    INFO(traits.name);
    CHECK(names.insert(traits.name).second);
    for (const auto word : {traits.does, traits.experiment, traits.run})
      CHECK((!word.empty() && words.insert(word).second));
  }
  CHECK(evaluator_kinds().front()->traits().name == "training");
}

TEST_CASE("evaluator kinds: one that has keys has a section of its own") {
  for (const auto& kind : evaluator_kinds()) {
    INFO(kind->traits().name);
    key_names keys;
    visit_copy(keys, *kind);
    const auto copy = kind->clone();
    CHECK(keys.names.empty() == kind->traits().title.empty());
    CHECK(copy->traits().name == kind->traits().name);
    CHECK(copy->epochs() == kind->epochs());
  }
}

TEST_CASE("evaluator kinds: only what trains is made elsewhere") {
  for (const auto& kind : evaluator_kinds()) {
    const auto& traits = kind->traits();
    INFO(traits.name);
    CHECK(traits.trains == (traits.data == data_role::examples));
    CHECK_FALSE((traits.trains && traits.described));
    CHECK(kind->make({}).has_value() == !traits.trains);
  }
}
