#pragma once

#include <httplib.h>

#include <cstdint>
#include <optional>
#include <string>

namespace clade {

/// Why a request is not read any further.
struct http_refusal {
  int status = 400;
  std::string why; ///< A sentence.

  friend bool operator==(const http_refusal&, const http_refusal&) = default;
};

/// Returns how many bytes follow the headers of a request; none where nobody can say: they
/// come in chunks, or the number is none.
[[nodiscard]] std::optional<std::uint64_t> body_bytes(const httplib::Request& req);

/// Whether a body may be read that the headers announce, of `most` bytes at most: as it is
/// and with its length said before, for what is compressed or comes in chunks may be
/// longer than anybody has memory. To be asked before a byte of it is.
[[nodiscard]] std::optional<http_refusal> judge_body(const httplib::Request& req,
                                                     std::uint64_t most);

} // namespace clade
