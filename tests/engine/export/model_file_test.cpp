#include "engine/export/model/model_file.hpp"
#include "engine/export/model/stored_forecast.hpp"
#include "engine/export/source/safetensors.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "tests/engine/training/plain_network.hpp"
#include "tests/support/models.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace clade;

namespace {

const bytes whole = encode_safetensors(test::a_tiny_model());

std::string error_of(const bytes& file) {
  const auto m = decode_model(file);
  return m ? "no error" : m.error().message;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// With other text in its header, of the same length, and a right checksum.
bytes with(const std::string& from, const std::string& to) {
  bytes file = whole;
  const auto at = file.find(from);
  REQUIRE(at != bytes::npos);
  REQUIRE(from.size() == to.size());
  file.replace(at, from.size(), to);
  REQUIRE(seal(file));
  return file;
}

std::string error_of(exported_model m) {
  return error_of(encode_safetensors(m));
}

/// An ensemble of two members with random weights, as it is and as it is read back.
struct read_ensemble {
  network joined;
  std::vector<weight_tensor> weights;
  trained_network read;
};

/// Gives the model the network of its members, and reads it back.
read_ensemble read_back(exported_model& m, mixed_answers what) {
  const auto space = parse_search_space(m.origin->search_space, "its space").value();
  auto n = decode_mixture(space, m.origin->members, m.how.as_problem(), what);
  INFO((n ? "" : n.error().message));
  REQUIRE(n);
  auto weights = test::random_weights(*n, 1);
  weights.push_back({"mixture.shares", {2}, {0.5F, 0.5F}});
  weights.push_back({"mixture.temperature", {1}, {1}});
  const auto parts = export_network(*n, weights);
  INFO((parts ? "" : parts.error().message));
  REQUIRE(parts);
  m.steps = parts->steps;
  m.weights = parts->weights;
  m.run_tensors = parts->run_tensors;
  auto read = decode_model(encode_safetensors(m));
  INFO((read ? "" : read.error().message));
  REQUIRE(read);
  return {std::move(*n), std::move(weights), std::move(*read)};
}

} // namespace

TEST_CASE("model file: it holds the network, its weights and how examples are read") {
  const auto m = decode_model(whole);
  REQUIRE(m);
  CHECK(m->network == test::a_tiny_network());
  CHECK(m->weights == test::tiny_weights());
  CHECK(m->reading.header == "auto");
  CHECK(m->reading.array == "x");
  CHECK(m->reading.target == "sold");
  CHECK(m->reading.task == classification);
  encoder before, after;
  encode(before, test::a_preprocessing());
  encode(after, m->how);
  CHECK(before.take() == after.take());
  const raw_rows rows{.origin = "x",
                      .count = 2,
                      .values = std::vector<float>{7, 0, 1, NAN, 1, 0},
                      .lines = {}};
  const auto prepared = prepare(rows, m->how);
  REQUIRE(prepared);
  CHECK(*prepared == *prepare(rows, test::a_preprocessing()));
}

TEST_CASE("model file: an ensemble has the linear model, boosted trees and genomes") {
  auto m = test::a_tiny_model();
  const auto p = m.how.as_problem();
  const auto space = parse_search_space(m.origin->search_space, "its space").value();
  m.origin->members = {linear_member(), tree_sizes{.trees = 3, .depth = 2},
                       candidate_member{m.origin->genes}};
  const auto n =
      decode_mixture(space, m.origin->members, p, mixed_answers::probabilities).value();
  auto weights = test::random_weights(n, 1);
  weights.push_back({"mixture.shares", {3}, {0.5F, 0.25F, 0.25F}});
  weights.push_back({"mixture.temperature", {1}, {1}});
  const auto taken_apart = export_network(n, weights);
  INFO((taken_apart ? "" : taken_apart.error().message));
  REQUIRE(taken_apart);
  m.steps = taken_apart->steps;
  m.weights = taken_apart->weights;
  m.run_tensors = taken_apart->run_tensors;
  const auto read = decode_model(encode_safetensors(m));
  INFO((read ? "" : read.error().message));
  REQUIRE(read);
  CHECK(read->network == n);
  CHECK(read->weights == weights);
  const auto bounded =
      decode_mixture(space, m.origin->members, p, mixed_answers::bounded_probabilities)
          .value();
  weights.push_back({"mixture.least", {1}, {0.125F}});
  auto with = m;
  const auto parts = export_network(bounded, weights).value();
  with.steps = parts.steps;
  with.weights = parts.weights;
  with.run_tensors = parts.run_tensors;
  const auto again = decode_model(encode_safetensors(with));
  REQUIRE(again);
  CHECK(again->network == bounded);
  CHECK(again->weights == weights);
  m.origin->members[1] = tree_sizes{.trees = 3, .depth = 20};
  CHECK(has(error_of(m), "trees of impossible size or place"));
}

TEST_CASE("model file: an ensemble of sequences has random convolutions") {
  auto m = test::a_tiny_model();
  m.how = {.shape = {{4, 2}}, .width = 8, .classes = {"no", "yes"}};
  m.how.checksum = {1, 2};
  m.origin->members = {linear_member(),
                       convolution_sizes{.dilations = 1, .groups = 1, .thresholds = 2}};
  const auto [joined, weights, read] = read_back(m, mixed_answers::probabilities);
  CHECK(read.network == joined);
  CHECK(read.weights == weights);
  m.origin->members[1] = convolution_sizes{.dilations = 20};
  CHECK(has(error_of(m), "random convolutions of impossible size or place"));
}

TEST_CASE("model file: an ensemble of forecasts has exponential smoothing") {
  for (const bool with_trees : {false, true}) {
    auto m = test::a_tiny_model();
    m.how.task = regression;
    m.how.classes = {};
    m.origin->members = {linear_member(), smoothing_member()};
    if (with_trees)
      m.origin->members[0] = tree_sizes{.trees = 3, .depth = 2};
    const auto [joined, weights, read] = read_back(m, mixed_answers::values);
    CHECK(read.network == joined);
    CHECK(read.weights == weights);
  }
}

TEST_CASE("model file: members are mirrored as they were, and no member of a table is") {
  auto m = test::a_tiny_model();
  m.how = {.shape = {{1, 2, 2}}, .width = 4, .classes = {"no", "yes"}};
  m.how.checksum = {1, 2};
  m.origin->search_space =
      "image = true\n[limits]\ninitial_nodes = 1\n[operators.conv]\nfilters = [2, 4]\n";
  const auto genes = test::a_chain({{{}, "conv", {{"filters", std::int64_t{2}}}}});
  for (const std::vector<bool>& mirrored :
       {std::vector<bool>{true, false}, {false, true}}) {
    m.origin->members = {candidate_member{genes, mirrored[0]},
                         candidate_member{genes, mirrored[1]}};
    const auto ensemble = read_back(m, mixed_answers::probabilities);
    CHECK(ensemble.read.network == ensemble.joined);
  }
  auto table = test::a_tiny_model();
  table.origin->members = {candidate_member{table.origin->genes, true}};
  CHECK(has(error_of(table), "mirrors what is no image"));
}

TEST_CASE("model file: a changed byte anywhere is found, and so is a missing one") {
  for (std::size_t i = 0; i < whole.size(); ++i) {
    bytes file = whole;
    file[i] = static_cast<char>(file[i] ^ 1);
    if (decode_model(file))
      FAIL("byte " << i);
  }
  for (std::size_t size = 0; size < whole.size(); ++size)
    if (decode_model(whole.substr(0, size)))
      FAIL("size " << size);
  CHECK(decode_model(whole + '\0').error().kind == error_kind::corrupt);
  CHECK(error_of(whole.substr(0, whole.size() - 1))
        == "is a damaged model: its checksum does not match; export it again");
}

TEST_CASE("model file: what Clade did not write for this is refused with the command") {
  const std::string sentence =
      "is no model of Clade's; clade export RUN --safetensors FILE writes one";
  CHECK(error_of(bytes()) == sentence);
  CHECK(error_of(std::string("\x08\x08\x12\x05", 4) + "clade onnx") == sentence);
  auto without = test::a_tiny_model();
  without.origin.reset();
  CHECK(error_of(without) == sentence);
  CHECK(decode_model("x").error().kind == error_kind::invalid_input);
}

TEST_CASE("model file: one that the first version wrote is read") {
  // a_tiny_model(), of commit 332f1f8^.
  const auto m =
      read_model(std::filesystem::path(CLADE_MODELS) / "version-1.safetensors");
  INFO((m ? "" : m.error().message));
  REQUIRE(m);
  CHECK(m->network == test::a_tiny_network());
  CHECK(m->weights == test::tiny_weights());
  CHECK(m->reading.target == "sold");
  encoder before, after;
  encode(before, test::a_preprocessing());
  encode(after, m->how);
  CHECK(before.take() == after.take());
}

TEST_CASE("model file: a newer format is named") {
  bytes newer = whole;
  newer[newer.find("\"2\"") + 1] = '3';
  const auto m = decode_model(newer);
  REQUIRE_FALSE(m);
  CHECK(m.error().kind == error_kind::conflict);
  CHECK(
      m.error().message
      == "is a model of format 3, which a newer Clade wrote; this one reads no more than "
         "2");
}

TEST_CASE("model file: tensors that do not fit the network are refused") {
  CHECK(error_of(with(R"("shape":[2,4])", R"("shape":[4,2])"))
        == "is a damaged model: weights of another network: output.weight is not of the "
           "shape [2, 4]");
  CHECK(error_of(with(R"("shape":[2,4])", R"("shape":[2,5])"))
        == "is a damaged model: the values of \"output.weight\" do not fill its shape");
  CHECK(has(error_of(with("\"output.bias\":", "\"output.bios\":")),
            "the tensor \"output.bias\" is missing"));
  CHECK(
      has(error_of(with(R"("dtype":"F32","shape":[2])", R"("dtype":"I32","shape":[2])")),
          "\"output.bias\" is missing"));
  for (const char* wrong : {R"("shape":[2.5])", R"("shape":[-24])", R"("shape":"2,4")"})
    CHECK(has(error_of(with(R"("shape":[2,4])", wrong)), "no shape or place"));
  CHECK(has(error_of(with(R"("shape":[2,4])", R"("shape":[2,4})")), "no JSON"));
  auto other = test::a_tiny_model();
  other.run_tensors.pop_back();
  CHECK(has(error_of(other), "output.bias is missing"));
  // The same tensor under 100 names would be 100 times as large.
  other = test::a_tiny_model();
  for (int i = 0; i < 100; ++i)
    other.run_tensors.push_back({"more" + std::to_string(i), 0});
  CHECK(has(error_of(other), "do not fill its shape"));
}

TEST_CASE("model file: a genome outside its search space is refused") {
  auto other = test::a_tiny_model();
  other.origin->search_space = "[operators.dense]\nunits = [2, 8]\n";
  CHECK(has(error_of(other), "is a damaged model: "));
  other.origin->search_space = "[operators.dense]\nunits = [2, 4";
  CHECK(has(error_of(other), "its search space:"));
  other.origin->search_space = "include = [\"/etc/passwd\"]\n";
  CHECK(has(error_of(other), "is a damaged model: "));
}

TEST_CASE("model file: preprocessing that does not hold together is refused") {
  const auto told = [](void (*change)(preprocessing&)) {
    auto m = test::a_tiny_model();
    change(m.how);
    return error_of(m);
  };
  const auto shape = "columns that do not fill the shape";
  CHECK(has(told([](preprocessing& h) { h.mean.pop_back(); }), shape));
  CHECK(has(told([](preprocessing& h) { h.blanks.pop_back(); }), shape));
  CHECK(has(told([](preprocessing& h) { h.shape.sizes = {4}; }), shape));
  CHECK(has(told([](preprocessing& h) { h.shape.sizes = {INT64_MAX, 3, 1}; }), shape));
  CHECK(
      has(told([](preprocessing& h) { h.columns.pop_back(); }), "columns that are not"));
  CHECK(has(told([](preprocessing& h) { h.target_column = 3; }), "no column"));
  CHECK(has(told([](preprocessing& h) { h.width = 0; }), "examples of 0 values"));
  CHECK(has(told([](preprocessing& h) { h.width = SIZE_MAX; }), "examples of 1844"));
  CHECK(has(told([](preprocessing& h) { h.deviation[0] = 0; }), "no scale"));
  CHECK(has(told([](preprocessing& h) { h.mean[0] = NAN; }), "no scale"));
  CHECK(has(told([](preprocessing& h) { h.largest = INFINITY; }), "not finite"));
  CHECK(has(told([](preprocessing& h) { h.classes.clear(); }), "no classes"));
  CHECK(has(told([](preprocessing& h) { h.columns[1].values.clear(); }),
            "categories that are not"));
  CHECK(has(told([](preprocessing& h) { h.columns[0].values = {"a"}; }),
            "categories that are not"));
  // One class more than the network tells apart.
  CHECK(has(told([](preprocessing& h) { h.classes.emplace_back("maybe"); }),
            "weights of another network"));
}

TEST_CASE("model file: the limits of columns with outliers come back") {
  auto m = test::a_tiny_model();
  m.how.limit.assign(m.how.mean.size(), std::numeric_limits<double>::infinity());
  m.how.limit.back() = 10;
  const auto read = decode_model(encode_safetensors(m));
  INFO((read ? "" : read.error().message));
  REQUIRE(read);
  CHECK(read->how.limit == m.how.limit);
  m.how.limit.back() = 0;
  CHECK(has(error_of(m), "no scale"));
  m.how.limit.pop_back();
  CHECK(has(error_of(m), "columns that do not fill the shape"));
}

TEST_CASE("model file: errors name the file") {
  const scratch_folder folder;
  const auto file = folder.path() / "x.safetensors";
  CHECK(read_model(file).error().kind == error_kind::not_found);
  CHECK(has(read_model(file).error().message, file.string() + ": cannot be read: "));
  CHECK(has(read_model(folder.path()).error().message, "cannot be read: "));
  write_text(file, whole);
  REQUIRE(read_model(file));
  CHECK(read_model(file)->weights == test::tiny_weights());
  write_text(file, whole + "more");
  CHECK(has(read_model(file).error().message, file.string() + ": is a damaged model"));
}

TEST_CASE("model file: the errors that intervals take stand in it where there are any") {
  CHECK(decode_model(whole)->errors == error_quantiles());
  CHECK_FALSE(has(whole, "clade_errors"));
  auto m = test::a_tiny_model();
  m.origin->errors = {7, {0.25, 1, 4}};
  const auto read = decode_model(encode_safetensors(m));
  INFO((read ? "" : read.error().message));
  REQUIRE(read);
  CHECK(read->errors == m.origin->errors);
  m.origin->errors.ahead = {{1, 4, {0.25, 1}}, {3, 3, {4}}};
  const auto forecasts = decode_model(encode_safetensors(m));
  REQUIRE(forecasts);
  CHECK(forecasts->errors == m.origin->errors);
  m.origin->errors = error_quantiles::of_targets(std::vector<double>{1, 2, 3, 4}, 2);
  const auto several = decode_model(encode_safetensors(m));
  REQUIRE(several);
  CHECK(several->errors == m.origin->errors);
  m.origin->errors = {7, {1, 0.25}};
  CHECK(error_of(m) == "is a damaged model: the errors of a test are not in order");
}

TEST_CASE("model file: steps of a forecast are stored, and files without them are read") {
  data_params params{.target = "sold", .task = regression};
  params.forecast = {.horizon = 3, .time = "day", .season = 7, .step = "1 day"};
  data_params back{.target = "sold", .task = regression};
  REQUIRE(decode_forecast(encode_forecast(params), back));
  CHECK(back.forecast == params.forecast);

  encoder old;
  old.array(8).natural(3).natural(7).text("day");
  for (int list = 0; list < 5; ++list)
    old.array(0);
  data_params before{.target = "sold", .task = regression};
  REQUIRE(decode_forecast(old.take(), before));
  CHECK(before.forecast.horizon == 3);
  CHECK(before.forecast.step.empty());

  encoder other;
  other.array(7);
  CHECK_FALSE(decode_forecast(other.take(), before));
}
