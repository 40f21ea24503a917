#include "tools/views/web/web_access.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>

namespace clade {

namespace {

/// The value of a cookie in "a=1; b=2"; empty: it is not there.
std::string_view cookie_value(std::string_view all, std::string_view name) {
  while (!all.empty()) {
    const auto end = std::min(all.find(';'), all.size());
    auto one = all.substr(0, end);
    all.remove_prefix(std::min(end + 1, all.size()));
    while (one.starts_with(' '))
      one.remove_prefix(1);
    if (one.starts_with(name) && one.substr(name.size()).starts_with('='))
      return one.substr(name.size() + 1);
  }
  return {};
}

} // namespace

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size())
    return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

std::string web_access::address() const {
  return fmt::format("http://127.0.0.1:{}/?token={}", port_, token_);
}

std::string web_access::cookie() const {
  return fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/", cookie_name(), token_);
}

std::string web_access::refusal(const web_knock& k) const {
  if (k.host != "127.0.0.1:" + port_ && k.host != "localhost:" + port_)
    return "this is not 127.0.0.1:" + port_;
  if (equal_in_constant_time(k.token, token_))
    return {};
  if (!equal_in_constant_time(cookie_value(k.cookies, cookie_name()), token_))
    return "open the whole address that clade printed, with its token";
  // Cookies do not tell one port from another: this is how a page of another one looks.
  if (!k.fetch_site.empty() && k.fetch_site != "same-origin" && k.fetch_site != "none")
    return "another page may not ask here";
  return {};
}

expected<std::string> random_token() {
  std::array<unsigned char, 16> drawn{};
  if (::getrandom(drawn.data(), drawn.size(), 0) != static_cast<ssize_t>(drawn.size()))
    return fail(error_kind::io, "the kernel gave no random bytes");
  std::string token;
  for (const auto byte : drawn) {
    token += "0123456789abcdef"[byte >> 4];
    token += "0123456789abcdef"[byte & 15];
  }
  return token;
}

} // namespace clade
