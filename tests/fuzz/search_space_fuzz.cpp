// A search space that parses is written as text that gives the same space, and what is
// drawn from its domains lies in them.
#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/operators/search_space.hpp"
#include "tests/fuzz/law.hpp"

using namespace clade;
using namespace clade::fuzz;

namespace {

void hold_laws(const std::vector<parameter>& parameters, random_stream& random) {
  for (const parameter& p : parameters) {
    value v = sample(p, random);
    for (int i = 0; i < 4; ++i) {
      hold(contains(p, v), "what is drawn or moved lies in its domain");
      const value moved = perturb(p, v, random);
      hold(moved != v || !varies(p), "a value moves where it can");
      v = moved;
    }
    for (const int direction : {1, -1})
      if (const auto next = step(p, v, direction))
        hold(contains(p, *next), "a step stays in the domain");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto space = parse_search_space(text_of(data, size), "x.toml");
  if (!space)
    return refused(space);
  const std::string written = to_toml(*space);
  const auto again = parse_search_space(written, "x.toml");
  hold(again, "what is written can be read");
  hold(to_toml(*again) == written, "and is the same");
  auto random = derive(1, purpose::sample, 0, 0);
  hold_laws(space->rules.merge, random);
  hold_laws(space->rules.hyperparameters, random);
  for (const operator_rule& rule : space->rules.operators)
    hold_laws(rule.settings, random);
  return 0;
}
