#pragma once

#include "engine/training/final/trainer.hpp"
#include "tests/support/listener.hpp"
#include "tests/support/scratch.hpp"

namespace clade {

/// Three classes of two columns, far apart: a dense network tells them all apart.
[[nodiscard]] std::string separable_csv(std::size_t examples);

/// Two columns of noise, and a class that has nothing to do with them.
[[nodiscard]] std::string noise_csv(std::size_t examples);

/// y = 100 + 30 a - 20 b.
[[nodiscard]] std::string plane_csv(std::size_t examples);

/// Two classes of two columns from -1 to 1, which have the same sign or not.
[[nodiscard]] std::string chequered_csv(std::size_t examples);

/// 24 steps of noise with a wave at some place, whose length is that of one of two classes.
[[nodiscard]] std::string waves_csv(std::size_t examples);

/// 6x6 images of two classes: a bright upper or a bright lower half, with noise.
[[nodiscard]] std::string halves_csv(std::size_t examples);

/// A file of data, and a trainer for it over a space with every operator.
class training_bench {
public:
  explicit training_bench(const std::string& csv);

  training_setup setup;

  /// The test fails if there is none.
  [[nodiscard]] std::unique_ptr<fitness_function> trainer() const;

private:
  scratch_folder folder_;
};

/// input -> dense(units=16, relu) -> output
[[nodiscard]] genome a_dense_network();

/// input -> conv(filters=4) -> dropout -> output
[[nodiscard]] genome a_conv_network();

/// Job `id` for that genome: 10 epochs.
[[nodiscard]] job a_job(genome g, candidate_id id = 1);

[[nodiscard]] double metric_of(const std::vector<metric>& metrics, std::string_view name);

} // namespace clade
