#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace clade {

/// The address at which a head listens.
struct endpoint {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;

  friend bool operator==(const endpoint&, const endpoint&) = default;
};

/// "127.0.0.1:4711"
[[nodiscard]] expected<endpoint> parse_endpoint(const std::string& text);

/// Several of them with commas between.
[[nodiscard]] expected<std::vector<endpoint>> parse_endpoints(const std::string& text);

[[nodiscard]] std::string to_text(const endpoint& e);

/// Whether this process could listen there now; `conflict` if not, with what to ask
/// oneself.
[[nodiscard]] expected<void> check_listening(const endpoint& e);

} // namespace clade
