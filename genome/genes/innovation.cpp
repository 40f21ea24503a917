#include "genome/genes/innovation.hpp"

// A number is a hash of its place, folded from the words that name it:
//
//     split of an edge    hash(kind 1, edge, repetition)
//     edge                hash(kind 2 or, of a delay, 3, from, to, the delay above 1)
//
// by the finaliser of splitmix64 (Steele, Lea and Flood, 2014), a bijection of 64 bits,
// so that two places of one kind that differ in the last word alone never share a number.
// 0 and 1 are the input and the output.

namespace clade {

namespace {

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  std::uint64_t z = (hash ^ word) + 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

constexpr std::uint64_t word_of(innovation id) {
  return static_cast<std::uint64_t>(id);
}

} // namespace

innovation innovation_of_split(const genome& g, innovation edge) {
  const std::uint64_t place = mix(mix(0, 1), word_of(edge));
  for (std::uint64_t repetition = 0;; ++repetition) {
    const innovation id{mix(place, repetition)};
    if (id != input_innovation && id != output_innovation && find_node(g, id) == nullptr)
      return id;
  }
}

innovation innovation_of_edge(innovation from, innovation to, std::uint32_t delay) {
  const auto place = mix(mix(mix(0, delay > 0 ? 3 : 2), word_of(from)), word_of(to));
  return innovation{delay > 1 ? mix(place, delay) : place};
}

} // namespace clade
