#pragma once

#include "engine/data/columns/column_encoding.hpp"
#include "genome/codec/codec.hpp"

#include <span>
#include <string>
#include <vector>

namespace clade {

/// The stored form of a column (grammar at the top of column_codec.cpp).
void encode(encoder& out, const column_encoding& column);

/// Reads it again. Whether it is one that columns may have, `is_sound` says.
[[nodiscard]] column_encoding decode_column(decoder& in);

/// Whether what those rely on who encode fields holds: values are in order, and there are
/// as many weights and coefficients as they need.
[[nodiscard]] bool is_sound(const column_encoding& column);

void encode_list(encoder& out, const std::vector<std::string>& texts);
void encode_list(encoder& out, std::span<const double> numbers);
[[nodiscard]] std::vector<std::string> decode_texts(decoder& in);

/// Reads a number that 32 bits hold, not to the last digit.
[[nodiscard]] double decode_finite(decoder& in);

} // namespace clade
