#pragma once

#include <fmt/format.h>
#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace clade {

/// The kind of thing that went wrong outside the program. The tools map the first five to
/// exit status 2 (the user can mend it) and the others to 1 (the machine or we must).
enum class error_kind : std::uint8_t {
  invalid_input, ///< A file or an argument says something that cannot be done.
  not_found,     ///< A file, run or candidate that is not there.
  corrupt,       ///< Stored bytes that do not match their checksum or grammar.
  conflict,      ///< In use by somebody else, or made by another version.
  refused,       ///< The other side does not let us in.
  io,            ///< The machine failed: disk full, no memory, connection lost.
  internal,      ///< We failed.
};

/// One line for the person at the keyboard: what, where ("experiments/x.toml:14: ..."),
/// what to do.
struct error {
  error_kind kind = error_kind::internal;
  std::string message;

  friend bool operator==(const error&, const error&) = default;
};

/// Every function that can fail for a reason outside the program returns this.
template<class T>
using expected = tl::expected<T, error>;

[[nodiscard]] inline tl::unexpected<error> fail(error_kind kind, std::string message) {
  return tl::unexpected<error>(error{kind, std::move(message)});
}

/// Puts the place before the message: `in("a.toml:3", e)` gives "a.toml:3: ...".
[[nodiscard]] inline tl::unexpected<error> fail_in(std::string_view place, error cause) {
  return fail(cause.kind, fmt::format("{}: {}", place, std::move(cause.message)));
}

} // namespace clade
