// Times and sizes are written such that they parse to the same.
#include "engine/config/file/units.hpp"
#include "tests/fuzz/law.hpp"

using namespace clade;
using namespace clade::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = text_of(data, size);
  if (const auto time = parse_duration(text); !time) {
    refused(time);
  } else {
    hold(time->count() >= 0, "a time is not negative");
    hold(parse_duration(duration_literal(*time)) == *time, "a time is what it was");
  }
  if (const auto bytes = parse_size(text); !bytes)
    refused(bytes);
  else
    hold(parse_size(size_literal(*bytes)) == *bytes, "a size is what it was");
  return 0;
}
