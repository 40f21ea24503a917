// A record from bytes is written with bytes that give the same record, and counts once in
// the digest, or not at all if it is an observation.
#include "engine/run/records/record.hpp"
#include "tests/fuzz/law.hpp"

using namespace clade;
using namespace clade::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto r = decode_record(text_of(data, size));
  if (!r)
    return refused(r);
  const bytes written = encode(*r);
  const auto again = decode_record(written);
  hold(again, "what is written can be read");
  // Records hold numbers that may be NaN, which only bytes compare.
  hold(encode(*again) == written, "what is read again is written with the same bytes");
  hold(again->index() == r->index(), "and is of the same kind");
  digest first, second;
  first.add(*r);
  second.add(*again);
  hold(first == second, "and has the same digest");
  hold(first.records == (decisive_bytes(*r).empty() ? 0 : 1),
       "a record counts once, an observation never");
  hold(!to_text(*r).empty(), "a record has a text");
  return 0;
}
