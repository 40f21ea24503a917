#pragma once

#include "engine/queue/queue_entry.hpp"
#include "genome/base/error.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace clade {

// Each entry that runs asks its queue with a token of its own, "entry-12-...", which lies
// in its folder of the queue's folder.

/// Returns whether a text has the form of such a token of the entry.
[[nodiscard]] bool is_token_of(entry_id id, std::string_view token);

/// Returns the entry of which a text would be the token; none for other texts.
[[nodiscard]] std::optional<entry_id> entry_of_token(std::string_view token);

[[nodiscard]] bool has_token(const std::filesystem::path& queue, entry_id id);

/// Returns the token of an entry; one without a token is given one.
[[nodiscard]] expected<std::string> given_token(const std::filesystem::path& queue,
                                                entry_id id);

/// Gives an entry this token, in the place of any other.
[[nodiscard]] expected<void> give_token(const std::filesystem::path& queue, entry_id id,
                                        const std::string& token);

/// Compares in a time that tells nothing of the entry's token. False: it cannot be read.
[[nodiscard]] bool is_its_token(const std::filesystem::path& queue, entry_id id,
                                std::string_view token);

} // namespace clade
