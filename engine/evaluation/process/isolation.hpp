#pragma once

#include "genome/base/error.hpp"
#include "genome/base/unique_fd.hpp"

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

namespace clade {

/// Hides folders from programs that run as the same user: to them, and to all that they
/// start, these are empty and cannot be written. They see all other files with the rights
/// that they would have, and are the same user. They cannot look into processes outside,
/// nor take the cover away.
///
/// That is a user namespace and a mount namespace (user_namespaces(7)), which all programs
/// of one object share. No right is needed for them; but some systems refuse them to all,
/// or to all but root.
class isolation {
public:
  /// Folders that are not there are left out. Starts a process and waits for its end. An
  /// error says what is refused.
  [[nodiscard]] static expected<isolation>
  make(const std::vector<std::filesystem::path>& hidden);

  /// Has the calling process, a fresh fork that is to become a program, enter. Allocates
  /// nothing. False: see errno.
  [[nodiscard]] bool enter() const;

private:
  isolation(unique_fd users, unique_fd mounts, bool is_root)
      : users_(std::move(users)),
        mounts_(std::move(mounts)),
        is_root_(is_root) {}

  unique_fd users_, mounts_;
  bool is_root_;
};

/// The same; nothing where the system refuses it, which standard error is told, or where
/// there is nothing to hide.
[[nodiscard]] std::optional<isolation>
isolation_from(const std::vector<std::filesystem::path>& hidden);

} // namespace clade
