// The experiment that a head sends to its nodes and a store holds: what parses is written
// as text that gives the same experiment.
#include "engine/config/experiment/experiment.hpp"
#include "tests/fuzz/law.hpp"

using namespace clade;
using namespace clade::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto e = parse_resolved(text_of(data, size), "resolved");
  if (!e)
    return refused(e);
  const std::string written = to_toml(*e);
  const auto again = parse_resolved(written, "resolved");
  hold(again, "what is written can be read");
  hold(to_toml(*again) == written, "and is the same");
  return 0;
}
