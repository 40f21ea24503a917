#include "engine/evaluation/command/placeholders.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

/// Fills a text in which "x" is 7 and "lr_2" is "fast", and nothing else is anything.
std::string filled(std::string_view text) {
  return fill_placeholders(text,
                           [](const std::string& name) -> std::optional<std::string> {
                             if (name == "x")
                               return "7";
                             if (name == "lr_2")
                               return "fast";
                             return std::nullopt;
                           });
}

} // namespace

TEST_CASE("placeholders: a name in braces gives way to its value") {
  CHECK(filled("--x={x} {lr_2}{x}") == "--x=7 fast7");
  CHECK(filled("{x}") == "7");
  CHECK(filled("").empty());
}

TEST_CASE("placeholders: a name in double braces stands for itself in braces") {
  CHECK(filled("{{x}} ${{HOME}}") == "{x} ${HOME}");
  CHECK(placeholders_of("{{x}} ${{HOME}}").empty());
}

TEST_CASE("placeholders: all other braces are what they are") {
  for (const std::string text : {"{\"a\": {\"b\": 1}}", "{", "}", "{{", "}}", "{}",
                                 "{ x }", "[0-9]{3}", "{x", "{x:1}", "awk '{print $1}'"})
    CHECK(filled(text) == text);
  CHECK(filled("{\"a\": {x}}") == "{\"a\": 7}");
  CHECK(filled("{{x}") == "{7");
}

TEST_CASE("placeholders: one that is nothing stays") {
  CHECK(filled("{y} {x}") == "{y} 7");
  CHECK(placeholders_of("{y} {x} {y}") == std::vector<std::string>{"y", "x", "y"});
}
