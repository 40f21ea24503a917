#pragma once

#include "genome/codec/blob.hpp"

#include <filesystem>

namespace clade {

/// The limits of what a program may leave in its checkpoint folder.
struct folder_limits {
  std::uint64_t most_bytes = std::uint64_t{1} << 30;
  std::size_t most_files = 10'000;
};

/// Packs a folder's files and folders, with which of them may be run. An error names what
/// is neither, such as a link, or says that it is too much. Links are refused, as where
/// they lead need not be on the machine that goes on.
[[nodiscard]] expected<blob> pack_folder(const std::filesystem::path& folder,
                                         const folder_limits& limits = {});

/// Writes what `pack_folder` packed into a folder that exists and is empty. Total: any
/// bytes give files below `folder`, or an error.
[[nodiscard]] expected<void> unpack_folder(const blob& packed,
                                           const std::filesystem::path& folder);

} // namespace clade
