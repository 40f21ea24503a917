#include "engine/data/profile/target_guess.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

column_profile column(const std::string& name, column_kind kind = column_kind::number) {
  column_profile c;
  c.name = name;
  c.kind = kind;
  return c;
}

std::string guess(const std::vector<column_profile>& columns, bool names = true) {
  const auto g = guess_target(columns, names);
  return g ? columns[g->column].name : g.error().message;
}

column_profile values(const std::vector<std::string>& texts) {
  column_profiler p("t");
  for (const auto& t : texts)
    p.add(t);
  return p.finish();
}

// So many rows of the numbers from `first` to `last`.
learning_task task(int first, int last, int rows) {
  std::vector<std::string> texts;
  for (int i = 0; i < rows; ++i)
    texts.push_back(std::to_string(first + i % (last - first + 1)));
  return task_of(values(texts));
}

} // namespace

TEST_CASE("target guess: a name for targets comes before a place") {
  CHECK(guess({column("y"), column("a"), column("b")}) == "y");
  CHECK(guess({column("a"), column("Wine_Class"), column("b")}) == "Wine_Class");
  CHECK(guess({column("a"), column("Outcome"), column("price")}) == "Outcome");
}

TEST_CASE("target guess: a name of what people predict is one, if it is alone or last") {
  CHECK(guess({column("a"), column("median_house_value"), column("ocean")})
        == "median_house_value");
  CHECK(guess({column("price"), column("a"), column("churned")}) == "churned");
  CHECK(guess({column("a"), column("SalePrice")}) == "SalePrice");
}

TEST_CASE("target guess: what people predict comes before a class and a coordinate") {
  CHECK(guess({column("class"), column("age"), column("sex"), column("survived")})
        == "survived");
  CHECK(guess({column("PClass"), column("Survived"), column("SexCode")}) == "Survived");
  CHECK(guess({column("carat"), column("price"), column("x"), column("y"), column("z")})
        == "price");
  CHECK(guess({column("price"), column("x"), column("y")}) == "price");
  CHECK(guess({column("x"), column("y"), column("z"), column("h")}) == "h");
  CHECK(guess({column("x"), column("y")}) == "y");
  CHECK(guess({column("value"), column("b"), column("class")}) == "class");
}

TEST_CASE("target guess: beside what became of a case, a vague name at the end is not "
          "taken") {
  CHECK(guess({column("survived"), column("age"), column("y")})
        == "several columns could be the target; say which column is to be predicted, "
           "--target COLUMN, such as \"survived\", \"y\"");
}

TEST_CASE("target guess: a last column that describes a case is not taken") {
  for (const char* name : {"Day", "size", "Age", "city_name"}) {
    CHECK(
        guess({column("a"), column("b"), column(name)})
            .ends_with(std::string(", rather describes a case; say which column is to be "
                                   "predicted, --target COLUMN, such as \"a\", \"b\", \"")
                       + name + "\""));
    CHECK(guess({column("a"), column(name, column_kind::number)}, false) == name);
  }
}

TEST_CASE("target guess: otherwise it is the last column") {
  CHECK(guess({column("a"), column("b")}) == "b");
  CHECK(guess({column(""), column("b")}, false) == "b");
}

TEST_CASE("target guess: where nothing is sure it asks, with the columns in question") {
  CHECK(guess({column("label"), column("target"), column("b")})
        == "several columns are named like a target; say which column is to be "
           "predicted, --target COLUMN, such as \"label\", \"target\"");
  CHECK(guess({column("price"), column("score"), column("b")})
        == "several columns could be the target; say which column is to be predicted, "
           "--target COLUMN, such as \"price\", \"score\"");
  CHECK(guess({column("a"), column("note", column_kind::text)})
        == "no column is named like a target, and the last one, \"note\", cannot be one "
           "(text); say which column is to be predicted, --target COLUMN, such as \"a\"");
  CHECK(guess({column("a")}).starts_with("there is one column"));
}

TEST_CASE("target guess: texts are classes and numbers are what they look like") {
  CHECK(task_of(values({"yes", "no", "yes"})) == classification);
  CHECK(task_of(values({"1.5", "2.5", "3.25"})) == regression);
  CHECK(task(0, 1, 10) == classification);
  CHECK(task(0, 9, 100) == classification);
  CHECK(task(3, 8, 100) == classification);
  CHECK(task(0, 9, 20) == regression);
  CHECK(task(1, 60, 6000) == regression);
  CHECK(task_of(values({"10", "20", "20", "70", "10", "70", "20"})) == regression);
  // A class of one row cannot be learnt.
  std::vector<std::string> rings{"20"};
  for (int i = 0; i < 190; ++i)
    rings.push_back(std::to_string(1 + i % 19));
  CHECK(task_of(values(rings)) == regression);
  // Nor are 200 numbers classes since one of them is infinite.
  std::vector<std::string> measured{"inf"};
  for (int i = 0; i < 200; ++i)
    measured.push_back(std::to_string(i) + ".5");
  CHECK(task_of(values(measured)) == regression);
}
