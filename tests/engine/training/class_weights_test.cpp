#include "engine/training/asked/class_weights.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

const std::vector<std::string> names{"no", "yes", "perhaps"};
// The last is of no training example.
const std::vector<std::int64_t> labels{0, 0, 0, 1, 0, 2};
const std::vector<std::uint32_t> train{0, 1, 2, 3, 4};

expected<std::vector<float>> weights(const class_weights& w) {
  return weights_by_label(w, names, labels, train);
}

} // namespace

TEST_CASE("class weights: none are none") {
  CHECK(weights({})->empty());
}

TEST_CASE("class weights: balanced ones let every class weigh the same in all") {
  // 5 / (3 * 4), 5 / (3 * 1); a class that training does not have keeps 1.
  CHECK(weights({.balanced = true}).value()
        == std::vector<float>{5.0F / 12, 5.0F / 3, 1.0F});
}

TEST_CASE("class weights: a class that is not named has 1") {
  CHECK(weights({.by_class = {{"yes", 3.5}}}).value() == std::vector<float>{1, 3.5, 1});
}

TEST_CASE("class weights: what names no class, or is no weight, is an error") {
  CHECK(weights({.by_class = {{"maybe", 2}}}).error().message
        == "training.class_weights names the class \"maybe\", which the data does not "
           "have; it has \"no\", \"yes\", \"perhaps\"");
  CHECK(validate(class_weights{.by_class = {{"yes", 0}}}).error().message
        == "class_weights: the weight of \"yes\" must be a positive number");
  CHECK(validate(class_weights{.by_class = {{"yes", 0.5}}}));
}
