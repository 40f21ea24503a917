// Slots have names and devices, and there are no more of them than a machine may have.
#include "tests/fuzz/law.hpp"
#include "tools/machine/slots.hpp"

using namespace clade;
using namespace clade::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const machine two_cards{
      .gpus = {{.index = 0, .uuid = "GPU-1", .name = "card", .free_bytes = 1000},
               {.index = 1, .uuid = "GPU-2", .name = "card", .free_bytes = 1000}},
      .cores = {0, 1, 2},
      .memory_free = 1000};
  const std::string text(text_of(data, size));
  const auto slots = parse_slots(text, two_cards);
  if (!slots)
    return refused(slots);
  hold(slots->size() <= 1024, "there are not too many slots");
  hold(slots->empty() == (text == "none"), "there are some slots unless none are wanted");
  for (const slot& s : *slots)
    hold(!s.name.empty() && !s.device.empty(), "a slot has a name and a device");
  return 0;
}
