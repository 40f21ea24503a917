// A genome from bytes keeps its invariants, is the same after being written and read
// again, and becomes a network, or an error, in whatever search space it meets.
#include "genome/genes/hash.hpp"
#include "search_spaces/files/load_search_space.hpp"
#include "search_spaces/operators/network.hpp"
#include "tests/fuzz/law.hpp"

using namespace clade;
using namespace clade::fuzz;

namespace {

search_space space(const char* name) {
  auto loaded =
      load_search_space(std::filesystem::path(CLADE_ROOT) / "search_spaces" / name);
  hold(loaded, "the search spaces of the repository load");
  return std::move(*loaded);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const search_space images = space("image.toml"), vectors = space("mlp.toml"),
                            sequences = space("recurrent.toml");
  const auto g = decode_genome(text_of(data, size));
  if (!g)
    return refused(g);
  hold(check_structure(*g), "what decodes has the invariants of a genome");
  const bytes written = encode(*g);
  const auto again = decode_genome(written);
  hold(again, "what is written can be read");
  hold(*again == *g, "what is read again is the same");
  hold(encode(*again) == written, "and is written with the same bytes");
  hold(canonical_hash(*again) == canonical_hash(*g), "and has the same hash");
  hold(!to_text(*g).empty(), "a genome has a text");
  for (const auto& [s, input] : {std::pair(&images, tensor_shape{{3, 8, 8}}),
                                 std::pair(&vectors, tensor_shape{{16}}),
                                 std::pair(&sequences, tensor_shape{{6, 3}})}) {
    const auto network = decode(*s, *g, {.input = input, .outputs = 4});
    if (!network)
      refused(network);
    else
      hold(network->cost().parameters <= s->limits.max_parameters,
           "a network is within the limits of its space");
  }
  return 0;
}
