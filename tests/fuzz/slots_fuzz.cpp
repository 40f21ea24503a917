// Slots have names and devices, and there are no more of them than a machine may have.
#include "tests/fuzz/law.hpp"
#include "tools/slots.hpp"

using namespace clade;
using namespace clade::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto slots = parse_slots(std::string(text_of(data, size)));
  if (!slots)
    return refused(slots);
  hold(!slots->empty() && slots->size() <= 1024,
       "there are some slots, but not too many");
  for (const slot& s : *slots)
    hold(!s.name.empty() && !s.device.empty(), "a slot has a name and a device");
  return 0;
}
