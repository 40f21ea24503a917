#include "engine/data/reading/data_set.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <cmath>

using namespace clade;

namespace {

data_set loaded(const data_params& params, std::uint64_t seed = 1) {
  auto data = load_data(params, seed);
  if (!data)
    FAIL(data.error().message);
  return std::move(*data);
}

std::string error_text(const data_params& params, const scratch_folder& folder) {
  const auto data = load_data(params, 1);
  return data ? "no error" : without(data.error().message, folder);
}

// `n` rows of two features and a target that follows from them, every third alike.
std::string numbers(int n) {
  std::string text = "x,y,target\n";
  for (int i = 0; i < n; ++i)
    text += std::to_string(i) + "," + std::to_string(i * i % 7) + ","
            + std::to_string(3 * i + 5) + "\n";
  return text;
}

std::string class_rows(int n) {
  std::string text;
  for (int i = 0; i < n; ++i)
    text += std::to_string(i % 5) + "," + std::to_string(i % 4) + ","
            + std::to_string(i % 3) + "," + std::to_string(i % 2) + ","
            + std::to_string(i % 2) + "\n";
  return text;
}

// 12 images of 2 x 2 and their labels 0, 1, 2.
struct images {
  scratch_folder folder;
  data_params params;

  images() {
    std::string values, labels;
    for (char i = 0; i < 12; ++i) {
      values += {i, static_cast<char>(2 * i), '\0', '\x40'};
      labels += static_cast<char>(i % 3);
    }
    params.file = write(folder, "images-idx3-ubyte", idx({12, 2, 2}, values));
    params.target_file = write(folder, "labels-idx1-ubyte.gz", gzip(idx({12}, labels)));
  }
};

} // namespace

TEST_CASE("data: vectors are standardised by what the train part alone says") {
  const scratch_folder folder;
  const auto data =
      loaded({.file = write(folder, "x.csv", numbers(50)), .task = regression});
  for (std::size_t column = 0; column < 2; ++column) {
    double sum = 0, squares = 0;
    for (const auto i : data.train) {
      const double f = data.features[i * 2 + column];
      sum += f;
      squares += f * f;
    }
    const auto n = static_cast<double>(data.train.size());
    CHECK(sum / n == Approx(0).margin(1e-6));
    CHECK(squares / n == Approx(1));
  }
  // The rest is on the same scale: rows are one apart in the first column.
  const double step = data.features[2] - data.features[0];
  CHECK(data.features[2 * 49] - data.features[2 * 48] == Approx(step));
}

TEST_CASE("data: regression targets are standardised and can be undone") {
  const scratch_folder folder;
  const auto data =
      loaded({.file = write(folder, "x.csv", numbers(50)), .task = regression});
  REQUIRE(data.targets.size() == 50);
  const auto& scale = data.target_scales.front();
  CHECK(data.targets[10] * scale.deviation + scale.mean == Approx(35));
  double sum = 0;
  for (const auto i : data.train)
    sum += data.targets[i];
  CHECK(sum == Approx(0).margin(1e-4));
  CHECK(data.as_problem().outputs == 1);
  CHECK(data.labels.empty());
}

TEST_CASE("data: a column that is constant in the train part is centred") {
  const scratch_folder folder;
  const auto data = loaded({.file = write(folder, "x.csv",
                                          "7,1,a\n7,2,b\n7,3,a\n7,4,b\n7,5,a\n"
                                          "7,6,b\n7,7,a\n7,8,b\n")});
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(data.features[2 * i] == 0);
}

TEST_CASE("data: images are scaled to 1 by the largest value of the train part") {
  const images files;
  const auto data = loaded(files.params);
  CHECK(data.shape == tensor_shape{{1, 2, 2}});
  CHECK(data.examples == 12);
  CHECK(data.classes == std::vector<std::string>{"0", "1", "2"});
  CHECK(data.labels[5] == 2);
  CHECK(data.as_problem().input == tensor_shape{{1, 2, 2}});
  CHECK(data.as_problem().outputs == 3);
  CHECK(data.features[4 * 5 + 3] == 1);
  CHECK(data.features[4 * 5 + 1] == Approx(10.0 / 64));
}

TEST_CASE("data: a row of numbers is an image of the shape that is asked for") {
  const scratch_folder folder;
  const auto file = write(folder, "x.csv", class_rows(30));
  CHECK(loaded({.file = file}).shape == tensor_shape{{4}});
  const auto image = loaded({.file = file, .shape = {{1, 2, 2}}});
  CHECK(image.shape == tensor_shape{{1, 2, 2}});
  CHECK(image.features[4 * 4] == 1);
  CHECK(error_text({.file = file, .shape = {{1, 3, 2}}}, folder)
        == "x.csv: an example has 4 values besides the target, where shape = [1, 3, 2] "
           "takes 6");
}

TEST_CASE("data: an array of two dimensions holds its target in a column") {
  const scratch_folder folder;
  const auto file =
      write(folder, "x.npy",
            npy("<f8", "(6, 3)",
                raw<double>({1, 2, 0, 3, 4, 1, 5, 6, 0, 7, 8, 1, 9, 8, 0, 7, 6, 1})));
  const auto data = loaded({.file = file});
  CHECK(data.shape == tensor_shape{{2}});
  CHECK(data.labels == std::vector<std::int64_t>{0, 1, 0, 1, 0, 1});
  CHECK(loaded({.file = file, .target = "1", .task = regression}).shape
        == tensor_shape{{2}});
  CHECK(error_text({.file = file, .target = "x"}, folder)
        == "x.npy: no column is the target \"x\": an array has no names of columns; use "
           "a number "
           "from 1 to 3, or \"last\"");
}

TEST_CASE("data: targets of arrays are named by their byte") {
  const scratch_folder folder;
  const auto file =
      write(folder, "x.npy", npy("<f4", "(4, 1)", raw<float>({1, 2, 3, 4})));
  const auto with = [&](const std::string& targets) {
    return error_text({.file = file, .target_file = write(folder, "y.npy", targets)},
                      folder);
  };
  CHECK(with(npy("<f4", "(4,)", raw<float>({1, 2, 0.5F, 1})))
        == "y.npy: byte 136: the target is not a whole number, and so no class; for "
           "numbers say "
           "task = \"regression\"");
  CHECK(with(npy("<f4", "(4,)", raw<float>({1, 2, NAN, 1})))
        == "y.npy: byte 136: the target is not a finite number");
  CHECK(with(npy("<i4", "(4,)", raw<std::int32_t>({1, 2, 1, 1})))
        == "y.npy: byte 132: class \"2\" has this one member; two are the least");
  CHECK(with(npy("<i4", "(3,)", raw<std::int32_t>({1, 2, 1})))
        == "y.npy: holds targets of [3], where x.npy holds 4 examples");
  CHECK(with("1\n2\n")
        == "y.npy: byte 0: not a .npy file: it would begin with \\x93NUMPY");
}

TEST_CASE("data: what is no finite number in an array is named by its byte") {
  CHECK(error_of("x.npy", npy("<f4", "(2, 2)", raw<float>({1, 2, INFINITY, 4})))
        == "x.npy: byte 136: the value is not a finite number");
}

TEST_CASE("data: truncated files are named by the byte where they end") {
  const images files;
  const auto& folder = files.folder;
  auto params = files.params;
  const auto whole = read_text(params.file);
  write(folder, "images-idx3-ubyte", whole.substr(0, 30));
  CHECK(
      error_text(params, folder)
      == "images-idx3-ubyte: byte 30: the file ends here, too early: 14 bytes of values "
         "are "
         "there, too few for 12 x 2 x 2 of 1 bytes each; it was cut off, fetch it again");
  write(folder, "images-idx3-ubyte", whole);
  const auto zipped = read_text(params.target_file);
  write(folder, "labels-idx1-ubyte.gz", zipped.substr(0, 20));
  CHECK(error_text(params, folder)
        == "labels-idx1-ubyte.gz: byte 20: the gzip data ends too early; the file was "
           "cut off, "
           "fetch it again");
  CHECK(error_of("x.csv.gz", gzip(class_rows(30)).substr(0, 25))
        == "x.csv.gz: byte 25: the gzip data ends too early; the file was cut off, fetch "
           "it "
           "again");
  CHECK(error_of("x.npy", npy("|u1", "(4, 4)", "abc"))
        == "x.npy: byte 131: the file ends here, too early: 3 bytes of values are there, "
           "too few "
           "for 4 x 4 of 1 bytes each; it was cut off, fetch it again");
}

TEST_CASE("data: a file of another kind is said to be none") {
  CHECK(error_of("x.csv", std::string("1,2\n\0\x05", 6))
        == "x.csv: byte 4: a zero byte: the file is neither CSV, .npy, .npz nor IDX");
  const scratch_folder folder;
  CHECK(error_text({.file = folder.path() / "x.csv"}, folder) == "x.csv: no such file");
  CHECK(error_text({.file = write(folder, "a.csv", class_rows(30)),
                    .target_file = write(folder, "y.npy", npy("|u1", "(1,)", "a"))},
                   folder)
        == "y.npy: is no CSV of one column, as the targets of a CSV must be");
}

TEST_CASE("data: a test file is the test part and nothing else") {
  const scratch_folder folder;
  const data_params params{.file = write(folder, "x.csv", class_rows(30)),
                           .test_file = write(folder, "t.csv", class_rows(6))};
  const auto data = loaded(params);
  CHECK(data.examples == 36);
  CHECK(data.test == std::vector<std::uint32_t>{30, 31, 32, 33, 34, 35});
  CHECK(data.train.size() + data.validation.size() == 30);
  CHECK(data.train.size() == 22);
  CHECK(data.labels[33] == 1);
  write(folder, "t.csv", class_rows(6) + "1,2,3,4,7\n");
  CHECK(error_text(params, folder) == "t.csv:7: class \"7\" is not one of x.csv");
  write(folder, "t.csv", "1,2,0\n1,3,1\n");
  CHECK(error_text(params, folder)
        == "t.csv: an example has 2 values besides the target, where x.csv has 4");
}

TEST_CASE("data: of each test example the line in its file is known, or the index") {
  const scratch_folder folder;
  // The target of example i is 3 i + 5, and its line i + 2, after the names.
  const auto targets_at_places = [](const data_set& data) {
    CHECK(data.by_line);
    REQUIRE(data.test_places.size() == data.test.size());
    for (std::size_t t = 0; t < data.test.size(); ++t) {
      const auto& scale = data.target_scales.front();
      const double target = scale.mean + scale.deviation * data.targets[data.test[t]];
      CHECK(target == Approx(3 * (static_cast<double>(data.test_places[t]) - 2) + 5));
    }
  };
  data_params params{.file = write(folder, "x.csv", numbers(50)), .task = regression};
  targets_at_places(loaded(params));
  params.limit = 30;
  targets_at_places(loaded(params));
  params.test_file = write(folder, "t.csv", numbers(20));
  params.test_limit = 5;
  targets_at_places(loaded(params));

  images i;
  i.params.limit = 9;
  const auto data = loaded(i.params);
  CHECK_FALSE(data.by_line);
  REQUIRE(data.test_places.size() == data.test.size());
  REQUIRE_FALSE(data.test.empty());
  // The second value of image i is twice its first, which is i: labels are i modulo 3.
  for (std::size_t t = 0; t < data.test.size(); ++t)
    CHECK(static_cast<std::uint64_t>(data.labels[data.test[t]])
          == data.test_places[t] % 3);
}

TEST_CASE("data: a limit draws so many examples by the seed") {
  const scratch_folder folder;
  const data_params params{.file = write(folder, "x.csv", class_rows(300)), .limit = 40};
  const auto data = loaded(params);
  CHECK(data.examples == 40);
  CHECK(data.features.size() == 160);
  CHECK(data.train.size() + data.validation.size() + data.test.size() == 40);
  CHECK(data.features == loaded(params).features);
  CHECK(data.features != loaded(params, 2).features);
}

TEST_CASE("data: the test file has a limit of its own, where it is said") {
  const scratch_folder folder;
  data_params params{.file = write(folder, "x.csv", class_rows(300)),
                     .test_file = write(folder, "t.csv", class_rows(200)),
                     .limit = 40};
  CHECK(loaded(params).test.size() == 40);
  params.test_limit = 0;
  const auto all = loaded(params);
  CHECK(all.test.size() == 200);
  CHECK(all.train.size() + all.validation.size() == 40);
  params.test_limit = 70;
  CHECK(loaded(params).test.size() == 70);
  params.test_file.clear();
  CHECK(
      error_text(params, folder)
      == "test_limit says nothing without a test_file or a test_array: the test part is "
         "a share of the examples, see split and limit");
}

TEST_CASE("data: a seed of its own decides the split, whatever the experiment's is") {
  scratch_folder folder;
  data_params params;
  params.file = write(folder, "numbers.csv", numbers(60));
  params.task = regression;
  params.limit = 40;
  const auto five = loaded(params, 5);
  const auto six = loaded(params, 6);
  CHECK(five.train != six.train);
  params.seed = 5;
  for (const std::uint64_t seed : {5, 6}) {
    const auto own = loaded(params, seed);
    CHECK(own.train == five.train);
    CHECK(own.test == five.test);
    CHECK(own.targets == five.targets);
  }
}

TEST_CASE("data: too few examples for three parts are refused") {
  CHECK(error_of("x.csv", "1,a\n2,b\n3,a\n4,b\n",
                 {.train = 0.9, .validation = 0.05, .test = 0.05})
        == "x.csv: 4 examples are too few: the validation part has none");
  CHECK(error_of("x.csv", "1,5\n2,5\n3,5\n4,5\n5,5\n", {.task = regression})
        == "x.csv: every target of the train part is the same number");
}

TEST_CASE("data: the checksum follows the bytes of every file") {
  const images files;
  const auto checksum = loaded(files.params).checksum;
  CHECK(checksum == loaded(files.params, 2).checksum);
  write(files.folder, "labels-idx1-ubyte.gz",
        idx({12}, std::string_view("\0\1\2\0\1\2\0\1\2\0\2\1", 12)));
  CHECK(checksum != loaded(files.params).checksum);
}

TEST_CASE("data: params out of range are named by their key") {
  const auto error_with = [](const data_params& p) {
    const auto valid = validate(p);
    return valid ? "no error" : valid.error().message;
  };
  CHECK(error_with({.file = "x"}) == "no error");
  CHECK(error_with({})
        == "file is missing: it names the examples, file = \"data/digits.csv.gz\"");
  CHECK(error_with({.file = "x", .test_target_file = "y"})
        == "test_target_file says nothing without a test_file");
  CHECK(error_with({.file = "x", .test_file = "y", .test_target_file = "z"})
        == "test_target_file and target_file go together: give both or none");
  CHECK(error_with({.file = "x", .target = ""})
        == "target must be the name of a column, its number from 1, or \"last\"");
  CHECK(error_with({.file = "x", .header = "yes"})
        == "header must be \"auto\", \"none\", \"names\", \"counts\" or a line with the "
           "names "
           "such as \"line 3\", not \"yes\"");
  const std::string sizes =
      "shape must hold sizes of at least 1 that multiply to less than 2^31, "
      "not ";
  CHECK(error_with({.file = "x", .shape = {{1, 0, 8}}}) == sizes + "[1, 0, 8]");
  CHECK(error_with({.file = "x", .shape = {{1 << 20, 1 << 20}}})
        == sizes + "[1048576, 1048576]");
  CHECK(error_with({.file = "x", .shape = {{24, 8}}}) == "no error");
  CHECK(error_with({.file = "x", .shape = {{1, 2, 3, 4}}})
        == "shape has at most three sizes, [channels, height, width], not [1, 2, 3, 4]");
  const std::string split =
      "split must give a share above 0 to train, validation and test, as in "
      "split = {train = 0.6, validation = 0.2, test = 0.2}";
  CHECK(error_with({.file = "x", .train = 0}) == split);
  CHECK(error_with({.file = "x", .validation = NAN}) == split);
  CHECK(error_with({.file = "x", .test = -1}) == split);
  CHECK(error_with({.file = "x", .test_file = "y", .test = 0}) == "no error");
}

TEST_CASE("data: any bytes are a data set that holds together or an error that names the "
          "file") {
  const scratch_folder folder;
  const auto holds_together = [&](const std::string& name, const std::string& bytes,
                                  learning_task task) {
    const auto file = write(folder, name, bytes);
    const auto data = load_data({.file = file, .task = task}, 1);
    if (!data)
      return data.error().message.starts_with(file.string());
    bool finite = true;
    for (const float f : data->features.values())
      finite = finite && std::isfinite(f);
    return finite
           && data->features.size()
                  == data->examples * static_cast<std::size_t>(data->shape.elements())
           && data->train.size() + data->validation.size() + data->test.size()
                  == data->examples
           && (task == classification ? data->labels.size() : data->targets.size())
                  == data->examples;
  };
  const auto task = rc::gen::element(classification, regression);
  CHECK(rc::check([&](const std::string& bytes) {
    RC_ASSERT(holds_together(*rc::gen::element("a.csv", "a.npy", "a.npz", "a.idx"), bytes,
                             *task));
    RC_ASSERT(holds_together("a.gz", gzip(bytes), *task));
  }));
  CHECK(rc::check([&] {
    const auto text = *rc::gen::container<std::string>(rc::gen::element(
        '0', '1', '2', '7', '.', '-', 'e', 'a', ',', ',', '\n', '\n', '"', ' '));
    RC_ASSERT(holds_together("a.csv", text, *task));
  }));
  // Files that are nearly right.
  CHECK(rc::check([&] {
    const auto seeds = {class_rows(12),
                        numbers(12),
                        gzip(class_rows(12)),
                        npy("<f4", "(4, 2)", raw<float>({1, 0, 2, 1, 3, 0, 4, 1})),
                        npz64("a.npy", npy("|u1", "(2, 2)", "\1\2\3\4")),
                        idx({4, 2}, std::string_view("\1\0\2\1\3\0\4\1", 8))};
    auto bytes = *rc::gen::elementOf(std::vector<std::string>(seeds));
    bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
    RC_ASSERT(holds_together("a", bytes, *task));
  }));
}
