#pragma once

#include "engine/data/columns/data_params.hpp"
#include "genome/codec/codec.hpp"

namespace clade {

/// The text of a model file's "clade_forecast": what `data_params` say of tables of series and
/// of their columns (grammar in stored_forecast.cpp).
[[nodiscard]] bytes encode_forecast(const data_params& params);

/// Reads it again into `params`. Total: any bytes give parameters that can be meant, or an
/// error.
[[nodiscard]] expected<void> decode_forecast(const bytes& raw, data_params& params);

} // namespace clade
