#pragma once

#include "engine/config/file/document.hpp"

#include <filesystem>
#include <string>

namespace clade {

/// A document and all that it includes, `include = "other.toml"` beside it: what both
/// say counts as the including one says it, tables key by key. Places name the file in
/// which something stands.
struct merged_document {
  document says;         ///< Without `include`.
  std::string checksums; ///< The checksums of the bytes of each file.
};

[[nodiscard]] expected<merged_document> read_merged(const std::filesystem::path& file);

} // namespace clade
