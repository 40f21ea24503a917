#include "engine/config/experiment/new_experiment.hpp"
#include "tests/engine/config/experiment_files.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

const std::string churn = [] {
  std::string text = "customer,age,plan,churned\n";
  for (int i = 0; i < 60; ++i)
    text += "C" + std::to_string(i) + ","
            + (i % 9 == 0 ? "" : std::to_string(i * 37 % 80)) + ","
            + (i % 4 == 0 ? "gold" : "basic") + "," + (i * 7 % 10 < 3 ? "yes" : "no")
            + "\n";
  return text;
}();

data_profile profile_of(const std::filesystem::path& file, const std::string& text) {
  write_text(file, text);
  auto p = profile_data({.file = file});
  if (!p)
    FAIL(p.error().message);
  return std::move(*p);
}

} // namespace

TEST_CASE("new experiment: it reads like one that a person wrote") {
  const experiment_files files;
  const auto data = profile_of(files.folder() / "churn.csv", churn);
  const auto text =
      new_experiment(data, {.name = "churn", .seed = 3, .folder = files.folder()});
  CHECK(text.find("file = \"churn.csv\"") != std::string::npos);
  CHECK(text.find("[data.columns]\n"
                  "customer = \"ignore\"  # almost every row has a value of its own\n"
                  "age = \"number\"")
        != std::string::npos);
  CHECK(text.find("; 7 blank\nplan = \"category\"") != std::string::npos);
  CHECK(text.find("target = \"churned\"") != std::string::npos);
}

TEST_CASE("new experiment: what was written loads, with what it says") {
  const experiment_files files;
  const auto data = profile_of(files.folder() / "churn.csv", churn);
  const auto e = files.loaded(new_experiment(data, {.name = "churn",
                                                    .seed = 3,
                                                    .wall_time = std::chrono::minutes(5),
                                                    .slots = "cpu:2",
                                                    .folder = files.folder()}));
  CHECK(e.name == "churn");
  CHECK(e.seed == 3);
  CHECK(e.space.name == "tabular");
  CHECK(e.data.file == files.folder() / "churn.csv");
  CHECK(e.data.target == "churned");
  CHECK(e.limits.wall_time == std::chrono::minutes(5));
  CHECK(e.slots.local == "cpu:2");
  CHECK(load_data(e.data, e.seed));
}

TEST_CASE("new experiment: series are learnt from by convolutions over time") {
  const experiment_files files;
  std::string series = "@problemName gun\n@classLabel true a b\n@data\n";
  for (int i = 0; i < 40; ++i)
    series += "1," + std::to_string(i) + ",3,4" + (i % 2 == 0 ? ":a\n" : ":b\n");
  write_text(files.folder() / "gun_TEST.ts", series);
  const auto data = profile_of(files.folder() / "gun_TRAIN.ts", series);
  const auto text = new_experiment(data, {.name = "gun", .folder = files.folder()});
  CHECK(text.find("file = \"gun_TRAIN.ts\"") != std::string::npos);
  CHECK(text.find("target = ") == std::string::npos);
  CHECK(search_size_for(data).epochs == 200);
  const auto e = files.loaded(text);
  CHECK(e.space.name == "series");
  CHECK(e.data.test_file == files.folder() / "gun_TEST.ts");
  CHECK(load_data(e.data, e.seed)->shape == tensor_shape{{4, 1}});
}

TEST_CASE("new experiment: where one class has most rows, classes count alike") {
  const experiment_files files;
  const auto objective = [&](int of_ten) {
    std::string text = "age,size,churned\n";
    for (int i = 0; i < 100; ++i)
      text += std::to_string(i * 37 % 80) + "," + std::to_string(i * 31 % 70) + ","
              + (i % 10 < of_ten ? "no" : "yes") + "\n";
    const auto written = new_experiment(profile_of(files.folder() / "churn.csv", text),
                                        {.name = "churn", .folder = files.folder()});
    return files.loaded(written).objective.metric;
  };
  CHECK(objective(5) == "validation.accuracy");
  CHECK(objective(9) == "validation.balanced_accuracy");
}

TEST_CASE("new experiment: names and paths that TOML would mistake are quoted") {
  const experiment_files files;
  const auto data = profile_of(files.folder() / "a \"b\".csv",
                               "my.age,is \"it\",label\n1,x,y\n2,z,n\n3,x,y\n4,z,n\n");
  const auto e =
      files.loaded(new_experiment(data, {.name = "x", .folder = files.folder()}));
  CHECK(e.data.file == files.folder() / "a \"b\".csv");
  CHECK(e.data.target == "label");
}

TEST_CASE("new experiment: fewer rows are trained on for longer") {
  data_profile d;
  d.rows = 150;
  const auto few = search_size_for(d);
  d.rows = 1'000'000;
  CHECK(few.epochs == 40);
  CHECK(search_size_for(d).epochs == 8);
}
