// A text whose hash is among the smallest now was among them whenever it was added, for
// the bound only sinks: so the counts of the texts that are kept are exact.

#include "engine/data/texts/value_sample.hpp"

#include "genome/genes/hash.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace clade {

void value_sample::add(std::string_view value) {
  ++added_;
  const std::uint64_t hash = hash64(value);
  if (by_hash_.size() == capacity && hash > by_hash_.rbegin()->first) {
    complete_ = false;
    return;
  }
  const auto [at, fresh] = by_hash_.try_emplace(hash);
  ++at->second.count;
  if (!fresh)
    return;
  at->second.value = value.substr(0, kept_bytes);
  if (by_hash_.size() > capacity) {
    by_hash_.erase(std::prev(by_hash_.end()));
    complete_ = false;
  }
}

double value_sample::distinct_share() const {
  std::uint64_t seen = 0;
  for (const auto& [hash, kept] : by_hash_)
    seen += kept.count;
  return seen == 0 ? 1 : static_cast<double>(by_hash_.size()) / static_cast<double>(seen);
}

std::uint64_t value_sample::distinct() const {
  if (complete_)
    return by_hash_.size();
  if (distinct_share() == 1)
    return added_;
  // The kept hashes are the smallest of as many uniform ones as there are texts.
  const double covered = static_cast<double>(by_hash_.rbegin()->first)
                         / static_cast<double>(std::numeric_limits<std::uint64_t>::max());
  const double estimate = static_cast<double>(capacity - 1) / covered;
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::llround(estimate)),
                                   capacity + 1, added_);
}

std::vector<value_count> value_sample::frequent(std::size_t most) const {
  std::vector<value_count> all;
  for (const auto& [hash, kept] : by_hash_)
    all.push_back(kept);
  std::ranges::sort(all, [](const value_count& a, const value_count& b) {
    return a.count != b.count ? a.count > b.count : a.value < b.value;
  });
  all.resize(std::min(all.size(), most));
  return all;
}

} // namespace clade
