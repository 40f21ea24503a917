#pragma once

#include <optional>
#include <string_view>

namespace clade {

/// A kind of text that is no table, and what to do with a file of it.
struct text_kind {
  std::string_view kind, way;
  bool sentences = false; ///< Lines of sentences, each of which a model may take.
};

/// Tells what a text is that is no CSV: JSON, JSON lines, HTML, XML, ARFF, .ts, LIBSVM,
/// sentences. Nothing where it may be a CSV.
[[nodiscard]] std::optional<text_kind> text_kind_of(std::string_view text);

} // namespace clade
