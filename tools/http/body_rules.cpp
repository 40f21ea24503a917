#include "tools/http/body_rules.hpp"

#include "genome/base/text.hpp"
#include "genome/base/whole_file.hpp"

#include <fmt/format.h>

namespace clade {

namespace {

bool wants_length(const std::string& method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

} // namespace

std::optional<std::uint64_t> body_bytes(const httplib::Request& req) {
  if (req.has_header("Transfer-Encoding")
      || req.get_header_value_count("Content-Length") > 1)
    return std::nullopt;
  if (!req.has_header("Content-Length"))
    return 0;
  return parse_number<std::uint64_t>(req.get_header_value("Content-Length"));
}

std::optional<http_refusal> judge_body(const httplib::Request& req, std::uint64_t most) {
  if (req.has_header("Transfer-Encoding"))
    return http_refusal{411, "a body has its Content-Length, and comes in no chunks"};
  if (!req.has_header("Content-Length") && wants_length(req.method))
    return http_refusal{411, "say the Content-Length of the body, also of an empty one"};
  const auto bytes = body_bytes(req);
  if (!bytes)
    return http_refusal{400, "Content-Length is one whole number"};
  if (*bytes > most)
    return http_refusal{
        413,
        fmt::format(
            "the body has {} bytes, and this server takes {} at most; send it in parts",
            *bytes, binary_size(most))};
  if (const auto coding = req.get_header_value("Content-Encoding");
      !coding.empty() && coding != "identity")
    return http_refusal{415, "a body is sent as it is, and not as " + coding};
  // The library takes these apart itself, into values that nobody asks for.
  const auto type = req.get_header_value("Content-Type");
  if (type.starts_with("multipart/form-data")
      || type.starts_with("application/x-www-form-urlencoded"))
    return http_refusal{415, "forms are not taken"};
  return std::nullopt;
}

} // namespace clade
