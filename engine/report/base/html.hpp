#pragma once

#include <string>
#include <string_view>

namespace clade {

/// Text as the content of an element, or of an attribute between quotes, of HTML or SVG:
/// no part of it is taken for markup. Bytes that are no UTF-8, and control characters,
/// become U+FFFD; ends of lines and tabs stay.
[[nodiscard]] std::string escaped(std::string_view text);

/// The same for Markdown, on one line: whatever could begin emphasis, code, a link, a
/// column or an element is escaped.
[[nodiscard]] std::string escaped_markdown(std::string_view text);

/// Returns an address that holds the bytes itself: "data:image/png;base64,iVBO...".
[[nodiscard]] std::string data_address(std::string_view type, std::string_view bytes);

/// A page up to its content, in the style of reports: it loads nothing, but for images
/// that it holds itself.
[[nodiscard]] std::string page_head(std::string_view title);

/// The style of a report, for light, dark and paper. Elements of charts have classes:
/// "c1" to "c4" are the colours of series.
extern const char* const report_style;

} // namespace clade
