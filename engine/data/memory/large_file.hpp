#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace clade {

/// So many bytes lie before a large block in its file: a page, so that the block can be
/// mapped by itself.
constexpr std::size_t large_prefix_bytes = 4096;

/// Gives the file of a block of `allocate_large` the name `file`, in place of what has it:
/// `prefix`, of `large_prefix_bytes`, the first `bytes` of the block, and `suffix`. Nothing
/// is copied but these two, and the block, of which nobody may use more than those bytes from
/// then on, goes on to be that of the file. False if it lies in no such file, or the file
/// system gives no names to files without one; then the block is as it was.
[[nodiscard]] bool name_large_file(const void* block, std::size_t bytes,
                                   std::string_view prefix, std::string_view suffix,
                                   const std::filesystem::path& file);

} // namespace clade
