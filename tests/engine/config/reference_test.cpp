#include "engine/config/experiment/reference.hpp"
#include "engine/config/experiment/space_reference.hpp"
#include "engine/training/asked/recipe.hpp"
#include "search_spaces/files/space_draft.hpp"
#include "tests/engine/config/experiment_files.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

using namespace clade;

namespace {

/// The keys that the error of an unknown one in that section names.
std::set<std::string> known_keys(const std::string& section, const std::string& fitness) {
  const experiment_files files;
  const std::string text = (fitness == "training" ? "[data]\nfile = \"x.csv\"\n" : "")
                           + ("[experiment]\nfitness = \"" + fitness + "\"\n")
                           + "[search_space]\nfile = \"vectors.toml\"\n";
  const auto message = files.error_of(text, {section + ".qqqqqqqqqqqqqqqq=1"});
  const std::string start = "known are ";
  INFO(message);
  REQUIRE(message.find(start) != std::string::npos);
  std::set<std::string> names;
  for (auto at = message.find('"', message.find(start)); at != std::string::npos;) {
    const auto end = message.find('"', at + 1);
    names.insert(message.substr(at + 1, end - at - 1));
    at = message.find('"', end + 1);
  }
  return names;
}

std::set<std::string> names_of(const reference_section& section) {
  std::set<std::string> names;
  for (const auto& key : section.keys)
    names.insert(key.name);
  return names;
}

std::string text_of(const std::string& file) {
  std::ifstream in(std::string(CLADE_ROOT "/") + file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

} // namespace

TEST_CASE("reference: it has the keys that an experiment is read with and no others") {
  for (const auto& section : experiment_reference()) {
    const bool own = std::ranges::any_of(evaluator_kinds(), [&](const auto& kind) {
      return section.name != "training" && kind->traits().name == section.name;
    });
    auto known = known_keys(section.name, own ? section.name : "training");
    known.erase("mutation"); // A section of its own.
    if (section.name == "data")
      known.merge(known_keys("data", "synthetic"));
    INFO(section.name);
    CHECK(names_of(section) == known);
  }
}

TEST_CASE("reference: it has the sections that an experiment is read with") {
  std::set<std::string> sections;
  for (const auto& section : experiment_reference())
    if (section.name.find('.') == std::string::npos)
      sections.insert(section.name);
  const experiment_files files;
  const auto message = files.error_of(files.valid + "\n[qqqqqqqqqqqqqqqq]\n");
  for (const auto& name : sections)
    CHECK(message.find("\"" + name + "\"") != std::string::npos);
  CHECK(std::count(message.begin(), message.end(), '"')
        == 2 * static_cast<std::ptrdiff_t>(sections.size() + 1));
}

TEST_CASE("reference: each key has a type and a sentence") {
  for (const auto& section : experiment_reference())
    for (const auto& key : section.keys) {
      INFO(section.name << "." << key.name);
      CHECK_FALSE(key.type.empty());
      CHECK(key.sentence.size() > 10);
      CHECK(key.sentence.ends_with('.'));
    }
}

TEST_CASE("reference: an item has lines of at most 100 characters") {
  CHECK(reference_item("seed", "whole number", "Decides.")
        == "- `seed` (whole number): Decides.\n");
  CHECK(reference_item("seed", "", "Decides.") == "- `seed`: Decides.\n");
  CHECK(reference_item("seed", "1 to 3") == "- `seed` (1 to 3)\n");
  CHECK(reference_item("file", "path", std::string(90, 'x') + ".")
        == "- `file` (path):\n  " + std::string(90, 'x') + ".\n");
}

TEST_CASE("reference: every limit and hyperparameter of a search space has a sentence") {
  for (const auto& limit : limit_entries())
    CHECK(limit.sentence.ends_with('.'));
  for (const auto& key : recurrence_entries())
    CHECK(key.sentence.ends_with('.'));
  for (const auto& h : hyperparameters())
    CHECK(h.sentence.ends_with('.'));
}

TEST_CASE("reference: the pages in experiments are what clade help prints") {
  INFO("bring them up to date: clade help experiment > experiments/README.md, and "
       "clade help search-spaces > experiments/search-spaces.md");
  CHECK(text_of("experiments/README.md") == experiment_reference_text());
  CHECK(text_of("experiments/search-spaces.md") == space_reference_text());
}
