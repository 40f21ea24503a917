#include "engine/data/preprocessing.hpp"
#include "tests/engine/data/files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

// A data set in a folder of its own, and what was fitted on it.
struct fitted {
  scratch_folder folder;
  data_params params;
  preprocessing how;

  fitted(const std::string& name, const std::string& bytes, data_params p)
      : params(std::move(p)) {
    params.file = write(folder, name, bytes);
    auto f = fit_preprocessing(params, 1);
    if (!f)
      FAIL(f.error().message);
    how = std::move(*f);
  }

  std::vector<float> read(const std::string& name, const std::string& bytes) const {
    const auto e = read_new_examples(write(folder, name, bytes), "", params, how);
    if (!e)
      FAIL(e.error().message);
    return e->features;
  }

  std::string error_of(const std::string& bytes,
                       const std::string& name = "new.csv") const {
    const auto e = read_new_examples(write(folder, name, bytes), "", params, how);
    return e ? "no error" : without(e.error().message, folder);
  }

  // The examples of the training file, read as new ones, are those of training.
  void check_itself(const std::string& name, const std::string& bytes) const {
    const auto data = load_data(params, 1, {});
    REQUIRE(data);
    const std::vector<float> trained(data->features.begin(), data->features.end());
    CHECK(read(name, bytes) == trained);
    CHECK(how.shape == data->shape);
    CHECK(how.classes == data->classes);
    CHECK(how.target_mean == data->target_mean);
    CHECK(how.target_deviation == data->target_deviation);
    CHECK(how.checksum == data->checksum);
  }
};

std::string table(int rows) {
  std::string text = "size,kind,price,age\n";
  for (int i = 0; i < rows; ++i)
    text += (i % 7 == 3 ? "" : std::to_string(i * i % 11)) + ","
            + (i % 3 == 0   ? "flat"
               : i % 3 == 1 ? "house"
                            : "\"barn, old\"")
            + "," + std::to_string(100 + 3 * i) + "," + std::to_string(i % 5) + "\n";
  return text;
}

fitted a_table() {
  return {"train.csv",
          table(40),
          {.target = "price",
           .task = task_kind::regression,
           .blanks = blank_rule::mean,
           .categories = {"kind"}}};
}

std::string counted(int rows) {
  std::string text = std::to_string(rows) + ",2,red,green\n";
  for (int i = 0; i < rows; ++i)
    text += std::to_string(i) + "," + std::to_string(i * i % 5) + ","
            + std::to_string(i % 2) + "\n";
  return text;
}

} // namespace

TEST_CASE("preprocessing: the training data read as new is what was trained on") {
  a_table().check_itself("again.csv", table(40));
  fitted("train.csv", counted(20), {}).check_itself("again.csv", counted(20));

  std::string pixels;
  for (int i = 0; i < 20; ++i)
    pixels += std::to_string(i) + ",0,3," + std::to_string(5 * i % 17) + ","
              + std::to_string(i % 2) + "\n";
  fitted("train.csv", pixels, {.shape = {{1, 2, 2}}}).check_itself("again.csv", pixels);

  const auto array =
      npy("<f4", "(6, 3)",
          raw<float>({1, 2, 0, 3, 4, 1, 5, 7, 0, 7, 8, 1, 9, 1, 0, 2, 4, 1}));
  fitted("train.npy", array, {}).check_itself("again.npy", array);
}

TEST_CASE("preprocessing: the target and the order of named columns do not matter") {
  const auto f = a_table();
  const auto wanted = f.read("a.csv", "size,kind,price,age\n4,flat,0,2\n,house,0,1\n");
  CHECK(f.read("b.csv", "size,kind,age\n4,flat,2\n,house,1\n") == wanted);
  CHECK(f.read("c.csv", "age,size,kind\n2,4,flat\n1,?,house\n") == wanted);
  CHECK(f.read("d.csv", "kind,price,age,size\nflat,?,2,4\nhouse,x,1,NA\n") == wanted);
  // Without names: the training data's order.
  CHECK(f.read("e.csv", "4,flat,2\n,house,1\n") == wanted);
  CHECK(f.read("f.csv", "4,flat,999,2\n,house,,1\n") == wanted);
  CHECK(f.how.names == std::vector<std::string>{"size", "kind", "age"});
  CHECK(f.how.target == "price");
}

TEST_CASE("preprocessing: an array may have the target's column or not") {
  const auto array =
      npy("<f4", "(6, 3)",
          raw<float>({0, 1, 2, 1, 3, 4, 0, 5, 7, 1, 7, 8, 0, 9, 1, 1, 2, 4}));
  const fitted f("train.npy", array, {.target = "1"});
  CHECK(f.read("with.npy", npy("<f8", "(1, 3)", raw<double>({9, 5, 7})))
        == f.read("without.npy", npy("<f8", "(1, 2)", raw<double>({5, 7}))));
  CHECK(f.error_of(npy("<f8", "(1, 4)", raw<double>({9, 5, 7, 1})), "new.npy")
        == "new.npy: an example has 4 values, where those of the training data have 2");
}

TEST_CASE("preprocessing: new data that does not fit is refused with its place") {
  const auto f = a_table();
  CHECK(f.error_of("") == "new.csv: is empty");
  CHECK(f.error_of("size,kind,age\n") == "new.csv: has no rows");
  CHECK(f.error_of("1,2\n")
        == "new.csv:1: 2 columns, where the training data has 3 and the target");
  CHECK(f.error_of("size,kind,years\n1,flat,2\n")
        == "new.csv:1: no column is named \"age\", as one of the training data is");
  CHECK(f.error_of("size,kind,age,colour\n1,flat,2,red\n")
        == "new.csv:1: column \"colour\" is none of the training data's; remove it");
  CHECK(f.error_of("1,flat,2\n1,flat\n")
        == "new.csv:2: 2 columns, where the first line has 3");
  CHECK(f.error_of("1,flat,2\n1,tent,2\n")
        == "new.csv:2: column 2 (\"kind\") is \"tent\", which the training data does not "
           "have there");
  CHECK(f.error_of("1,flat,2\nbig,flat,2\n")
        == "new.csv:2: column 1 (\"size\") is \"big\", where a number must be");
  CHECK(f.error_of("1,flat,2\ninf,flat,2\n")
        == "new.csv:2: column 1 (\"size\") is \"inf\", which is not a finite number");
  CHECK(f.error_of(npy("<f4", "(1, 3)", raw<float>({1, 2, 3})), "new.npy")
        == "new.npy: is an array, but the training data has columns of texts");
  const fitted strict("train.csv", counted(20), {});
  CHECK(
      strict.error_of("1,2\n3,?\n")
      == "new.csv:2: column 2 has no value, and there is none to put there: the run was "
         "not made with data.blanks = \"mean\"");
}
