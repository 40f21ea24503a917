#include "actors/endpoint.hpp"

#include <charconv>

namespace clade {

expected<endpoint> parse_endpoint(const std::string& text) {
  const auto colon = text.rfind(':');
  unsigned port = 0;
  const char* end = text.data() + text.size();
  if (colon != std::string::npos && colon > 0) {
    auto [rest, failure] = std::from_chars(text.data() + colon + 1, end, port);
    if (failure == std::errc{} && rest == end && port <= 65'535)
      return endpoint{.host = text.substr(0, colon),
                      .port = static_cast<std::uint16_t>(port)};
  }
  return fail(error_kind::invalid_input,
              "\"" + text + "\" is no address: write HOST:PORT");
}

} // namespace clade
