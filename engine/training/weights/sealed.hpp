#pragma once

#include "genome/codec/codec.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace clade {

/// The content of an envelope, and the name that errors give it.
struct sealed_format {
  std::string_view name;     ///< "clade-weights": stored.
  std::uint64_t version = 1; ///< Stored.
  std::string_view place;    ///< "weights"
  std::string_view one;      ///< "weights", "a checkpoint"
};

/// msgpack: [ name, version, payload: binary, checksum: natural ], the checksum being
/// XXH3 of the payload. A flipped bit anywhere is found: in the payload by the checksum,
/// outside it by the grammar or, again, the checksum.
[[nodiscard]] bytes seal(const sealed_format& format, std::span<const char> payload);

/// The payload. Total: another format or version, or damage, is an error of kind corrupt.
[[nodiscard]] expected<bytes> unseal(const sealed_format& format,
                                     std::span<const char> data);

} // namespace clade
