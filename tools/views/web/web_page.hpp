#pragma once

#include <span>
#include <string_view>

namespace clade {

/// A file of the page, in the binary.
struct web_asset {
  std::string_view path; ///< "/", "/assets/index.js"
  std::string_view type; ///< "text/html; charset=utf-8"
  std::string_view gzip; ///< Its bytes, compressed.
};

/// Returns the files that tools/embed_page made of the built page; nothing in a build
/// without one.
[[nodiscard]] std::span<const web_asset> web_page();

} // namespace clade
