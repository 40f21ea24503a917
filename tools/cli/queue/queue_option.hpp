#pragma once

#include "tools/cli/base/command.hpp"
#include "tools/queue/client/queue_client.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// Adds `--queue`, which CLADE_QUEUE may say instead.
void add_queue_option(CLI::App& sub, std::filesystem::path& queue);

/// Opens the client of that queue. An error says how to name one.
[[nodiscard]] expected<queue_client> open_queue(const std::filesystem::path& queue);

/// How long those who follow a queue wait for a server that is started again, or another
/// one that takes over.
inline constexpr std::chrono::seconds restart_time{60};

/// Asks for entries (`query` of /v1/entries: "state=all", "ids=1,2") again and again, as
/// they change, until `look` returns false.
[[nodiscard]] expected<void>
follow_entries(queue_client& client, const std::string& query,
               const std::function<bool(const ordered_json& entries)>& look);

/// Adds `--log-limit`, for whoever runs entries.
void add_log_limit_option(CLI::App& sub, std::string& limit);
[[nodiscard]] expected<std::uint64_t> read_log_limit(const std::string& text);

/// Adds `--idle`, for whoever runs entries.
void add_idle_option(CLI::App& sub, std::string& idle);
/// None where it is empty.
[[nodiscard]] expected<std::optional<std::chrono::milliseconds>>
read_idle(const std::string& text);

/// Prints what is wrong while the program goes on.
[[nodiscard]] std::function<void(const error&)> warning(const std::string& program);

/// The name of the user whose process this is.
[[nodiscard]] std::string own_user_name();

/// Whether nothing more happens to an entry, by its "state".
[[nodiscard]] bool is_over(const ordered_json& entry);

} // namespace clade
