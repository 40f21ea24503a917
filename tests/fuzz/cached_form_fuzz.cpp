// The cached form of a data set is the only one that gives it: what parses is written
// with the same bytes.
#include "engine/data/reading/cached_form.hpp"
#include "tests/fuzz/law.hpp"

using namespace clade;
using namespace clade::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto form = text_of(data, size);
  const auto parsed = parse_cached_form(form);
  hold(!parsed || cached_form(*parsed) == form, "what is written has the same bytes");
  return 0;
}
