#pragma once

#include "engine/export/model/model.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "tests/support/genomes.hpp"

#include <cstdlib>

namespace clade::test {

inline constexpr const char* tiny_space =
    "[limits]\ninitial_nodes = 1\n[operators.dense]\nunits = [2, 4]\n";

/// A table of two columns, the second of texts, behind which the target stands.
inline preprocessing a_preprocessing() {
  preprocessing how;
  how.shape = {{3}};
  how.width = 2;
  how.columns = {
      {.name = "size"},
      {.name = "kind", .kind = encoding_kind::category, .values = {"flat", "house"}}};
  how.target = "sold";
  how.target_column = 2;
  how.blanks = {1.5F, std::numeric_limits<float>::quiet_NaN(), 0};
  how.mean = {0.1, 0, 0};
  how.deviation = {3, 1, 1};
  how.classes = {"no", "yes"};
  how.checksum = {1, 2};
  return how;
}

/// A dense layer of four units, trained on such a table.
inline network a_tiny_network() {
  const auto n =
      parse_search_space(tiny_space, "tiny.toml").and_then([](const search_space& s) {
        return decode(s, a_chain({{{}, "dense", {{"units", std::int64_t{4}}}}}),
                      {{{3}}, 2});
      });
  if (!n)
    std::abort();
  return *n;
}

inline std::vector<weight_tensor> tiny_weights() {
  return {{"n2.weight", {4, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
          {"n2.bias", {4}, {-1, 1, -2, 2}},
          {"output.weight", {2, 4}, {1, 0, 0, 1, 0.5F, 0, 0, 0}},
          {"output.bias", {2}, {0.25F, -0.25F}}};
}

/// The two, with all that a file which stands alone must have.
inline exported_model a_tiny_model() {
  const auto weights = tiny_weights();
  auto m = export_network(a_tiny_network(), weights);
  if (!m)
    std::abort();
  m->run = "tiny";
  m->id = 7;
  m->how = a_preprocessing();
  m->origin =
      model_origin{.genes = a_chain({{{}, "dense", {{"units", std::int64_t{4}}}}}),
                   .search_space = tiny_space,
                   .reading = {.array = "x", .target = "sold"}};
  return *m;
}

} // namespace clade::test
