#pragma once

#include "genome/error.hpp"

#include <cstdint>
#include <string>

namespace clade {

/// Where a head listens.
struct endpoint {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
};

/// "127.0.0.1:4711"
[[nodiscard]] expected<endpoint> parse_endpoint(const std::string& text);

} // namespace clade
