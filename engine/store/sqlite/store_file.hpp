#pragma once

#include "genome/base/error.hpp"

#include <sys/types.h>

#include <filesystem>
#include <optional>

namespace clade {

/// Makes an empty file that nobody else may read, whatever the umask: SQLite gives its mode
/// to the files that it makes beside it. SQLite says what goes wrong when it opens it next.
void make_for_owner_alone(const std::filesystem::path& file);

/// Takes from others what they may do to a store and the files beside it.
[[nodiscard]] expected<void> keep_from_others(const std::filesystem::path& file);

/// `conflict`: the file has a second name (a hard link). The files that SQLite and our
/// locks keep beside a file are found by its name, so that two processes that come by
/// different names would both write.
[[nodiscard]] expected<void> check_one_name(const std::filesystem::path& file);

/// Which file has a name.
struct file_identity {
  dev_t device = 0;
  ino_t inode = 0;

  friend bool operator==(const file_identity&, const file_identity&) = default;
};

/// None where no file has the name.
[[nodiscard]] std::optional<file_identity> identity_of(const std::filesystem::path& file);

/// Whether no file, or another one, has the name now; false where that cannot be told.
[[nodiscard]] bool is_replaced(const std::filesystem::path& file,
                               const std::optional<file_identity>& was);

} // namespace clade
