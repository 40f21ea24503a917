#include "tests/tools/machine/made_up_machine.hpp"
#include "tools/machine/nvml.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace clade;

namespace {

using values = std::map<std::string, std::string>;

/// Variables of this process, as they were again at the end.
class environment {
public:
  explicit environment(const values& now) {
    for (const auto& [name, value] : now) {
      if (const char* old = std::getenv(name.c_str()))
        old_[name] = old;
      set_.push_back(name);
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  ~environment() {
    for (const auto& name : set_)
      if (const auto old = old_.find(name); old != old_.end())
        ::setenv(name.c_str(), old->second.c_str(), 1);
      else
        ::unsetenv(name.c_str());
  }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

private:
  std::vector<std::string> set_;
  values old_;
};

const std::string library = CLADE_FAKE_NVML;

} // namespace

TEST_CASE("nvml: each card is described") {
  const environment e(
      values{{"CLADE_NVML", library},
             {"FAKE_NVML_CARDS", "GPU-a1|NVIDIA H200|150000000000|140000000000;"
                                 "GPU-b2|NVIDIA T4|16|5"}});
  CHECK(read_gpus()
        == std::vector<gpu>{{.index = 0,
                             .uuid = "GPU-a1",
                             .name = "NVIDIA H200",
                             .total_bytes = 150'000'000'000,
                             .free_bytes = 140'000'000'000},
                            {.index = 1,
                             .uuid = "GPU-b2",
                             .name = "NVIDIA T4",
                             .total_bytes = 16,
                             .free_bytes = 5}});
}

TEST_CASE("nvml: a driver without cards is a machine without GPUs") {
  const environment e(values{{"CLADE_NVML", library}, {"FAKE_NVML_CARDS", ""}});
  CHECK(read_gpus() == std::vector<gpu>{});
}

TEST_CASE("nvml: a card that a scheduler keeps from us is not counted") {
  const environment e(values{{"CLADE_NVML", library},
                             {"FAKE_NVML_CARDS", "denied;GPU-b2|NVIDIA T4|16|5"}});
  const auto gpus = read_gpus();
  REQUIRE(gpus);
  REQUIRE(gpus->size() == 1);
  CHECK(gpus->front().index == 0);
  CHECK(gpus->front().uuid == "GPU-b2");
}

TEST_CASE("nvml: a card that shares the machine's memory does not say how much it has") {
  const environment e(values{{"CLADE_NVML", library},
                             {"FAKE_NVML_CARDS", "GPU-a1|NVIDIA GB10|16|5"},
                             {"FAKE_NVML_FAILS", "nvmlDeviceGetMemoryInfo=3"}});
  const auto gpus = read_gpus();
  REQUIRE(gpus);
  CHECK(gpus->at(0).total_bytes == 0);
}

TEST_CASE("nvml: a library that fails is an error that names the function") {
  const environment cards(
      values{{"CLADE_NVML", library}, {"FAKE_NVML_CARDS", "GPU-a1|NVIDIA H200|16|5"}});
  for (const std::string function :
       {"nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetUUID",
        "nvmlDeviceGetName", "nvmlDeviceGetMemoryInfo"}) {
    const environment e(
        values{{"FAKE_NVML_FAILS", function + "=999"}, {"CLADE_NVML", library}});
    const auto gpus = read_gpus();
    REQUIRE_FALSE(gpus);
    CHECK(gpus.error().message == library + ": " + function + ": Unknown Error");
    CHECK(gpus.error().kind == error_kind::io);
  }
  const environment e(
      values{{"FAKE_NVML_FAILS", "nvmlInit_v2=9"}, {"CLADE_NVML", library}});
  CHECK(read_gpus().error().message == library + ": nvmlInit_v2: Driver Not Loaded");
}

TEST_CASE("nvml: a library that is named and is not there is an error") {
  const environment e(values{{"CLADE_NVML", "/nowhere/libnvidia-ml.so"}});
  const auto gpus = read_gpus();
  REQUIRE_FALSE(gpus);
  CHECK(gpus.error().kind == error_kind::not_found);
  CHECK(gpus.error().message.starts_with("CLADE_NVML: /nowhere/libnvidia-ml.so: "));
}

TEST_CASE("nvml: a machine has the cards that CUDA_VISIBLE_DEVICES leaves it") {
  const environment e(
      values{{"CLADE_NVML", library},
             {"FAKE_NVML_CARDS", "GPU-a1|A|16|5;GPU-b2|B|16|5;GPU-c3|C|16|5"},
             {"CUDA_VISIBLE_DEVICES", "GPU-c3,0"}});
  const made_up_machine made_up;
  const auto m = look_at_machine({.root = made_up.root});
  REQUIRE(m);
  REQUIRE(m->gpus.size() == 2);
  CHECK(m->gpus[0].uuid == "GPU-c3");
  CHECK(m->gpus[1].uuid == "GPU-a1");
  CHECK(m->hidden_gpus == 1);
}

TEST_CASE("nvml: a machine whose library fails says so and has no GPUs") {
  const environment e(
      values{{"CLADE_NVML", library}, {"FAKE_NVML_FAILS", "nvmlInit_v2=9"}});
  const made_up_machine made_up;
  const auto m = look_at_machine({.root = made_up.root});
  REQUIRE(m);
  CHECK(m->gpus.empty());
  CHECK(m->gpu_trouble == library + ": nvmlInit_v2: Driver Not Loaded");
}
