#include "search_spaces/operators/operators.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

const setting_entry& entry_of(std::string_view op, std::string_view name) {
  const auto* found = find_operator(op);
  REQUIRE(found != nullptr);
  for (const setting_entry& entry : found->settings)
    if (entry.name == name)
      return entry;
  throw std::logic_error("no such setting");
}

} // namespace

TEST_CASE("settings: what the genome does not say has its fallback") {
  const auto conv = complete(*find_operator("conv"), {{"filters", std::int64_t{24}}});
  REQUIRE(conv);
  CHECK(to_text(*conv)
        == "activation=none, bias=yes, dilation=1, filters=24, kernel=3, norm=none, "
           "stride=1");
  const auto dropout = complete(*find_operator("dropout"), {});
  REQUIRE(dropout);
  CHECK(to_text(*dropout) == "rate=0.2");
  CHECK(integer_setting(*conv, "kernel") == 3);
  CHECK(real_setting(*dropout, "rate") == 0.2);
  CHECK(text_setting(*conv, "norm") == "none");
}

TEST_CASE("settings: an objection says what would be right") {
  const auto& kernel = entry_of("conv", "kernel");
  CHECK(objection(kernel, std::int64_t{5}).empty());
  CHECK(objection(kernel, std::int64_t{4}) == "is 4, but must be odd");
  CHECK(objection(kernel, std::int64_t{17}) == "is 17, but must be from 1 to 15");
  CHECK(objection(kernel, 3.0) == "is 3.0, but must be a whole number");
  const auto& rate = entry_of("dropout", "rate");
  CHECK(objection(rate, 0.5).empty());
  CHECK(objection(rate, 1.0) == "is 1.0, but must be from 0.0 to 0.95");
  CHECK(objection(rate, std::int64_t{0}) == "is 0, but must be a number");
  const auto& activation = entry_of("conv", "activation");
  CHECK(objection(activation, "gelu").empty());
  CHECK(objection(activation, "rleu") == "is 'rleu', did you mean 'relu'?");
  CHECK(objection(activation, "softmax")
        == "is 'softmax', but must be one of none, relu, leaky_relu, elu, gelu, silu, "
           "tanh, "
           "sigmoid");
}

TEST_CASE("settings: those of another operator are refused") {
  const auto& pool = *find_operator("max_pool");
  const auto foreign = complete(pool, {{"filters", std::int64_t{8}}});
  REQUIRE(!foreign);
  CHECK(foreign.error().message == "max_pool has no setting 'filters'");
  const auto wrong = complete(pool, {{"kernel", std::int64_t{1}}});
  REQUIRE(!wrong);
  CHECK(wrong.error().message == "max_pool: kernel is 1, but must be from 2 to 15");
}
