#include "engine/data/tables/csv_start.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

std::string header_of(std::string_view text, std::string_view target = "",
                      std::string_view header = "auto") {
  const auto form = find_form(text, {});
  const auto start = find_csv_start(form.rows(text), "x.csv", form, target, header);
  return start ? start->header + (start->unclear ? " (unclear)" : "")
               : start.error().message;
}

} // namespace

TEST_CASE("csv start: names stand over numbers, also where other columns are texts") {
  CHECK(header_of("age,plan\n18,gold\n20,basic\n") == "names");
  CHECK(header_of("a,b\n1,2\n") == "names");
  CHECK(header_of(",a,b\n0,1,x\n1,2,y\n") == "names");
}

TEST_CASE("csv start: a text over a column of numbers makes names of numbers beside it") {
  CHECK(header_of("country,2019,2020,growth\nland 0,1.2,7.6,6.9\nland 1,2.3,4.5,4.1\n")
        == "names");
  CHECK(header_of("1,x\n5,6\n7,8\n") == "names");
}

TEST_CASE("csv start: numbers far from those below them, such as years, are names") {
  const std::string rows = "land 0,7.22,3.90\nland 1,1.14,8.18\nland 2,5.41,3.67\n";
  CHECK(header_of("country,2018,2019\n" + rows) == "names (unclear)");
  CHECK(header_of("2018,2019\n7.2,3.9\n1.1,8.2\n5.4,3.7\n") == "names (unclear)");
  CHECK(header_of("land,2018,2019,2020\na,1500,2500,1800\nb,2600,1700,1900\n")
        == "names (unclear)");
  CHECK(header_of("1,0.5\n2,0.6\n3,0.7\n4,0.8\n") == "none");
  CHECK(header_of("2018,5\n2019,6\n2020,7\n2021,8\n") == "none");
  CHECK(header_of("land 0,2018,2019\n" + rows + rows + "land 0,1,2\n") == "none");
  CHECK(header_of("red,2018.5,9\nred,1,2\nred,2,3\nred,3,4\n") == "none");
}

TEST_CASE(
    "csv start: the line that holds the target by name, or that one says, is names") {
  const std::string text = "land,2018,2019\na,1500,2500\na,2600,1700\n";
  CHECK(header_of(text) == "none");
  CHECK(header_of(text, "2019") == "names");
  CHECK(header_of(text, "3") == "none");
  CHECK(header_of(text, "", "names") == "names");
  CHECK(header_of("a,b\n1,2\n", "", "none") == "none");
}

TEST_CASE("csv start: a row with a text that its column has once may be names") {
  CHECK(header_of("kind,5\nx,6\nx,7\nx,8\ny,3\ny,9\ny,1\n") == "none (unclear)");
}

TEST_CASE("csv start: a row is a row") {
  CHECK(header_of("39, State-gov, <=50K\n50, Private, >50K\n") == "none");
  CHECK(header_of("1,2,3\n4,5,6\n") == "none");
  CHECK(header_of("1,?,3\n4,5,6\n") == "none");
  CHECK(header_of("a,x\nb,x\na,y\n") == "none");
}

TEST_CASE("csv start: of texts alone, different ones that do not come again are names") {
  CHECK(header_of("plan,city\ngold,Bern\nbasic,Bern\n") == "names");
}

TEST_CASE("csv start: scikit-learn's first line counts rows and columns") {
  const std::string text = "3,2,setosa,virginica\n1,2,0\n3,4,1\n5,6,0\n";
  const auto start = find_csv_start(csv_rows(text), "x.csv");
  REQUIRE(start);
  CHECK(start->header == "counts");
  CHECK(start->names == std::vector<std::string>(3));
  CHECK(start->class_names == std::vector<std::string>{"setosa", "virginica"});
  CHECK(header_of("4,2,setosa,virginica\n1,2,0\n3,4,1\n5,6,0\n") == "none");
}

TEST_CASE("csv start: a file without rows is an error") {
  CHECK(header_of("") == "x.csv: is empty");
  CHECK(header_of("a,b\n").ends_with("no rows follow the names of the columns"));
}
