// Open addressing with linear probing in a power of two of entries, at most three
// quarters full. The key is half of a hash, hence its low bits are the place to start;
// the id 0, which no candidate has, marks what is free, so that every key may occur.
// Nothing is ever removed. A million networks fill 2^21 entries of 16 bytes by half.
#include "engine/search/core/known_networks.hpp"

namespace clade {

candidate_id known_networks::find(genome_hash network) const {
  if (entries_.empty())
    return 0;
  const auto mask = entries_.size() - 1;
  for (auto i = network.low & mask;; i = (i + 1) & mask)
    if (entries_[i].id == 0 || entries_[i].key == network.low)
      return entries_[i].id;
}

void known_networks::insert(genome_hash network, candidate_id id) {
  if (4 * (size_ + 1) > 3 * entries_.size()) {
    std::vector<entry> former(entries_.empty() ? 64 : 2 * entries_.size());
    former.swap(entries_);
    size_ = 0;
    for (const auto& e : former)
      if (e.id != 0)
        insert({.high = 0, .low = e.key}, e.id);
  }
  const auto mask = entries_.size() - 1;
  auto i = network.low & mask;
  while (entries_[i].id != 0 && entries_[i].key != network.low)
    i = (i + 1) & mask;
  if (entries_[i].id == 0) {
    entries_[i] = {network.low, id};
    ++size_;
  } else if (id < entries_[i].id) {
    entries_[i].id = id;
  }
}

} // namespace clade
