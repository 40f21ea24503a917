#pragma once

#include "genome/base/error.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

enum class queue_role : std::uint8_t {
  viewer, ///< Sees what is in the queue.
  user,   ///< Submits, and reads and cancels their own.
  admin,  ///< Reads and cancels everybody's.
  worker, ///< A machine: runs what is in the queue, and sees what is.
};

[[nodiscard]] std::string_view to_text(queue_role r);
[[nodiscard]] std::optional<queue_role> parse_role(std::string_view text);

struct queue_user {
  std::string name;
  queue_role role = queue_role::viewer;
  /// The running entry that asks as this user; 0: none, the user does.
  std::uint64_t entry = 0;

  friend bool operator==(const queue_user&, const queue_user&) = default;
};

/// In a queue's folder: who may ask its server, a line for each, "ROLE NAME TOKEN". Mode
/// 0600, and its owner's is the folder.
inline constexpr const char* tokens_file_name = "tokens";
/// The files that a client has: a folder with the server's `address` and a `token`, and
/// its `certificate` if the server has TLS (client_folder.hpp has the rest). The queue's
/// folder is that of who serves; there is one for each other user in `users`, to be given
/// to them.
inline constexpr const char* users_folder_name = "users";
inline constexpr const char* address_file_name = "address";
inline constexpr const char* token_file_name = "token";
inline constexpr const char* certificate_file_name = "certificate";

/// With this begins the token of an entry that runs; no user's does.
inline constexpr std::string_view entry_token_prefix = "entry-";

/// The tokens and the users who have them. A changed file counts at once, so that a line
/// that somebody deletes lets nobody in. Any thread.
class queue_tokens {
public:
  explicit queue_tokens(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Makes the file with a token for an admin of that name where there is none. Returns
  /// whether there should have been one: the queue is not new.
  [[nodiscard]] expected<bool> prepare(const std::string& admin);

  /// Adds a user, and the folder that they are to be given; returns it. `conflict`: there
  /// is one of that name.
  [[nodiscard]] expected<std::filesystem::path> add(const queue_user& u);

  /// The user whose token it is. `refused`: nobody's. An error: the file cannot be read,
  /// it or the folder is another user's, or others may read or change it.
  [[nodiscard]] expected<queue_user> find(const std::string& token);

  /// The file as it is.
  [[nodiscard]] expected<std::string> text() const;

private:
  struct line {
    queue_user user;
    std::string token;
  };

  [[nodiscard]] std::filesystem::path file() const { return folder_ / tokens_file_name; }
  [[nodiscard]] expected<void> read();
  [[nodiscard]] expected<std::string> append(const queue_user& u);

  std::filesystem::path folder_;
  std::mutex mutex_;
  std::vector<line> lines_;
  std::array<std::int64_t, 3> version_{}; ///< The version of the file that was read.
  bool read_ = false;
};

/// Whether it can stand in the file: letters, digits, ".", "-" and "_", 64 at most.
[[nodiscard]] expected<void> check_user_name(const std::string& name);

/// Writes a file that nobody else may read, in the place of one that is there.
[[nodiscard]] expected<void> write_private(const std::filesystem::path& file,
                                           const std::string& content);

} // namespace clade
