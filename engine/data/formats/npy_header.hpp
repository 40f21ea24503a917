#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The facts that a .npy file gives of its array before the values.
struct npy_header {
  std::string descr; ///< The type: "<f4", "<U3", "|O"; "[...]" of several fields.
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::size_t descr_at = 0;  ///< The byte at which the header's text begins.
  std::size_t values_at = 0; ///< The byte at which the values begin.
};

/// So many first bytes hold the header of any array that can be read.
inline constexpr std::size_t array_front_bytes = std::size_t{1} << 17;

/// Reads the header of NumPy's .npy, versions 1 to 3. Errors name the byte.
[[nodiscard]] expected<npy_header> read_npy_header(std::string_view bytes);

[[nodiscard]] bool looks_like_npy(std::string_view bytes);

} // namespace clade
