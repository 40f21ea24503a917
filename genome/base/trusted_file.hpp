#pragma once

#include "genome/base/error.hpp"

#include <sys/types.h>

#include <filesystem>
#include <optional>

namespace clade {

/// How a file or folder is trusted.
struct file_trust {
  /// Others must not read it either.
  bool secret = false;
  /// But a group may read it where root owns it, as keys of TLS often lie in /etc.
  bool group_of_root = false;
  /// Its owner may be this user too, beside our own and root.
  std::optional<uid_t> also{};
};

/// Says why what stands in a file, or which files are in a folder, must not be believed:
/// another user owns it, or others may change or read it; of a folder, our own group may
/// change it. The error says what to do about it. `not_found`: there is none.
[[nodiscard]] expected<void> check_trusted(const std::filesystem::path& path,
                                           const file_trust& trust = {});

/// The user who owns it; none where there is no such file.
[[nodiscard]] std::optional<uid_t> owner_of(const std::filesystem::path& path);

} // namespace clade
