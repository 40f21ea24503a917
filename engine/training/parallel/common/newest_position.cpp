#include "engine/training/parallel/common/newest_position.hpp"

#include "engine/collectives/collectives.hpp"

#include <algorithm>
#include <vector>

namespace clade {

std::optional<newest_position> find_newest(links& l, std::uint64_t progress,
                                           const std::function<bytes()>& give) {
  std::vector<std::uint64_t> all(l.members());
  all[l.own()] = progress;
  all_gather(l, bytes_of<std::uint64_t>(all));
  const auto newest = std::ranges::max_element(all);
  if (std::ranges::count(all, *newest) == std::ssize(all))
    return std::nullopt;
  const auto giver = static_cast<std::size_t>(newest - all.begin());
  bytes position = l.own() == giver ? give() : bytes();
  std::uint64_t size = position.size();
  broadcast(l, giver, std::as_writable_bytes(std::span(&size, 1)));
  position.resize(size);
  broadcast(l, giver, std::as_writable_bytes(std::span(position)));
  if (progress == *newest)
    return std::nullopt;
  return newest_position{.progress = *newest, .position = std::move(position)};
}

} // namespace clade
