#include "engine/data/profile/data_profile.hpp"
#include "engine/data/profile/infer_columns.hpp"
#include "engine/data/profile/target_guess.hpp"
#include "engine/data/reading/cached_form.hpp"
#include "engine/data/reading/preprocessing.hpp"
#include "engine/data/tables/label_lists.hpp"
#include "genome/base/random.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <cmath>
#include <set>

using namespace clade;

namespace {

using texts = std::vector<std::string>;

// Twenty rows: x counts, a is 2 x + 1, b is -x / 10, and the labels say whether x is even,
// and above 9.
std::string rows_of_targets() {
  std::string text = "x,a,even,b,large\n";
  for (int x = 0; x < 20; ++x)
    text += std::to_string(x) + "," + std::to_string(2 * x + 1) + ","
            + (x % 2 == 0 ? "yes" : "no") + ",-" + std::to_string(x / 10) + "."
            + std::to_string(x % 10) + "," + (x > 9 ? "1" : "0") + "\n";
  return text;
}

// Rows with the labels "even" and "large" of `rows_of_targets`, written as lists.
std::string rows_of_lists(const std::string& mark = "|") {
  std::string text = "x,tags\n";
  for (int x = 0; x < 20; ++x) {
    const std::string even = x % 2 == 0 ? "even" : "";
    const std::string large = x > 9 ? "large" : "";
    text += std::to_string(x) + "," + even + (even.empty() || large.empty() ? "" : mark)
            + large + "\n";
  }
  return text;
}

data_params numbers() {
  return {.targets = {"a", "b"}, .task = regression, .ignore = {"even", "large"}};
}

data_params labels() {
  return {.targets = {"even", "large"}, .task = multilabel, .ignore = {"a", "b"}};
}

data_set load(const std::string& bytes, data_params params) {
  const scratch_folder folder;
  params.file = write(folder, "x.csv", bytes);
  auto data = load_data(params, 1, {});
  if (!data)
    FAIL(data.error().message);
  return std::move(*data);
}

preprocessing preparation_of(const data_set& data) {
  decoder in(data.preparation);
  auto how = decode_preprocessing(in);
  REQUIRE(in.finish());
  return how;
}

new_examples read_new(const std::string& bytes, const data_set& data,
                      data_params params) {
  const scratch_folder folder;
  const auto file = write(folder, "new.csv", bytes);
  params.file = file;
  auto read = read_new_examples(file, "", params, preparation_of(data));
  if (!read)
    FAIL(read.error().message);
  return std::move(*read);
}

} // namespace

TEST_CASE("several targets: columns that give any of them away are found") {
  std::string text = "x,a,b,twice_b,label,other,filled\n";
  auto random = derive(1, purpose::synthetic, 0, 0);
  for (int row = 0; row < 200; ++row) {
    const bool label = random.chance(0.5);
    const double b = random.normal();
    text += fmt::format("{},{},{},{},{},{},{}\n", random.normal(), random.normal(), b,
                        2 * b, label ? "yes" : "no", random.chance(0.5) ? "yes" : "no",
                        label ? "done" : "");
  }
  const scratch_folder folder;
  const auto file = write(folder, "x.csv", text);
  const auto suspected = [&](const texts& targets) {
    const auto p = profile_data({.file = file, .targets = targets});
    REQUIRE(p);
    texts all;
    for (const auto& s : p->suspicions)
      if (!s.target.empty())
        all.push_back((s.names.empty() ? s.column : s.names.front()) + " of " + s.target);
    return all;
  };
  CHECK(suspected({"a", "b"}) == texts{"twice_b of b"});
  CHECK(suspected({"other", "label"}) == texts{"filled of label"});
}

TEST_CASE("several targets: numbers are standardised each by its own mean") {
  const auto data = load(rows_of_targets(), numbers());
  CHECK(data.classes == texts{"a", "b"});
  CHECK(data.shape == tensor_shape{{1}}); // No target is an input.
  CHECK(data.as_problem().outputs == 2);
  CHECK(data.as_problem().apart);
  REQUIRE(data.target_scales.size() == 2);
  REQUIRE(data.targets.size() == 40);
  for (std::size_t i = 0; i < 20; ++i) {
    const auto value = [&](std::size_t target) {
      const auto& scale = data.target_scales[target];
      return data.targets[2 * i + target] * scale.deviation + scale.mean;
    };
    CHECK(value(0) == Approx(2.0 * static_cast<double>(i) + 1).margin(1e-5));
    CHECK(value(1) == Approx(-static_cast<double>(i) / 10).margin(1e-6));
  }
  double sum = 0;
  for (const auto i : data.train)
    sum += data.targets[2 * i + 1];
  CHECK(sum == Approx(0).margin(1e-5));
}

TEST_CASE("several targets: labels are columns of yes and no, or lists") {
  const auto columns = load(rows_of_targets(), labels());
  CHECK(columns.classes == texts{"even", "large"});
  CHECK(columns.target_scales == std::vector<target_scale>{{}});
  for (const std::string mark : {"|", ";", " "}) {
    const auto lists = load(rows_of_lists(mark), {.target = "tags", .task = multilabel});
    CHECK(lists.classes == columns.classes);
    CHECK(lists.targets == columns.targets);
  }
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(columns.targets[2 * i] == (i % 2 == 0 ? 1 : 0));
    CHECK(columns.targets[2 * i + 1] == (i > 9 ? 1 : 0));
  }
}

TEST_CASE(
    "several targets: a row that lacks one is left out, and one without labels not") {
  auto text = rows_of_targets() + "20,41,yes,,1\n21,43,,-2.1,1\n";
  CHECK(load(text, numbers()).examples == 21);
  CHECK(load(text, labels()).examples == 21);
  CHECK(load(rows_of_lists(), {.target = "tags", .task = multilabel}).examples == 20);
}

TEST_CASE("several targets: what is wrong with them is said with its line") {
  const auto text = rows_of_targets();
  CHECK(error_of("x.csv", text + "20,41,perhaps,-2,1\n", labels())
        == "x.csv:22: column 3 (\"even\"), a label, is \"perhaps\", where 1 or 0, or yes "
           "or no, must be");
  CHECK(
      error_of("x.csv", text + "20,many,yes,-2,1\n", numbers())
          .starts_with("x.csv:22: column 2 (\"a\") is \"many\", where a number must be"));
  auto params = numbers();
  params.targets = {"a", "a"};
  CHECK(error_of("x.csv", text, params)
        == "x.csv:1: column 2 (\"a\") is named twice as target");
  params.targets = {"a", "c"};
  CHECK(error_of("x.csv", text, params).find("c") != std::string::npos);
  params = numbers();
  params.ignore.emplace_back("a");
  CHECK(error_of("x.csv", text, params)
        == "x.csv:1: column 2 (\"a\") is named twice, as target and ignore");
  CHECK(error_of("x.csv", "x,a,b\n1,2,3\n2,4,3\n3,6,3\n4,8,3\n5,10,3\n",
                 {.targets = {"a", "b"}, .task = regression})
        == "x.csv: \"b\" is the same number in all of the train part");
  CHECK(error_of("x.csv", "x,tags\n1,\n2,\n3,\n4,\n5,\n",
                 {.target = "tags", .task = multilabel})
        == "x.csv: no example has a label");
  CHECK(error_of("x.csv", "x,tags\n1,a\n2,a\n3,a\n4,a\n5,a\n",
                 {.target = "tags", .task = multilabel})
        == "x.csv: all examples of the train part have the same labels");
  CHECK(error_of("x.csv", text, {.targets = {"a"}, .task = regression})
        == "targets is for several columns; write target = \"a\"");
  CHECK(error_of("x.csv", text, {.targets = {"a", "b"}})
        == "several targets are numbers or labels; say task = \"regression\" or task = "
           "\"multilabel\"");
}

TEST_CASE("several targets: a test file has the same labels in any order") {
  const scratch_folder folder;
  data_params params{.target = "tags", .task = multilabel};
  params.file = write(folder, "x.csv", rows_of_lists());
  params.test_file = write(folder, "t.csv", "x,tags\n12,large|even\n13,large\n1,\n");
  const auto data = load_data(params, 1, {});
  REQUIRE(data);
  CHECK(std::vector<float>(data->targets.end() - 6, data->targets.end())
        == std::vector<float>{1, 1, 0, 1, 0, 0});
  params.test_file = write(folder, "u.csv", "x,tags\n12,large|odd\n13,large\n");
  CHECK(without(load_data(params, 1, {}).error().message, folder)
        == "u.csv:2: the training data does not have the label \"odd\"");
}

TEST_CASE("several targets: a cache and a stored preparation bring all back") {
  const scratch_folder folder;
  const data_cache cache{.folder = folder.path() / "cache", .least_bytes = 1};
  for (auto params : {numbers(), labels()}) {
    params.file = write(folder, "x.csv", rows_of_targets());
    const auto plain = load_data(params, 1, {});
    (void)load_data(params, 1, cache);
    const auto cached = load_data(params, 1, cache);
    REQUIRE(plain);
    REQUIRE(cached);
    CHECK(cached->task == params.task);
    CHECK(cached->classes == plain->classes);
    CHECK(cached->targets == plain->targets);
    CHECK(cached->target_scales == plain->target_scales);
    const auto how = preparation_of(*cached);
    CHECK(how.target_scales == plain->target_scales);
    CHECK(how.classes == plain->classes);
    CHECK_FALSE(how.target_column);
  }
  // Others are other data.
  auto other = numbers();
  other.targets = {"b", "a"};
  other.file = folder.path() / "x.csv";
  CHECK(load_data(other, 1, cache)->classes == texts{"b", "a"});
}

TEST_CASE("several targets: those of new rows are compared with where all are there") {
  const auto trained = load(rows_of_targets(), numbers());
  auto read = read_new("b,x,a\n-1.5,15,31\n,16,33\n-1.7,17,many\n", trained, numbers());
  REQUIRE(read.targets);
  const auto& values = read.targets->values;
  REQUIRE(values.size() == 6);
  CHECK(values[0] == 31);
  CHECK(values[1] == -1.5);
  CHECK(std::isnan(values[2]));
  CHECK(std::isnan(values[3]));
  CHECK(std::isnan(values[5]));
  CHECK(read.targets->blanks == 1);
  CHECK(read.targets->unknown == 1);
  CHECK(read.targets->example == "many");
  CHECK_FALSE(read_new("x,a\n15,31\n", trained, numbers()).targets);
  CHECK(read_new("x\n15\n", trained, numbers()).count == 1);

  const auto tagged = load(rows_of_lists(), {.target = "tags", .task = multilabel});
  read = read_new("x,tags\n12,large; even\n3,\n5,odd|large\n7,large\n", tagged,
                  {.target = "tags", .task = multilabel});
  REQUIRE(read.targets);
  CHECK(
      std::vector<double>(read.targets->values.begin(), read.targets->values.begin() + 4)
      == std::vector<double>{1, 1, 0, 0});
  CHECK(read.targets->unknown == 1);
  CHECK(read.targets->example == "odd");
  CHECK(read.targets->values[7] == 1);
}

TEST_CASE("label lists: they hold what was joined, whatever the mark") {
  REQUIRE(rc::check([] {
    const auto marks = std::string("|;,");
    const char mark = marks[*rc::gen::inRange<std::size_t>(0, marks.size())];
    const auto drawn = *rc::gen::container<std::vector<std::vector<int>>>(
        rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 9)));
    // A single label with a blank in it would be two.
    std::vector<std::set<int>> sets{{0, 1}};
    for (const auto& one : drawn)
      sets.emplace_back(one.begin(), one.end());
    examples e;
    std::set<int> all;
    for (const auto& set : sets) {
      std::string list;
      for (const int label : set)
        list += (list.empty() ? "" : std::string(1, mark) + " ") + "label "
                + std::to_string(label);
      all.insert(set.begin(), set.end());
      e.labels.push_back(static_cast<std::uint32_t>(e.classes.size()));
      e.classes.push_back(list);
    }
    e.count = sets.size();
    take_label_lists(e);
    RC_ASSERT(e.classes.size() == all.size());
    RC_ASSERT(outputs_of(e) == all.size());
    for (std::size_t i = 0; i < sets.size(); ++i)
      for (std::size_t k = 0; k < e.classes.size(); ++k) {
        const int label = e.classes[k].back() - '0';
        RC_ASSERT(e.targets[i * e.classes.size() + k]
                  == (sets[i].contains(label) ? 1 : 0));
      }
  }));
}

TEST_CASE("several targets: columns of them are no inputs, whoever looks") {
  const scratch_folder folder;
  const auto file = write(folder, "x.csv", rows_of_targets());
  auto found = profile_data({.file = file, .targets = {"a", "b"}});
  REQUIRE(found);
  CHECK(found->task == regression);
  CHECK(found->targets == std::vector<std::size_t>{1, 3});
  CHECK(found->shape == tensor_shape{{2}}); // x numbers the rows.
  found = profile_data({.file = file, .targets = {"even", "large"}});
  REQUIRE(found);
  CHECK(found->task == multilabel);
  const auto refused = profile_data({.file = file, .targets = {"a", "a"}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("twice") != std::string::npos);
  CHECK_FALSE(profile_data({.file = file, .targets = {"a"}}));

  data_params params{.targets = {"a", "b"}, .task = regression};
  params.file = file;
  const auto inferred = infer_columns(params);
  REQUIRE(inferred);
  CHECK(inferred->params.ignore.empty());
  CHECK(load(rows_of_targets(), inferred->params).shape == tensor_shape{{3}});
}

TEST_CASE("several targets: lists of labels are told from other texts") {
  const auto of = [](const texts& values) {
    column_profile p;
    for (const auto& v : values)
      p.frequent.push_back({.value = v, .count = 3});
    p.distinct = values.size();
    p.rows = 3 * values.size();
    return are_label_lists(p);
  };
  CHECK(of({"a|b", "a", "b", "b|c", "c", "a|b|c"}));
  CHECK(of({"red, round", "red", "round", "soft", "red, soft"}));
  CHECK_FALSE(of({"a", "b", "c", "d", "e", "f"}));
  CHECK_FALSE(of({"Paris, France", "Rome, Italy", "Oslo, Norway", "Bern, Switzerland",
                  "Kyiv, Ukraine"}));
  CHECK_FALSE(of({"1|2", "1"})); // Too few to tell.
}

TEST_CASE("several targets: an array of them has a row for each example") {
  const scratch_folder folder;
  data_params params{.task = multilabel, .shape = {{1, 2, 2}}};
  std::string pixels, has;
  for (int i = 0; i < 8; ++i) {
    pixels += std::string(4, static_cast<char>(10 * i));
    has += std::string{static_cast<char>(i % 2), static_cast<char>(i / 4), '\0'};
  }
  params.file = write(folder, "x.npy", npy("|u1", "(8, 2, 2)", pixels));
  params.target_file = write(folder, "y.npy", npy("|u1", "(8, 3)", has));
  const auto data = load_data(params, 1, {});
  REQUIRE(data);
  CHECK(data->classes == texts{"1", "2", "3"});
  CHECK(std::vector<float>(data->targets.begin() + 15, data->targets.begin() + 18)
        == std::vector<float>{1, 1, 0});
  auto found = profile_data({.file = params.file, .target = params.target_file.string()});
  REQUIRE(found);
  CHECK(found->task == multilabel);
  CHECK(found->several());

  has[4] = 7;
  params.target_file = write(folder, "z.npy", npy("|u1", "(8, 3)", has));
  const auto refused = load_data(params, 1, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("a label is 7, where 1 or 0 must be")
        != std::string::npos);
  found = profile_data({.file = params.file, .target = params.target_file.string()});
  REQUIRE(found);
  CHECK(found->task == regression);
  params.task = classification;
  CHECK(load_data(params, 1, {}).error().message.find("say task = \"regression\"")
        != std::string::npos);
  params.task = multilabel;
  params.target_file = write(folder, "o.npy", npy("|u1", "(8,)", has.substr(0, 8)));
  CHECK(load_data(params, 1, {}).error().message.find("[examples, labels]")
        != std::string::npos);
}

TEST_CASE("quantiles: each is an output with the same target") {
  const auto plain =
      load(rows_of_targets(),
           {.target = "a", .task = regression, .ignore = {"even", "large", "b"}});
  data_params params{.target = "a",
                     .task = quantiles,
                     .quantiles = {0.05, 0.5},
                     .ignore = {"even", "large", "b"}};
  const auto data = load(rows_of_targets(), params);
  CHECK(data.classes == texts{"q0.05", "q0.5"});
  CHECK(data.as_problem().outputs == 2);
  CHECK(data.as_problem().apart);
  const auto& scale = plain.target_scales.front();
  CHECK(data.target_scales
        == std::vector<target_scale>{{scale.mean, scale.deviation, 0.05},
                                     {scale.mean, scale.deviation, 0.5}});
  for (std::size_t i = 0; i < plain.targets.size(); ++i)
    for (const std::size_t output : {0, 1})
      CHECK(data.targets[2 * i + output] == plain.targets[i]);
  // A stored preparation and the cache bring all back.
  const auto how = preparation_of(data);
  CHECK(how.target_scales == data.target_scales);
  CHECK(how.task == quantiles);
  const auto cached = parse_cached_form(cached_form(data));
  REQUIRE(cached);
  CHECK(cached->target_scales == data.target_scales);
  // Each output of a new row has its target, to be compared with.
  const auto with = read_new("x,a\n3,7\n4,\n", data, params);
  REQUIRE(with.targets);
  REQUIRE(with.targets->values.size() == 4);
  CHECK(with.targets->values[0] == 7);
  CHECK(with.targets->values[1] == 7);
  CHECK(std::isnan(with.targets->values[2]));
  CHECK(with.targets->blanks == 1);
}

TEST_CASE("quantiles: what they cannot be is said") {
  const auto text = rows_of_targets();
  const auto wrong = [&](data_params params) { return error_of("x.csv", text, params); };
  const auto of = [](std::vector<double> all) {
    return data_params{.target = "a", .task = quantiles, .quantiles = std::move(all)};
  };
  const std::string rule =
      "quantiles must be above 0, below 1 and in rising order, such as [0.1, 0.5, 0.9]; ";
  CHECK(wrong(of({0.5, 0.1})) == rule + "0.1 is not");
  CHECK(wrong(of({0, 0.1})) == rule + "0 is not");
  CHECK(wrong(of({0.5, 1.5})) == rule + "1.5 is not");
  CHECK(wrong(of({std::nan("")})) == rule + "nan is not");
  CHECK(wrong(of({})) == "quantiles must be 1 to 100");
  CHECK(wrong({.target = "a", .task = regression, .quantiles = {0.2}})
        == "quantiles are of a number: say task = \"quantiles\"");
  CHECK(wrong({.targets = {"a", "b"}, .task = quantiles})
        == "quantiles are of one number; write target in place of targets");
  auto ahead = of({0.5});
  ahead.forecast.horizon = 3;
  CHECK(wrong(ahead).starts_with("quantiles of forecasts are not learnt"));
}
