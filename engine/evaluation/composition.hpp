#pragma once

#include "engine/run/records/record.hpp"
#include "genome/codec/blob.hpp"

#include <optional>
#include <span>
#include <vector>

namespace clade {

/// A trained network that may become part of the final model.
struct trained_member {
  candidate_id id = 0;
  clade::genome genome;
  data_fold fold{};
  /// The folds of one genome have the number of the first of them, and become part of the
  /// model together; other members have their own number.
  candidate_id bag = 0;
  bytes weights;
};

/// The use for which models are put together.
enum class composition_purpose : std::uint8_t {
  final_model,
  interim ///< The run goes on, and the test part is not asked.
};

/// The final model, as it was chosen on the validation part and measured on the test part.
struct composition {
  model_composed model;
  examination tested; ///< Empty of an interim one, and so is `compared`.
  /// The models that are no genome's, tested: the linear model, boosted trees of vectors,
  /// random convolutions of sequences, exponential smoothing and the seasonal naive
  /// forecast of forecasts; without those that could not be fitted in time.
  std::vector<examination> compared;
  /// The encoded weights of those of these that are part of the final model; empty
  /// where none is.
  bytes fitted_weights;
};

/// Returns those of the validation part: "validation.accuracy".
[[nodiscard]] std::vector<metric> of_validation(const std::vector<metric>& metrics);

/// Returns the champion as the final model, by its evaluation, with the sentence that says
/// why there is no other; it was not measured on the test part.
[[nodiscard]] composition lone_composition(const evaluation& champion,
                                           const std::string& why);

/// Both travel as msgpack. Decoding is total.
[[nodiscard]] bytes encode(std::span<const trained_member> members);
[[nodiscard]] expected<std::vector<trained_member>>
decode_members(std::span<const char> data);
[[nodiscard]] bytes encode(const composition& c);
[[nodiscard]] expected<composition> decode_composition(std::span<const char> data);

} // namespace clade
