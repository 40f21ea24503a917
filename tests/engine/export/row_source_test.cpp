#include "engine/data/bytes/csv_fields.hpp"
#include "engine/export/source/row_source.hpp"
#include "engine/export/source/text_source.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

preprocessing of(std::vector<column_encoding> columns) {
  preprocessing how;
  how.width = columns.size();
  how.columns = std::move(columns);
  return how;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("row source: its words are those that data files are read by") {
  for (const auto& word : yes_words())
    CHECK(field_yes_no(word) == true);
  for (const auto& word : no_words())
    CHECK(field_yes_no(word) == false);
  for (const auto& word : blank_texts())
    CHECK(field_blank_number(word));
}

TEST_CASE("row source: rows are texts where a column is no number") {
  CHECK_FALSE(takes_texts(of({})));
  CHECK_FALSE(takes_texts(of({{.name = "age"}, {.blank_input = true}})));
  CHECK(takes_texts(of({{.name = "id", .kind = encoding_kind::ignore}, {}})));
}

TEST_CASE("row source: an input that says blank stands behind its column's") {
  CHECK(input_order(of({{}, {}})).empty());
  CHECK(input_order(of({{}, {.blank_input = true}, {}}))
        == std::vector<std::int64_t>{0, 1, 4, 2});
}

TEST_CASE("row source: only what the columns need is written") {
  const row_dialect dialect{
      .sine = "math.sin", .cosine = "torch.cos", .remainder = "r", .doubles = "d"};
  const auto numbers =
      row_methods(of({{.unit = "kg"}, {.kind = encoding_kind::ignore}}), dialect);
  CHECK(has(numbers, "def number(self, text, unit):"));
  CHECK(has(numbers, "text.find(\".\")"));
  CHECK(has(numbers, "for mark in [\",\", \" \", \"'\"]:"));
  CHECK(has(numbers, "values.append(self.number(row[0], \"kg\"))"));
  CHECK(has(numbers, "torch.tensor(encoded, dtype=d)"));
  CHECK_FALSE(has(numbers, "row[1]"));
  CHECK_FALSE(has(numbers, "def days"));
  auto comma = of({{}, {.kind = encoding_kind::date}});
  comma.decimal = ',';
  const auto dates = row_methods(comma, dialect);
  CHECK(has(dates, "text.find(\",\")"));
  CHECK(has(dates, "for mark in [\".\", \" \", \"'\"]:"));
  CHECK(has(dates, "6.283185307179586 * r(days, period) / period"));
  CHECK(has(dates, "values.append(math.sin(angle))"));
  CHECK(has(dates, "values.append(torch.cos(angle))"));
}

TEST_CASE("row source: a category keeps its values apart from what is unknown") {
  const auto how = of({{},
                       {.name = "plan",
                        .kind = encoding_kind::category,
                        .values = {"basic", "pro"},
                        .blank_input = true}});
  const auto known = known_values_of(how);
  REQUIRE(known.size() == 4);
  CHECK(known[0].name == "values1");
  CHECK(known[1].name == "minuses");
  const auto text = row_methods(how, {});
  CHECK(has(text, "values.extend(self.category(row[1], self.values1, 0.0))  # \"plan\""));
  CHECK(has(text, "values.append(0.0 if row[1] in self.values1 else 1.0)"));
}

TEST_CASE("row source: what fills a blank is its value or else the mean") {
  auto how = of({{}, {}, {}});
  CHECK(fills_of(how).empty());
  how.mean = {1, 2, 3};
  how.blanks = {NAN, 5, NAN};
  CHECK(fills_of(how) == std::vector<double>{1, 5, 3});
}

TEST_CASE("row source: arrays keep the sizes of their file") {
  preprocessing how;
  how.width = 12;
  how.shape = {{3, 2, 2}};
  CHECK(sizes_in_file(how).sizes == std::vector<std::int64_t>{3, 2, 2});
  how.layout = array_layout::channels_last;
  CHECK(sizes_in_file(how).sizes == std::vector<std::int64_t>{2, 2, 3});
  how.sizes = {{4, 3}};
  CHECK(sizes_in_file(how).sizes == std::vector<std::int64_t>{4, 3});
  how.target_column = 12;
  CHECK(sizes_in_file(how).sizes == std::vector<std::int64_t>{12});
}

TEST_CASE("row source: a column of sentences brings its terms and their weights") {
  const auto how = of({{},
                       {.name = "review",
                        .kind = encoding_kind::text,
                        .values = {"#goo", "bad"},
                        .blank_input = true,
                        .weights = {1.5, 2}}});
  CHECK(has_text_columns(how));
  CHECK_FALSE(has_text_columns(of({{}})));
  CHECK(takes_texts(how));
  const auto constants = text_constants(how);
  CHECK(has(constants, "values1 = [\"#goo\", \"bad\"]\n"));
  CHECK(has(constants, "weights1 = [1.5, 2]\n"));
  const auto text = row_methods(how, {});
  CHECK(
      has(text,
          "values.extend(self.text(row[1], self.places1, self.weights1))  # \"review\""));
  CHECK(has(text, "values.append(1.0 if row[1].lower() in [\"\", "));
  const auto methods = text_methods();
  CHECK(has(methods, "if len(word) > 40:"));
  CHECK(has(methods, "range(3, 5 + 1)"));
  CHECK(has(methods, "if count == 10000:"));
  CHECK(has(methods, "[(0x80, 0xa9), "));
}

TEST_CASE("row source: scores of sentences stand before their terms") {
  const auto how = of(
      {{.name = "review",
        .kind = encoding_kind::text,
        .values = {"bad"},
        .weights = {2},
        .scores = {.terms = {"#goo", "bad"},
                   .weights = {1.5, 2},
                   .fit = {.coefficients = {0.1F, -1, 2, 3}, .intercepts = {0.5F, 0}}}}});
  CHECK(has_text_scores(how));
  CHECK_FALSE(has_text_scores(of({{.kind = encoding_kind::text}})));
  const auto constants = text_constants(how);
  CHECK(has(constants, "in enumerate([\"#goo\", \"bad\"])}\n"));
  CHECK(has(constants, "score_weights0 = [1.5, 2]\n"));
  CHECK(has(constants, "coefficients0 = array.array(\"f\", [0.1, -1, 2, 3])\n"));
  CHECK(has(constants, "intercepts0 = array.array(\"f\", [0.5, 0])\n"));
  const auto text = row_methods(how, {});
  CHECK(text.find("self.scores(row[0], ") < text.find("self.text(row[0], "));
}
