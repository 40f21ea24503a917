#include "genome/base/random.hpp"

#include "genome/base/portable_math.hpp"

#include <Random123/philox.h>

#include <cmath>

// Philox4x64-10: ten rounds that multiply two of the counter's four words by constants,
// swap halves and mix in the key, which is bumped by Weyl constants between rounds. A
// block of four words serves four draws, first word first. The values that are made of 64
// bits:
//
//     uniform    the upper 53 bits / 2^53
//     below(n)   the upper half of the 128-bit product bits * n; the few bits that would
//                favour some outcomes are drawn again (Lemire, ACM TOMACS 29(1), 2019)
//     normal     sqrt(-2 ln(1 - u)) cos(2 pi v)

namespace clade {

std::array<std::uint64_t, 4> philox(const std::array<std::uint64_t, 4>& counter,
                                    const std::array<std::uint64_t, 2>& key) {
  const r123::Philox4x64::ctr_type c{{counter[0], counter[1], counter[2], counter[3]}};
  const r123::Philox4x64::key_type k{{key[0], key[1]}};
  const auto block = r123::Philox4x64{}(c, k);
  return {block[0], block[1], block[2], block[3]};
}

std::uint64_t random_stream::next() {
  if (used_ == words_.size()) {
    words_ = philox({key_.generation, key_.index, key_.attempt, block_},
                    {key_.seed, static_cast<std::uint64_t>(key_.what)});
    ++block_;
    used_ = 0;
  }
  return words_[used_++];
}

double random_stream::uniform() {
  return static_cast<double>(next() >> 11) * 0x1p-53;
}

std::uint64_t random_stream::below(std::uint64_t bound) {
  __extension__ using wide = unsigned __int128;
  wide product = static_cast<wide>(next()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t biased = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < biased)
      product = static_cast<wide>(next()) * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double random_stream::normal() {
  const double radius = std::sqrt(-2 * portable_log(1 - uniform()));
  return radius * portable_cos(uniform());
}

std::optional<std::size_t> draw_by_weight(std::span<const double> weights,
                                          random_stream& random) {
  double sum = 0;
  for (const double w : weights)
    sum += w;
  if (!(sum > 0))
    return std::nullopt;
  double left = random.uniform() * sum;
  std::optional<std::size_t> drawn;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0))
      continue;
    drawn = i; // the last one stays drawn where rounding leaves a rest
    left -= weights[i];
    if (left < 0)
      break;
  }
  return drawn;
}

} // namespace clade
