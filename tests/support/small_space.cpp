#include "tests/support/small_space.hpp"

namespace clade {

namespace {

value word(const char* text) {
  return std::string(text);
}
value whole(std::int64_t n) {
  return n;
}

} // namespace

search_space small_space() {
  search_space space;
  space.name = "small.toml";
  space.limits = {
      .max_parameters = 20'000, .max_multiply_adds = 20'000, .max_width = 128};
  auto& rules = space.rules;
  rules.operators = {
      {.name = "dense",
       .settings = {{.name = "units",
                     .domain =
                         choice_domain{{whole(8), whole(16), whole(32), whole(64)}, true},
                     .when = {},
                     .width = true},
                    {.name = "activation",
                     .domain =
                         choice_domain{{word("relu"), word("gelu"), word("tanh")}, false},
                     .when = {}}},
       .weight = 3},
      {.name = "dropout",
       .settings = {{.name = "rate", .domain = real_domain{0.05, 0.5}, .when = {}}}},
      {.name = "activation",
       .settings = {{.name = "function",
                     .domain = choice_domain{{word("silu"), word("elu")}, false},
                     .when = {}}}}};
  rules.merge = {{.name = "merge",
                  .domain = choice_domain{{word("add"), word("concat")}, false},
                  .when = {}}};
  rules.hyperparameters = {
      {.name = "optimiser",
       .domain = choice_domain{{word("sgd"), word("adam"), word("adamw")}, false},
       .when = {}},
      {.name = "momentum",
       .domain = real_domain{0.5, 0.99},
       .when = condition{"optimiser", {word("sgd")}}},
      {.name = "learning_rate", .domain = real_domain{1e-4, 1e-1, true}, .when = {}},
      {.name = "batch_size",
       .domain = choice_domain{{whole(16), whole(32), whole(64), whole(128)}, true},
       .when = {}},
      {.name = "warm_up", .domain = integer_domain{0, 10, 2}, .when = {}}};
  rules.max_nodes = 8;
  rules.max_skips = 3;
  rules.initial_nodes = 3;
  return space;
}

problem small_problem() {
  return {.input = {{16}}, .outputs = 4};
}

} // namespace clade
