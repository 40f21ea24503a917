#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace clade {

/// The kind of decision that random numbers are drawn for. Part of the key of every
/// random stream, and stored with nothing: the numbers are for ever, new purposes go to
/// the end.
enum class purpose : std::uint32_t {
  sample = 1,     ///< A genome of generation 0.
  selection = 2,  ///< Which parents breed.
  mutation = 3,   ///< The changes of a child.
  crossover = 4,  ///< Which parent a gene comes from.
  training = 5,   ///< Initial values, order of examples, dropout, augmentation.
  split = 6,      ///< Which examples are train, validation and test.
  synthetic = 7,  ///< The values of the synthetic fitness.
  baseline = 8,   ///< The linear model that a champion is compared with.
  surrogate = 9,  ///< The fit of a model of fitness.
  screening = 10, ///< Which children such a model looks at.
  /// The choices that local search, TPE and islands make in their own ways.
  proposal = 11,
  /// The choices of a search with several objectives: who fills a niche, and who breeds
  /// from them.
  niches = 12,
  difference = 13,  ///< Which coordinates of a vector are moved (dehb).
  exploration = 14, ///< How hyperparameters change within training.
  inherit = 15,     ///< Which units of a layer are taken over twice, and their shares.
  importance = 16,  ///< How the values of a column are dealt among examples.
};

/// Ten rounds of Philox4x64: a bijection of the counter for each key, the base of all
/// randomness.
[[nodiscard]] std::array<std::uint64_t, 4>
philox(const std::array<std::uint64_t, 4>& counter,
       const std::array<std::uint64_t, 2>& key);

/// A stream of random numbers that is a pure function of its key: Philox4x64-10 (Salmon
/// et al., SC 2011) with key (seed, purpose) and counter (generation, index, attempt,
/// block). All that is drawn from it is defined here by arithmetic alone, so that every
/// machine draws the same.
class random_stream {
public:
  struct key {
    std::uint64_t seed = 0;
    purpose what = purpose::sample;
    std::uint64_t generation = 0;
    std::uint64_t index = 0;
    std::uint64_t attempt = 0;
  };

  explicit random_stream(const key& k) : key_(k) {}

  /// 64 random bits.
  std::uint64_t next();

  /// Uniform in [0, 1) with 53 bits.
  double uniform();

  /// Uniform in [0, bound) without bias (Lemire, 2019); bound must be positive.
  std::uint64_t below(std::uint64_t bound);

  /// Standard normal (Box-Muller; one of the pair is thrown away, so that a draw always
  /// takes the same number of bits).
  double normal();

  bool chance(double probability) { return uniform() < probability; }

private:
  key key_;
  std::uint64_t block_ = 0;
  std::array<std::uint64_t, 4> words_{};
  std::size_t used_ = 4;
};

/// The stream for one decision: `derive(seed, purpose::mutation, generation, index)`.
[[nodiscard]] inline random_stream derive(std::uint64_t seed, purpose what,
                                          std::uint64_t generation, std::uint64_t index,
                                          std::uint64_t attempt = 0) {
  return random_stream({seed, what, generation, index, attempt});
}

/// An index drawn in proportion to the weights; none if they sum to nothing.
[[nodiscard]] std::optional<std::size_t> draw_by_weight(std::span<const double> weights,
                                                        random_stream& random);

} // namespace clade
