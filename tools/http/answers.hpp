#pragma once

#include "genome/base/error.hpp"

#include <httplib.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace clade {

// The answers that handlers give. No other file hands the library a provider, which it
// calls with whatever bounds somebody asks for (tools/check_layers).

/// Headers of every answer: the page may load nothing from elsewhere, and no other page
/// may load it.
[[nodiscard]] httplib::Headers headers_of_all();

/// The library compresses what is given as a whole, which on loopback costs more than it
/// saves; not what it asks for piece by piece.
void give(httplib::Response& res, const char* type, std::string text);
/// The same of bytes that outlive the server.
void give_static(httplib::Response& res, const std::string& type, std::string_view bytes);
/// {"error": message}
void give_error(httplib::Response& res, int status, const std::string& message);
/// The JSON text, or the error with the status that fits its kind.
void give_json(httplib::Response& res, expected<std::string> text);

/// Gives what `next` returns, piece after piece, until it returns none; it may wait. `ended`
/// is called once, after the last.
void give_stream(httplib::Response& res, const char* type,
                 std::function<std::optional<std::string>()> next,
                 std::function<void()> ended);

/// Reads the number `name` of the address; `otherwise` where it is left out.
[[nodiscard]] expected<std::uint64_t>
number_of(const httplib::Request& req, const std::string& name, std::uint64_t otherwise);

} // namespace clade
