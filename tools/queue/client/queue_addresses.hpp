#pragma once

#include "genome/base/error.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace clade {

/// The bytes of the body of a request that a queue's server takes.
inline constexpr std::uint64_t most_posted_bytes = 16 << 20;

struct queue_server_params {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0; ///< 0: any that is free.
  /// PEM files; both empty: no TLS, and then `host` must be a loopback address.
  std::filesystem::path certificate{}, key{};
  /// The address that clients are told instead, if they come by another name. Empty: host
  /// and port.
  std::string advertised{};
};

/// Returns the address that clients are told: "http://127.0.0.1:4711".
[[nodiscard]] std::string address_of(const queue_server_params& params);

/// Reads host and port of "127.0.0.1:4711", "[::1]:4711", also behind "http://" and
/// "https://". `invalid_input`: it is none.
[[nodiscard]] expected<void> read_address(std::string text, queue_server_params& params);

/// Whether clients may be told it: "https://lab2:4711".
[[nodiscard]] expected<void> check_advertised(const std::string& address);

/// The lines of the file `address` in a queue's folder, or one that a user was given: where
/// its servers are, the one that served last first. None where there is no such file.
[[nodiscard]] std::vector<std::string>
read_addresses(const std::filesystem::path& folder);

/// The number of addresses that the file names.
inline constexpr std::size_t most_addresses = 8;

/// The lines with `added` as the first, or as the last where it is no line yet.
[[nodiscard]] std::vector<std::string>
with_address(std::vector<std::string> lines, const std::string& added, bool as_first);

/// The header of each answer of a server that serves: where the queue's servers are, with
/// spaces between them.
inline constexpr const char* servers_header = "Queue-Servers";

/// Takes in what a server has said so for the folder that a user or a machine was given, and
/// returns the addresses that it has then. Lines that the server does not know are somebody's
/// own, and stay; who asks by TLS learns of nobody without. A folder that may not be written
/// stays as it is.
[[nodiscard]] std::vector<std::string>
learn_addresses(const std::filesystem::path& folder, const std::string& said);

struct added_address {
  std::filesystem::path folder; ///< The queue's.
  std::string added{};
  bool as_first = false;
  std::filesystem::path certificate{}; ///< That all servers show; empty: as it was.
};

/// Writes down where another server of the queue is, and that this process's user serves
/// it, for its folder and those of its users; one process at a time.
[[nodiscard]] expected<void> add_address(const added_address& address);

} // namespace clade
