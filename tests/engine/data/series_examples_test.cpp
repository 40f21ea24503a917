#include "engine/data/reading/array_file.hpp"
#include "engine/data/reading/series_examples.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <cmath>

using namespace clade;

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

std::vector<double> filled(std::vector<double> values) {
  fill_gaps(values);
  return values;
}

/// Series of two channels, of which the second is ten times the first; those of class b
/// fall where the others rise.
std::string two_channels(std::size_t count, std::size_t steps,
                         const std::string& header = "@classLabel true a b\n") {
  std::string out = "@problemName made\n" + header + "@data\n";
  for (std::size_t i = 0; i < count; ++i) {
    std::string first, second;
    for (std::size_t t = 0; t < steps; ++t) {
      const auto at = static_cast<double>(i % 2 == 0 ? t : steps - t);
      first += fmt::format("{}{}", t == 0 ? "" : ",", at);
      second += fmt::format("{}{}", t == 0 ? "" : ",", 10 * at);
    }
    out += fmt::format("{}:{}:{}\n", first, second, i % 2 == 0 ? "a" : "b");
  }
  return out;
}

expected<data_set> load(const std::string& bytes, data_params params = {}) {
  const scratch_folder folder;
  params.file = write(folder, "x.ts", bytes);
  return load_data(params, 1, {});
}

} // namespace

TEST_CASE("series: a gap is on the line between the values around it") {
  CHECK(filled({1, none, none, 4}) == std::vector<double>{1, 2, 3, 4});
  CHECK(filled({none, 2, none}) == std::vector<double>{2, 2, 2});
  CHECK(filled({5}) == std::vector<double>{5});
  CHECK(std::isnan(filled({none, none})[1]));
}

TEST_CASE("series: a shorter one is stretched, and a longer one averaged") {
  const auto of = [](std::vector<double> values, std::size_t steps) {
    return resized(values, steps);
  };
  CHECK(of({1, 3}, 3) == std::vector<double>{1, 2, 3});
  CHECK(of({7}, 3) == std::vector<double>{7, 7, 7});
  CHECK(of({1, 2, 3}, 3) == std::vector<double>{1, 2, 3});
  CHECK(of({1, 3, 5, 7}, 2) == std::vector<double>{2, 6});
  CHECK(of({0, 3, 6}, 2) == std::vector<double>{1, 5});
  CHECK(of({4, 6}, 1) == std::vector<double>{5});
}

TEST_CASE("series: values of another length stay within those there are") {
  rc::check("a value of another length lies between the smallest and the largest", [] {
    const auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<double>>(
        rc::gen::map(rc::gen::inRange(-1000, 1000), [](int v) { return v / 8.0; })));
    const auto steps = *rc::gen::inRange<std::size_t>(1, 50);
    const auto out = resized(values, steps);
    RC_ASSERT(out.size() == steps);
    const auto [low, high] = std::ranges::minmax(values);
    for (const double v : out)
      RC_ASSERT(v >= low - 1e-9 && v <= high + 1e-9);
  });
}

TEST_CASE("series: one example is its steps, and in each of them the channels") {
  const scratch_folder folder;
  for (const auto& file : {write(folder, "a.ts", two_channels(8, 5)),
                           write(folder, "a.ts.gz", gzip(two_channels(8, 5)))}) {
    const auto data = load_data({.file = file}, 1, {});
    REQUIRE(data);
    CHECK(data->shape == tensor_shape{{5, 2}});
    CHECK(data->examples == 8);
    CHECK(data->classes == std::vector<std::string>{"a", "b"});
    CHECK(data->labels == std::vector<std::int64_t>{0, 1, 0, 1, 0, 1, 0, 1});
    CHECK(data->by_line);
    CHECK(layout_of({.file = file}) == layout::sequence);
    // Each channel has a scale of its own, which all steps share: both look the same then,
    // and the steps stay as far apart as they were.
    const auto values = data->features.values();
    for (std::size_t t = 0; t < 5; ++t)
      CHECK(values[2 * t] == Approx(values[2 * t + 1]));
    CHECK(values[2] - values[0] == Approx(values[8] - values[6]));
    CHECK(values[2] > values[0]);
  }
}

TEST_CASE("series: the train part alone decides the scale of a channel") {
  const auto data = load(two_channels(40, 6));
  REQUIRE(data);
  double sum = 0, squares = 0;
  const auto values = data->features.values();
  for (const auto i : data->train)
    for (std::size_t t = 0; t < 6; ++t) {
      sum += values[i * 12 + 2 * t];
      squares += values[i * 12 + 2 * t] * values[i * 12 + 2 * t];
    }
  const auto n = static_cast<double>(data->train.size() * 6);
  CHECK(sum / n == Approx(0).margin(1e-5));
  CHECK(squares / n == Approx(1));
}

TEST_CASE("series: all have the length of the longest, within bounds") {
  const auto steps = [](std::size_t others, std::size_t length, std::size_t longest) {
    series_set set{.channels = 1};
    for (std::size_t i = 0; i < others; ++i) {
      set.values.resize(set.values.size() + length);
      set.ends.push_back(set.values.size());
    }
    set.values.resize(set.values.size() + longest);
    set.ends.push_back(set.values.size());
    set.lines.resize(others + 1);
    return lengths_of(set).steps;
  };
  CHECK(steps(3, 7, 29) == 29);
  CHECK(steps(999, 10, 1'000'000) == 8 * 1010);
  CHECK(steps(1, 1'000'000, 1'000'000) == 16'384);
  const auto data = load("@problemName x\n@data\n1,2,3:a\n1:b\n3,5:a\n2:b\n2,2:a\n5:b\n");
  REQUIRE(data);
  CHECK(data->shape == tensor_shape{{3, 1}});
  const auto asked = load("@problemName x\n@data\n1,2,3:a\n1:b\n3,5:a\n2:b\n2,2:a\n5:b\n",
                          {.shape = {{6, 1}}});
  REQUIRE(asked);
  CHECK(asked->shape == tensor_shape{{6, 1}});
}

TEST_CASE("series: a channel without a value has the mean of the others") {
  const auto data =
      load("@problemName x\n@data\n?,?:a\n4,5:b\n4,3:a\n?,6:b\n2,2:a\n4,4:b\n"
           "?,?:a\n4,5:b\n4,3:a\n?,6:b\n");
  REQUIRE(data);
  CHECK(data->features.values()[0] == Approx(0).margin(1e-6));
}

TEST_CASE("series: those of a test file get the length of the training file's") {
  const scratch_folder folder;
  const auto file = write(folder, "x.ts", two_channels(8, 5));
  const auto test = write(folder, "y.ts", two_channels(4, 11));
  const auto data = load_data({.file = file, .test_file = test}, 1, {});
  REQUIRE(data);
  CHECK(data->shape == tensor_shape{{5, 2}});
  CHECK(data->examples == 12);
  CHECK(data->test_places == std::vector<std::uint64_t>{4, 5, 6, 7});
  const auto other = write(folder, "z.ts", "@problemName z\n@data\n1,2:a\n");
  CHECK(without(load_data({.file = file, .test_file = other}, 1, {}).error().message,
                folder)
        == "z.ts:3: has 1 channel, where the training data or data.shape has 2");
}

TEST_CASE("series: numbers can be learnt from them") {
  const auto data = load("@problemName x\n@targetLabel true\n@data\n1,2:0.5\n2,3:1.5\n"
                         "3,4:2\n4,5:3\n5,6:4\n",
                         {.task = regression});
  REQUIRE(data);
  CHECK(data->targets.size() == 5);
  CHECK(data->targets[1] > data->targets[0]);
}

TEST_CASE("series: what nothing can be learnt from is said") {
  const std::string four = "1,2:a\n2,3:b\n3,4:a\n4,5:b\n";
  const auto wrong = [](const std::string& series, data_params params = {}) {
    return error_of("x.ts", "@problemName x\n@data\n" + series, std::move(params));
  };
  CHECK(wrong("1,2\n2,3\n")
        == "x.ts: holds series without classes or numbers to learn from: in a .ts file "
           "they stand last in each line, and the header says @classLabel true a b c, or "
           "@targetLabel true");
  CHECK(wrong("1,2:a\n2,3:a\n")
        == "x.ts: every example is of class \"a\"; two classes are the least");
  CHECK(wrong(four + "1,2:c\n")
        == "x.ts:7: class \"c\" has this one member; two are the least");
  CHECK(wrong(four + "1,2:?\n")
        == "x.ts:7: has no class or number to learn from; leave the series out");
  CHECK(wrong(four, {.task = regression})
        == "x.ts:3: the target is \"a\", where a number must be; for classes say task = "
           "\"classification\"");
  CHECK(wrong(four, {.target = "2"})
        == "x.ts: has one target, the last of each line; leave target out");
  CHECK(wrong(four, {.ignore = {"2"}})
        == "x.ts: is no table; columns, categories, ignore and blanks are for "
           "CSV files");
  CHECK(wrong(four, {.shape = {{1, 1, 2}}})
        == "x.ts: holds time series, whose examples are of [steps, channels], where "
           "those of the experiment or the training data are [1, 1, 2]");
}

TEST_CASE("series: new ones are prepared like those of the training data") {
  const scratch_folder folder;
  const std::string bytes = two_channels(12, 5);
  const data_params params{.file = write(folder, "x.ts", bytes)};
  const auto data = load_data(params, 1, {});
  const auto fitted = fit_preprocessing(params, 1);
  REQUIRE((data && fitted));
  // It is read again from a model's file.
  encoder out;
  encode(out, *fitted);
  const auto raw = out.take();
  decoder in(raw);
  const auto how = decode_preprocessing(in);
  REQUIRE(in.finish());
  CHECK(how.mean == fitted->mean);
  CHECK(how.deviation == fitted->deviation);
  const auto read = [&](const std::string& text) {
    return read_new_examples(write(folder, "new.ts", text), "", params, how);
  };
  const auto same = read(bytes);
  REQUIRE(same);
  CHECK(same->features == data->features.values());
  REQUIRE(same->targets);
  CHECK(same->targets->values[1] == 1);
  const auto unknown = read("@problemName x\n@classLabel true a b\n@data\n"
                            "1,2,3:1,2,3:c\n1:2:?\n");
  REQUIRE(unknown);
  CHECK(unknown->count == 2);
  CHECK(unknown->features.size() == 20);
  CHECK(unknown->lines == std::vector<std::uint64_t>{4, 5});
  CHECK(unknown->targets->unknown == 1);
  CHECK(unknown->targets->blanks == 1);
  CHECK(unknown->targets->example == "c");
  CHECK(unknown->notes.empty());
  const auto longer = read("@problemName x\n@data\n1,2,3,4,5,6:1:a\n1:2:b\n");
  REQUIRE(longer);
  CHECK(longer->features.size() == 20);
  REQUIRE(longer->notes.size() == 1);
  CHECK(without(longer->notes[0], folder)
        == "new.ts: 1 series is longer than the 5 steps that the model takes, and shrunk "
           "to them: each step is then the mean of its share");
  const auto bare = read("@problemName x\n@classLabel false\n@data\n1,2,3:1,2,3\n");
  REQUIRE(bare);
  CHECK_FALSE(bare->targets);
  CHECK(without(read("@problemName x\n@classLabel false\n@data\n1,2\n").error().message,
                folder)
        == "new.ts:4: has 1 channel, where the training data or data.shape has 2");
}

TEST_CASE("series: an array holds them where a shape of steps and channels says so") {
  const scratch_folder folder;
  std::string values, labels;
  for (int i = 0; i < 10; ++i) {
    for (int v = 0; v < 6; ++v)
      values += raw<double>({i + 10.0 * v});
    labels += raw<std::int64_t>({i % 2});
  }
  data_params params{.file = write(folder, "x.npy", npy("<f8", "(10, 3, 2)", values)),
                     .target_file = write(folder, "y.npy", npy("<i8", "(10,)", labels)),
                     .shape = {{3, 2}}};
  const auto data = load_data(params, 1, {});
  REQUIRE(data);
  CHECK(data->shape == tensor_shape{{3, 2}});
  const auto how = fit_preprocessing(params, 1);
  REQUIRE(how);
  CHECK(how->mean[0] == how->mean[2]);
  const auto read = [&](const std::string& shape) {
    const auto e = read_new_examples(write(folder, "n.npy", npy("<f8", shape, values)),
                                     "", params, *how);
    return e ? "read" : without(e.error().message, folder);
  };
  CHECK(read("(10, 3, 2)") == "read");
  CHECK(read("(10, 6)") == "read");
  CHECK(read("(10, 2, 3)")
        == "n.npy: holds examples of [2, 3], where those of the training data are [3, "
           "2]");
  params.shape = {{2, 3}};
  CHECK(without(load_data(params, 1, {}).error().message, folder)
        == "x.npy: holds examples of [3, 2], where shape = [2, 3] takes [steps, "
           "channels]; x.transpose(0, 2, 1) of NumPy swaps the two");
}

TEST_CASE("series: the scale of a channel is stored once") {
  preprocessing how;
  how.shape = {{1000, 2}};
  how.width = 2000;
  how.classes = {"a", "b"};
  for (std::size_t i = 0; i < how.width; ++i) {
    how.mean.push_back(i % 2 == 0 ? 1.5 : -2);
    how.deviation.push_back(i % 2 == 0 ? 3 : 0.25);
  }
  const auto written = [](const preprocessing& p) {
    encoder out;
    encode(out, p);
    return out.take();
  };
  const auto raw = written(how);
  CHECK(raw.size() < 200);
  decoder in(raw);
  const auto back = decode_preprocessing(in);
  REQUIRE(in.finish());
  CHECK(back.mean == how.mean);
  CHECK(back.deviation == how.deviation);
  // Scales that differ between steps, which no reader makes, lose nothing either.
  how.mean[7] = 9;
  const auto other = written(how);
  decoder in_other(other);
  CHECK(decode_preprocessing(in_other).mean == how.mean);
}

TEST_CASE("preprocessing: a series is not larger than any that is read") {
  encoder out;
  out.array(18).natural(2).text("classification");
  out.array(2).integer(1 << 25).integer(1).natural(1 << 25).array(0).nil();
  out.text("").text(".").array(0).array(1).real(0).array(1).real(1).real(0);
  out.array(2).text("a").text("b").real(0).real(1).array(2).natural(0).natural(0);
  out.natural(0).array(0);
  const auto raw = out.take();
  decoder in(raw);
  (void)decode_preprocessing(in);
  const auto done = in.finish();
  REQUIRE_FALSE(done);
  CHECK(done.error().message.find("series of 33554432 values") != std::string::npos);
}

TEST_CASE("series: a long comment does not hide that a file holds series") {
  const scratch_folder folder;
  data_params params;
  params.file = write(folder, "x.ts",
                      "# " + std::string(5000, 'x') + "\n@problemName x\n@data\n1,2:a\n");
  CHECK(layout_of(params) == layout::sequence);
}
