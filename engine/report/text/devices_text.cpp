#include "engine/report/text/devices_text.hpp"

#include "engine/report/base/format.hpp"
#include "genome/base/text.hpp"
#include "genome/base/utf8.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

namespace clade {

namespace {

constexpr std::size_t most_named_slots = 4;

} // namespace

std::string devices_text(std::span<const node_overview> nodes) {
  std::map<std::string, std::set<std::string>> slots;
  for (const auto& n : nodes)
    if (!n.device.empty())
      slots[n.device].insert(n.slot);
  return joined(slots, "; ", [](const auto& one) {
    const auto& [device, names] = one;
    return fmt::format("{} ({})", plain_line(device),
                       names.size() > most_named_slots ? counted(names.size(), "slot")
                                                       : joined(names));
  });
}

} // namespace clade
