#include "search_spaces/toml/toml_mistake.hpp"

#include <catch2/catch.hpp>
#include <toml++/toml.h>

#include <tuple>

using namespace clade;

namespace {

/// Returns the message about the document with that second line.
std::string said_of(const std::string& line) {
  const auto text = "[data]\n" + line + "\nheader = \"none\"\n";
  try {
    std::ignore = toml::parse(text);
    return "no mistake";
  } catch (const toml::parse_error& e) {
    return std::to_string(e.source().begin.line) + ": "
           + toml_mistake(text, e.source().begin.line, e.description());
  }
}

} // namespace

TEST_CASE("TOML: a text without quotes is shown with them") {
  CHECK(said_of("blanks = drop") == "2: a text needs quotes: write blanks = \"drop\"");
  CHECK(said_of("file = iris.csv")
        == "2: a text needs quotes: write file = \"iris.csv\"");
  CHECK(said_of("file = ../iris.csv")
        == "2: a text needs quotes: write file = \"../iris.csv\"");
  CHECK(said_of("wall_time = 2min")
        == "2: a text needs quotes: write wall_time = \"2min\"");
  CHECK(said_of("categories = [plan, city]")
        == "2: texts need quotes: categories = [plan, city]");
  CHECK(said_of("inherit = True")
        == "2: True is written in small letters: inherit = true");
}

TEST_CASE("TOML: what is not closed is named") {
  CHECK(said_of("file = \"iris.csv")
        == "2: the text is not closed: write file = \"iris.csv\"");
  CHECK(said_of("file = 'iris.csv")
        == "2: the text is not closed: write file = 'iris.csv'");
  CHECK(said_of("file = \"\"\"iris.csv")
            .ends_with("the text that \"\"\" opens is not closed"));
  CHECK(said_of("shape = [1, 8, 8")
        == "3: what [ opens before this line is not closed by ]");
  CHECK(said_of("split = {train = 1,")
        == "2: what { opens must be closed by } on the same line");
  CHECK(said_of("[search_space")
        == "2: the name of a section stands in brackets, such as [data]: [search_space");
}

TEST_CASE("TOML: a line without an equals sign or a value is named") {
  CHECK(said_of("seed 7")
        == "2: a line is KEY = VALUE, and this one has no \"=\": seed 7");
  CHECK(said_of("C1,3,4")
        == "2: a line is KEY = VALUE, and this one has no \"=\": C1,3,4");
  CHECK(said_of("file =") == "2: file has no value");
  CHECK(said_of("file = \"C:\\data\"").starts_with("2: a backslash in a text"));
}

TEST_CASE("TOML: of other mistakes the parser's own words are kept") {
  CHECK(said_of("seed = 05")
        == "2: broken decimal integer: leading zeroes are prohibited");
  CHECK(said_of("seed = 1\nseed = 2")
        == "3: broken key-value pair: cannot redefine existing integer 'seed'");
  CHECK(said_of("\xff").ends_with(": is no text in UTF-8"));
}
