#pragma once

#include "genome/base/error.hpp"

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace clade {

// The files that a client has of a queue (queue_tokens.hpp names the files): the server's
// `address`, a `token`, the `certificate` if the server has TLS, and `server_users`, for
// servers that are reached by this machine's loopback without TLS.

/// A line for each user whose processes have served the queue, the last first: "UID
/// MACHINE".
inline constexpr const char* server_users_file_name = "server_users";

/// Copies all but the token, which each client has for itself.
[[nodiscard]] expected<void> copy_client_files(const std::filesystem::path& from,
                                               const std::filesystem::path& to);

/// Whether what is there can be believed: who owns the token owns the rest too, or we or
/// root do, nobody else may change it, and nobody else may read the token.
[[nodiscard]] expected<void> check_client_files(const std::filesystem::path& folder);

/// The lines of `server_users` once this process serves too.
[[nodiscard]] std::string with_own_user(const std::filesystem::path& folder);

/// The users of this machine whose processes may be sent the folder's token: our own, root,
/// who owns the token, and those who serve.
[[nodiscard]] std::vector<uid_t>
users_trusted_with_token(const std::filesystem::path& folder);

} // namespace clade
