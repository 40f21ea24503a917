#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace clade {

/// The parts of a request that say who asks.
struct web_knock {
  std::string host;       ///< Header Host.
  std::string token;      ///< The token of the address, `?token=`.
  std::string cookies;    ///< Header Cookie.
  std::string fetch_site; ///< Header Sec-Fetch-Site, which browsers send.
};

/// Who may ask the server of a page: whoever knows the token that was printed with the
/// address, from a page of the same origin. A machine has many users, and all of them
/// reach its loopback; and any page that a browser has open may make it ask there, by
/// address or by a name of its own that resolves to 127.0.0.1 (DNS rebinding).
class web_access {
public:
  web_access(std::uint16_t port, std::string token)
      : port_(std::to_string(port)),
        token_(std::move(token)) {}

  /// Returns the address that a person opens.
  [[nodiscard]] std::string address() const;
  /// For Set-Cookie: from then on the browser knows the token, and no script does.
  [[nodiscard]] std::string cookie() const;
  /// A sentence; empty: let in.
  [[nodiscard]] std::string refusal(const web_knock& k) const;

private:
  [[nodiscard]] std::string cookie_name() const { return "clade-" + port_; }

  std::string port_, token_;
};

/// Compares secrets of equal length in a time that does not tell how much of one was right.
[[nodiscard]] bool equal_in_constant_time(std::string_view a, std::string_view b);

/// 128 bits of the kernel's, in hexadecimal.
[[nodiscard]] expected<std::string> random_token();

} // namespace clade
