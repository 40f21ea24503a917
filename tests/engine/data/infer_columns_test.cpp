#include "engine/data/profile/data_summary.hpp"
#include "engine/data/profile/infer_columns.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace clade;

namespace {

using choices = std::vector<column_choice>;
using texts = std::vector<std::string>;

struct inferred {
  scratch_folder folder;
  inferred_data data;

  explicit inferred(const std::string& bytes, data_params params = {}) {
    params.file = write(folder, "x.csv", bytes);
    auto found = infer_columns(params);
    if (!found)
      FAIL(without(found.error().message, folder));
    data = std::move(*found);
  }
};

std::string error_of_inferring(const std::string& bytes, data_params params = {}) {
  const scratch_folder folder;
  params.file = write(folder, "x.csv", bytes);
  const auto found = infer_columns(params);
  return found ? "no error" : without(found.error().message, folder);
}

// Returns a table of customers, with a number, a plan, whether each is active, a day, and
// the target.
std::string table(char delimiter, const std::string& names, int rows = 40) {
  std::string text = names;
  for (int i = 0; i < rows; ++i) {
    const std::string fields =
        "C" + std::to_string(1000 + i) + "\t" + (i % 9 == 4 ? "none" : std::to_string(i))
        + "\t" + (i % 3 == 0 ? "basic" : "pro") + "\t" + (i % 2 == 0 ? "True" : "False")
        + "\t2024-01-" + (i % 28 < 9 ? "0" : "") + std::to_string(i % 28 + 1) + "\t"
        + (i % 2 == 0 ? "stay" : "leave") + "\n";
    for (const char c : fields)
      text += c == '\t' ? delimiter : c;
  }
  return text;
}

} // namespace

TEST_CASE("infer columns: columns that are no numbers get the kind that they show") {
  const inferred f(table(',', "customer,age,plan,active,since,churn\n"));
  CHECK(f.data.params.columns
        == choices{{"plan", encoding_kind::category},
                   {"active", encoding_kind::yes_no},
                   {"since", encoding_kind::date}});
  CHECK(f.data.params.ignore == texts{"customer"});
  CHECK(f.data.params.header == "names");
  CHECK(f.data.params.delimiter == ",");
  CHECK(f.data.params.encoding == "utf-8");
  CHECK(
      f.data.notes
      == texts{"column 1 (\"customer\") is ignored: almost every row has a value of its "
               "own"});
  const auto loaded = load_data(f.data.params, 1, {});
  REQUIRE(loaded);
  // A number with blanks, two plans, yes or no, and the parts of a day.
  CHECK(loaded->shape == tensor_shape{{2 + 2 + 1 + 5}});
}

TEST_CASE(
    "infer columns: what is said stays, and what was inferred is not inferred again") {
  data_params params;
  params.columns = {{"plan", encoding_kind::ignore}};
  params.categories = {"since"};
  const inferred f(table(';', "customer;age;plan;active;since;churn\n"), params);
  CHECK(f.data.params.delimiter == ";");
  CHECK(f.data.params.columns
        == choices{{"plan", encoding_kind::ignore}, {"active", encoding_kind::yes_no}});
  CHECK(f.data.params.categories == texts{"since"});
  const auto again = infer_columns(f.data.params);
  REQUIRE(again);
  CHECK(again->params.columns == f.data.params.columns);
  CHECK(again->params.ignore == f.data.params.ignore);
  CHECK(again->notes.empty());
}

TEST_CASE("infer columns: rows without a target are counted") {
  const inferred f("x,y,class\n1,2.5,a\n2,1,b\n3,4,\n4,0,b\n5,1,a\n");
  CHECK(f.data.without_target == 1);
  const auto lines = data_summary(f.data, 4);
  REQUIRE(!lines.empty());
  CHECK(lines[0].find(": 5 rows, of which 1 is left out, without a target; beside the ")
        != std::string::npos);
}

TEST_CASE("infer columns: a file without names has its columns by number") {
  const inferred f(table('|', ""));
  CHECK(f.data.params.columns
        == choices{{"3", encoding_kind::category},
                   {"4", encoding_kind::yes_no},
                   {"5", encoding_kind::date}});
  CHECK(f.data.params.ignore == texts{"1"});
  CHECK(f.data.params.header == "none");
  const auto loaded = load_data(f.data.params, 1, {});
  REQUIRE(loaded);
  CHECK(loaded->examples == 40);
}

TEST_CASE("infer columns: a table of numbers is read as it always was") {
  const inferred f("x,y,class\n1,2.5,a\n2,1,b\n3,4,a\n4,0,b\n");
  CHECK(f.data.params.columns.empty());
  CHECK(f.data.params.ignore.empty());
  CHECK(f.data.params.header == "auto");
  CHECK(f.data.params.delimiter == params_of_first_runs().delimiter);
  CHECK(f.data.params.decimal == params_of_first_runs().decimal);
  CHECK(f.data.params.encoding == params_of_first_runs().encoding);
  CHECK(f.data.notes.empty());
}

TEST_CASE("infer columns: dialects and encodings are found") {
  const std::string latin = "name\tsize\tclass\nM\xFCller\t1,5\tu\nMei\xDF\t2,5\tv\n"
                            "M\xFCller\t3,5\tu\nMei\xDF\t4,25\tv\n";
  const inferred f(latin);
  CHECK(f.data.params.encoding == "latin-1");
  CHECK(f.data.params.delimiter == "\t");
  CHECK(f.data.params.decimal == ",");
  CHECK(f.data.notes
        == texts{"the file is read as Latin-1, as it is not UTF-8",
                 "a comma is before the decimals of its numbers"});
  CHECK(f.data.params.columns == choices{{"name", encoding_kind::category}});
  std::string wide("\xFF\xFE", 2);
  for (const char c : std::string("a,b,class\n1,x,u\n2,y,v\n3,x,u\n4,y,v\n")) {
    wide += c;
    wide += '\0';
  }
  const inferred g(wide);
  CHECK(g.data.params.encoding == "utf-16");
  CHECK(g.data.params.columns == choices{{"b", encoding_kind::category}});
  CHECK(load_data(g.data.params, 1, {}));
  const inferred quoted("'a','b','class'\n'1,5','x','u'\n'2','y','v'\n");
  CHECK(quoted.data.profile->columns[1].name == "b");
  CHECK(quoted.data.profile->columns.size() == 3);
}

TEST_CASE("infer columns: the second column of a name is called as pandas calls it") {
  const inferred g("x,x,x.1,class\n1,2,u,a\n2,3,v,b\n1,2,u,a\n2,3,v,b\n");
  const auto& columns = g.data.profile->columns;
  CHECK(columns[0].name == "x");
  CHECK(columns[1].name == "x.2");
  CHECK(columns[2].name == "x.1");
  CHECK(
      g.data.notes.front()
      == "several columns are named \"x\"; the second is called \"x.2\" here, as pandas "
         "calls it");
}

TEST_CASE("infer columns: where nothing is left to learn from it says why") {
  std::string rows = "note,class\n";
  for (int i = 0; i < 40; ++i)
    rows += "note-" + std::string(static_cast<std::size_t>(i), 'x') + ","
            + (i % 2 == 0 ? "u" : "v") + "\n";
  CHECK(error_of_inferring(rows)
        == "x.csv:1: no column is left to learn from: column 1 (\"note\") is ignored: it "
           "has 40 values, too many for categories; what is learnt from are numbers, "
           "categories, dates and sentences");
}

TEST_CASE("infer columns: a whole number that is taken for classes is told") {
  std::string text = "x,price\n";
  for (int i = 0; i < 120; ++i)
    text += std::to_string(i) + "," + std::to_string(100 + i % 60) + "\n";
  const inferred f(text);
  REQUIRE(f.data.notes.size() == 2);
  CHECK(
      f.data.notes[1]
      == "column 2 (\"price\"), the target, is a whole number with 60 different values, "
         "which are taken for classes; to predict the number, say task = "
         "\"regression\"");
}

TEST_CASE("infer columns: of an array nothing is inferred") {
  const scratch_folder folder;
  data_params params;
  params.file = write(folder, "x.npy", npy("<f4", "(2, 2)", raw<float>({1, 2, 3, 4})));
  const auto found = infer_columns(params);
  REQUIRE(found);
  CHECK(!found->profile);
  CHECK(found->params.blanks == blank_rule::refuse);
}

TEST_CASE("infer columns: the numbers of a table come back in any usual dialect") {
  CHECK(rc::check("whatever stands between the fields and before the decimals", [] {
    const char delimiter = *rc::gen::element(';', '\t', '|');
    const char decimal = *rc::gen::element('.', ',');
    const char quote = *rc::gen::element('"', '\'', ' ');
    const auto values =
        *rc::gen::container<std::vector<int>>(24, rc::gen::inRange(-9999, 9999));
    const auto write_table = [&](char between, char mark, char around) {
      std::string text = std::string("a") + between + "b" + between + "t\n";
      for (std::size_t i = 0; i < values.size(); ++i) {
        std::string n = std::to_string(values[i] / 100) + mark
                        + std::to_string(std::abs(values[i]) % 100 / 10) + "5";
        if (around != ' ')
          n = around + n + around;
        text += n
                + (i % 2 == 0 ? std::string(1, between)
                              : between + std::string(i % 4 == 1 ? "u\n" : "v\n"));
      }
      return text;
    };
    const inferred plain(write_table(',', '.', ' '));
    const inferred other(write_table(delimiter, decimal, quote));
    const auto expected_data = load_data(plain.data.params, 1, {});
    const auto data = load_data(other.data.params, 1, {});
    RC_ASSERT(expected_data.has_value());
    RC_ASSERT(data.has_value());
    RC_ASSERT(data->features == expected_data->features);
    RC_ASSERT(data->labels == expected_data->labels);
  }));
}

TEST_CASE("infer columns: a spreadsheet is refused with what to do") {
  const scratch_folder folder;
  data_params params;
  params.file = write(folder, "x.xlsx", "PK\x03\x04 [Content_Types].xml");
  const auto found = infer_columns(params);
  REQUIRE_FALSE(found);
  CHECK(
      without(found.error().message, folder)
      == "x.xlsx: is a spreadsheet; save its sheet as .xlsx or CSV, and name that file");
  CHECK(load_data(params, 1, {}).error().message == found.error().message);
}
