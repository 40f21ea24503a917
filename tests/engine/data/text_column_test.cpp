#include "engine/data/profile/data_profile.hpp"
#include "engine/data/profile/infer_columns.hpp"
#include "engine/data/reading/preprocessing.hpp"
#include "engine/data/texts/vocabulary.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace clade;

namespace {

using texts = std::vector<std::string>;

/// A sentence of which one word tells the class; some begin with a quote.
std::string sentence(int i) {
  const texts told{"dull", "splendid"}, filling{"story", "camera", "cast", "sound"};
  return (i % 10 == 0 ? "\"the " : "the ") + filling[static_cast<std::size_t>(i % 4)]
         + " is " + told[static_cast<std::size_t>(i % 2)] + " , \"so\" it's no "
         + std::to_string(i);
}

std::string lines_of(const std::string& between, int rows = 100) {
  std::string out;
  for (int i = 0; i < rows; ++i)
    out += (i % 2 == 0 ? "0" : "1") + between + sentence(i) + "\n";
  return out;
}

struct read_texts {
  scratch_folder folder;
  data_params params;
  preprocessing how;

  explicit read_texts(const std::string& bytes, data_params p = {})
      : params(std::move(p)) {
    params.file = write(folder, "t.txt", bytes);
    auto inferred = infer_columns(params);
    if (!inferred)
      FAIL(without(inferred.error().message, folder));
    params = inferred->params;
    auto fitted = fit_preprocessing(params, 1);
    if (!fitted)
      FAIL(without(fitted.error().message, folder));
    how = std::move(*fitted);
  }

  [[nodiscard]] new_examples read(const std::string& bytes) const {
    auto e = read_new_examples(write(folder, "new.txt", bytes), "", params, how);
    if (!e)
      FAIL(without(e.error().message, folder));
    return std::move(*e);
  }

  /// The examples whose inputs in training are others than as new ones; they must be for
  /// training, and differ in scores alone.
  [[nodiscard]] std::vector<std::size_t> differing(const new_examples& e) const {
    const auto data = load_data(params, 1, {});
    REQUIRE(data);
    const auto trained = data->features.values();
    const std::size_t width = how.inputs();
    REQUIRE(e.features.size() == trained.size());
    const auto numbers = numbers_of(how.columns);
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < trained.size(); ++i)
      if (e.features[i] != trained[i]) {
        CHECK(numbers[i % width]);
        const auto example = static_cast<std::uint32_t>(i / width);
        CHECK(std::ranges::find(data->train, example) != data->train.end());
        if (out.empty() || out.back() != example)
          out.push_back(example);
      }
    return out;
  }
};

data_profile profile_of(const std::string& bytes) {
  const scratch_folder folder;
  auto found = profile_data({.file = write(folder, "t.txt", bytes)});
  if (!found)
    FAIL(without(found.error().message, folder));
  return std::move(*found);
}

bool has(const texts& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

} // namespace

TEST_CASE("text column: lines of a label and a sentence are a table, however quoted") {
  for (const std::string between : {" ", "\t"}) {
    const auto p = profile_of(lines_of(between));
    CHECK(p.target_column == 0);
    CHECK(p.target_found == target_reason::beside_texts);
    CHECK(p.task.name == classification.name);
    REQUIRE(p.table.columns.size() == 2);
    CHECK(p.table.columns[1].kind == column_kind::text);
    CHECK(use_of(p.table.columns[1]) == column_use{.as = column_kind::text});
    CHECK(p.rows == 100);
  }
  CHECK(profile_of(lines_of(" ")).delimiter == "first blank");
}

TEST_CASE("text column: a vocabulary is what tells of the target in the training part") {
  const read_texts f(lines_of(" "), {.target = "1"});
  CHECK(f.params.columns == std::vector<column_choice>{{"2", encoding_kind::text}});
  REQUIRE(f.how.columns.size() == 1);
  const auto& column = f.how.columns.front();
  CHECK(has(column.values, "splendid"));
  CHECK(has(column.values, "is dull"));
  CHECK(has(column.values, "#splen"));
  CHECK_FALSE(has(column.values, "the"));
  CHECK_FALSE(has(column.values, "it's"));
  CHECK(column.weights.size() == column.values.size());
  // The score stands first, and is scaled.
  CHECK(column.scores.count() == 1);
  CHECK(has(column.scores.terms, "story"));
  CHECK_FALSE(has(column.scores.terms, "the"));
  std::vector<bool> numbers(1 + column.values.size(), false);
  numbers.front() = true;
  CHECK(numbers_of(f.how.columns) == numbers);
}

TEST_CASE("text column: terms alone are its inputs where that is asked for") {
  const read_texts f(lines_of(" "), {.target = "1", .texts = text_rule::terms});
  const auto& column = f.how.columns.front();
  CHECK(column.scores.count() == 0);
  CHECK(has(column.values, "splendid"));
  CHECK(numbers_of(f.how.columns) == std::vector<bool>(column.values.size(), false));
}

TEST_CASE("text column: the data read as new is what was trained on, but for scores that "
          "had seen the target") {
  for (const std::string between : {" ", "\t", ","}) {
    std::string rows;
    for (int i = 0; i < 100; ++i)
      rows +=
          std::string(i % 2 == 0 ? "0" : "1") + between
          + (between == "," ? "\"the story, it is "
                                  + texts{"dull", "fine"}[static_cast<std::size_t>(i % 2)]
                                  + " " + std::to_string(i) + "\""
                            : sentence(i))
          + "\n";
    for (const auto rule : {text_rule::terms, text_rule::scores}) {
      const read_texts f(rows, {.target = "1", .texts = rule});
      const auto again = f.read(rows);
      CHECK(f.differing(again).size() == (rule == text_rule::terms ? 0 : 60));
      REQUIRE(again.targets);
      CHECK(again.targets->unknown == 0);
      CHECK(again.targets->values[1] == 1);
    }
  }
}

TEST_CASE("text column: new texts need no class, nor be of words that are known") {
  const read_texts f(lines_of(" "), {.target = "1"});
  const auto width = f.how.inputs(), scores = f.how.columns.front().scores.count();
  const auto alone =
      f.read("the cast is dull\nnothing of it, \"at any\nthe cast is dull\n");
  CHECK(alone.count == 3);
  CHECK_FALSE(alone.targets);
  REQUIRE(alone.features.size() == 3 * width);
  CHECK(std::equal(alone.features.begin(),
                   alone.features.begin() + static_cast<std::ptrdiff_t>(width),
                   alone.features.begin() + static_cast<std::ptrdiff_t>(2 * width)));
  CHECK(std::all_of(alone.features.begin() + static_cast<std::ptrdiff_t>(width + scores),
                    alone.features.begin() + static_cast<std::ptrdiff_t>(2 * width),
                    [](float v) { return v == 0; }));
  const auto one = f.read("0 the cast is dull\n");
  CHECK(one.targets);
  CHECK(std::equal(one.features.begin(), one.features.end(), alone.features.begin()));
}

TEST_CASE("text column: texts stand beside numbers and categories, blank ones too") {
  std::string rows = "age,review,plan,churn\n";
  for (int i = 0; i < 200; ++i)
    rows +=
        std::to_string(i % 50) + ","
        + (i % 10 == 3 ? ""
                       : "\"a " + texts{"dull", "fine"}[static_cast<std::size_t>(i % 2)]
                             + " film of no " + std::to_string(i) + "\"")
        + "," + (i % 3 == 0 ? "pro" : "basic") + "," + (i % 2 == 0 ? "stay" : "leave")
        + "\n";
  const read_texts f(rows, {.target = "churn"});
  REQUIRE(f.how.columns.size() == 3);
  CHECK(f.how.columns[1].kind == encoding_kind::text);
  CHECK(f.how.columns[1].blank_input);
  const auto data = load_data(f.params, 1, {});
  REQUIRE(data);
  CHECK(data->columns[1].inputs == 1 + f.how.columns[1].values.size() + 1);
  CHECK(f.differing(f.read(rows)).size() > 50);
  // Numbers and scores alone are scaled.
  CHECK(data->numbers[0]);
  CHECK(data->numbers[1]);
  CHECK(std::ranges::count(data->numbers, true) == 2);
}

TEST_CASE("text column: numbers are told by texts, too") {
  std::string rows = "review,price\n";
  for (int i = 0; i < 120; ++i)
    rows += "a house with " + std::string(i % 3 == 0 ? "large garden" : "small kitchen")
            + " number " + std::to_string(i) + ","
            + std::to_string(i % 3 == 0 ? 900 + i : 100 + i) + "\n";
  const read_texts f(rows, {.target = "price", .task = regression});
  CHECK(has(f.how.columns.front().values, "garden"));
  CHECK_FALSE(has(f.how.columns.front().values, "house"));
}

TEST_CASE(
    "text column: texts that tell nothing are an error where there is nothing else") {
  const scratch_folder folder;
  std::string rows = "note,class\n";
  for (int i = 0; i < 60; ++i)
    rows += std::string("a note of words,") + (i % 2 == 0 ? "u" : "v") + "\n";
  const auto data = load_data(
      {.file = write(folder, "t.csv", rows), .columns = {{"note", encoding_kind::text}}},
      1, {});
  REQUIRE_FALSE(data);
  CHECK(without(data.error().message, folder)
        == "t.csv: no word of the training part's texts tells anything of the target "
           "beyond chance; more rows, or a column beside the texts, may");
}

TEST_CASE("text column: a vocabulary is as small as examples and columns are many") {
  CHECK(terms_of_each(6000, 1, 1000) == 6000);
  CHECK(terms_of_each(6000, 2, 1000) == 3000);
  CHECK(terms_of_each(6000, 1, 1'000'000) == 100);
  CHECK(terms_of_each(300, 0, 0) == 300);
}

TEST_CASE("text column: several columns have a score each, of numbers too") {
  std::string rows = "praise,price,blame\n";
  for (int i = 0; i < 120; ++i)
    rows += "a house with " + std::string(i % 3 == 0 ? "large garden" : "small kitchen")
            + " number " + std::to_string(i) + ","
            + std::to_string((i % 3 == 0 ? 900 : 100) - i % 7 * 10) + ",it has "
            + std::to_string(i % 7) + " broken windows or doors\n";
  const read_texts f(rows, {.target = "price",
                            .task = regression,
                            .columns = {{"praise", encoding_kind::text},
                                        {"blame", encoding_kind::text}}});
  for (const auto& column : f.how.columns)
    CHECK(column.scores.count() == 1);
  const auto both =
      f.read("praise,blame\n"
             "a house with large garden number 500,it has 0 broken windows\n"
             "a house with small kitchen number 501,it has 6 broken windows\n");
  CHECK(both.features[0] > both.features[f.how.inputs()]);
}

TEST_CASE("text column: many classes have terms, and no scores") {
  std::string rows = "note,class\n";
  for (int i = 0; i < 606; ++i)
    rows += "the word is w" + std::to_string(i % 101) + " in no " + std::to_string(i)
            + ",c" + std::to_string(i % 101) + "\n";
  const read_texts f(rows,
                     {.target = "class", .columns = {{"note", encoding_kind::text}}});
  CHECK(f.how.columns.front().scores.count() == 0);
  CHECK(has(f.how.columns.front().values, "w7"));
}

TEST_CASE("text column: what is stored of it comes back") {
  const read_texts f(lines_of(" "), {.target = "1"});
  REQUIRE(f.how.columns.front().scores.count() == 1);
  encoder out;
  encode(out, f.how);
  const auto bytes = out.take();
  decoder in(bytes);
  const auto back = decode_preprocessing(in);
  REQUIRE_FALSE(in.failed());
  CHECK(back.columns == f.how.columns);
}

TEST_CASE("text column: scores that do not fit their terms are refused") {
  const read_texts f(lines_of(" "), {.target = "1"});
  const auto refused = [&](auto&& spoil) {
    auto how = f.how;
    spoil(how.columns.front().scores);
    encoder out;
    encode(out, how);
    const auto bytes = out.take();
    decoder in(bytes);
    static_cast<void>(decode_preprocessing(in));
    return in.failed();
  };
  CHECK_FALSE(refused([](text_scores&) {}));
  CHECK(refused([](text_scores& s) { s.fit.coefficients.pop_back(); }));
  CHECK(refused([](text_scores& s) { s.fit.coefficients.front() = NAN; }));
  CHECK(refused([](text_scores& s) { s.weights.pop_back(); }));
  CHECK(refused([](text_scores& s) { s.weights.front() = 0; }));
  CHECK(refused([](text_scores& s) { std::swap(s.terms.front(), s.terms.back()); }));
  CHECK(refused([](text_scores& s) { s.fit.intercepts.push_back(0); }));
}
