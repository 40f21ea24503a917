#include "engine/training/metrics.hpp"

#include <catch2/catch.hpp>

using namespace clade;

TEST_CASE("metrics: an epoch has the training's loss and the validation part's") {
  CHECK(epoch_metrics(task_kind::classification)
        == std::vector<std::string>{"train.loss", "validation.accuracy",
                                    "validation.loss"});
  CHECK(epoch_metrics(task_kind::regression)
        == std::vector<std::string>{"train.loss", "validation.loss", "validation.mse",
                                    "validation.r2", "validation.rmse"});
}
