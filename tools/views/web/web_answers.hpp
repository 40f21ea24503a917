#pragma once

#include "genome/error.hpp"

#include <httplib.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace clade {

/// Gives the server that port of `host`, or any that is free (0), which it shares with no
/// other process. Returns the port; 0 where it cannot be had. What it accepts sends small
/// answers at once.
[[nodiscard]] std::uint16_t bind_own_port(httplib::Server& server,
                                          const std::string& host, std::uint16_t port);

/// Headers of every answer: the page may load nothing from elsewhere, and no other page
/// may load it.
[[nodiscard]] httplib::Headers headers_of_all();

/// The library compresses what is given as a whole, which on loopback costs more than it
/// saves; not what it asks for piece by piece.
void give(httplib::Response& res, const char* type, std::string text);
/// {"error": message}
void give_error(httplib::Response& res, int status, const std::string& message);
/// The JSON text, or the error with the status that fits its kind.
void give_json(httplib::Response& res, expected<std::string> text);

/// The file of the built page (web_page.hpp) that has this path; false: there is none, and
/// nothing is answered.
[[nodiscard]] bool give_page_file(httplib::Response& res, std::string_view path);

/// Makes the library forget the ranges that a request asks for, as a server may (RFC 9110,
/// 14.2): every answer, refusals too, is given whole. For the handlers before routing and
/// of errors.
void ignore_ranges(const httplib::Request& req);

/// Reads the number `name` of the address; `otherwise` where it is left out.
[[nodiscard]] expected<std::uint64_t>
number_of(const httplib::Request& req, const std::string& name, std::uint64_t otherwise);

} // namespace clade
