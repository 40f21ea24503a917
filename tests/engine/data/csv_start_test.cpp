#include "engine/data/csv_start.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

std::string header_of(std::string_view text) {
  const auto start = find_csv_start(csv_rows(text), "x.csv");
  return start ? start->header : start.error().message;
}

} // namespace

TEST_CASE("csv start: names stand over numbers, also where other columns are texts") {
  CHECK(header_of("age,plan\n18,gold\n20,basic\n") == "names");
  CHECK(header_of("a,b\n1,2\n") == "names");
  CHECK(header_of(",a,b\n0,1,x\n1,2,y\n") == "names");
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
