#pragma once

#include "engine/store/run/store.hpp"
#include "genome/genes/hash.hpp"
#include "tests/support/genomes.hpp"

namespace clade::fuzz {

/// The records of a run of one generation of three, one of them a failure; the weights of
/// #2.
inline std::vector<entry> small_history() {
  std::vector<entry> all{
      {run_started{"0.1.0", "[experiment]\nname = \"x\"\n", 7, {1, 2}}, {}},
      {slot_changed{"node1/cpu:0", true, ""}, {}}};
  const auto network = std::make_shared<const genome>(test::a_genome());
  for (candidate_id id = 1; id <= 3; ++id)
    all.push_back({candidate_born{{.id = id,
                                   .index = id - 1,
                                   .genome = network,
                                   .network = canonical_hash(*network),
                                   .parents = {id, 1},
                                   .changes = {{.kind = change_kind::sampled}},
                                   .work = 1000}},
                   {}});
  for (candidate_id id = 1; id <= 3; ++id) {
    evaluation e{.id = id, .parameters = 100, .seconds = 0.5, .slot = "node1/cpu:0"};
    e.metrics = {{"validation.accuracy", 0.25 * static_cast<double>(id)}};
    e.curve = {{1, e.metrics, 0.25}};
    if (id == 3)
      e = {.id = 3, .outcome = outcome::diverged, .reason = "the loss is NaN"};
    all.push_back({candidate_evaluated{e}, bytes(id == 2 ? "the weights of 2" : "")});
  }
  all.push_back({attempt_failed{2, 1, "node1/cpu:0", "killed by signal 9"}, {}});
  all.push_back({generation_closed{0, {2, 1, 3}}, {}});
  all.push_back({run_paused{"interrupted"}, {}});
  all.push_back({run_resumed{"0.1.1"}, {}});
  all.push_back({run_finished{2, {{"champion", 2, {{"test.accuracy", 0.5}}, 100}}}, {}});
  return all;
}

} // namespace clade::fuzz
