#pragma once

#include "engine/store/overview.hpp"
#include "genome/codec.hpp"

#include <optional>

namespace clade {

// Parts of what wire.hpp describes, for the files of this folder alone.

void encode(encoder& out, const candidate_line& l);
[[nodiscard]] candidate_line decode_line(decoder& d);

inline void encode(encoder& out, const std::optional<double>& v) {
  if (v)
    out.real(*v);
  else
    out.nil();
}

inline std::optional<double> decode_optional_real(decoder& d) {
  return d.is_nil() ? std::nullopt : std::optional(d.real());
}

} // namespace clade
