// file   := [BOM] row*
// row    := field (',' field)* newline            blank lines are passed over
// field  := text | '"' (any | '""')* '"'          spaces around it do not count
//
// One pass over the text; a row's fields are views of it, and only quoted ones are
// copied.

#include "engine/data/csv_rows.hpp"

#include <algorithm>

namespace clade {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

} // namespace

expected<bool> csv_rows::next(csv_row& r) {
  r.fields.clear();
  r.unquoted.clear();
  while (position_ < text_.size()) {
    const std::size_t end = std::min(text_.find('\n', position_), text_.size());
    if (!trimmed(text_.substr(position_, end - position_)).empty())
      break;
    position_ = std::min(end + 1, text_.size());
    ++line_;
  }
  r.line = line_;
  if (position_ >= text_.size())
    return false;
  for (;;) {
    if (auto read = read_field(r); !read)
      return tl::unexpected(std::move(read).error());
    if (position_ >= text_.size())
      return true;
    if (text_[position_++] == '\n') {
      ++line_;
      return true;
    }
  }
}

// Leaves `position_` at the comma, the newline or the end after it.
expected<void> csv_rows::read_field(csv_row& r) {
  const std::size_t first = text_.find_first_not_of(" \t", position_);
  if (first != std::string_view::npos && text_[first] == '"') {
    position_ = first + 1;
    return read_quoted(r);
  }
  const std::size_t end = std::min(text_.find_first_of(",\n", position_), text_.size());
  r.fields.push_back(trimmed(text_.substr(position_, end - position_)));
  position_ = end;
  return {};
}

expected<void> csv_rows::read_quoted(csv_row& r) {
  std::string& field = r.unquoted.emplace_back();
  for (;;) {
    const std::size_t quote = text_.find('"', position_);
    if (quote == std::string_view::npos)
      return fail(error_kind::invalid_input, "a quote is opened here and never closed");
    const std::string_view part = text_.substr(position_, quote - position_);
    line_ += static_cast<std::uint64_t>(std::count(part.begin(), part.end(), '\n'));
    field += part;
    position_ = quote + 1;
    if (position_ >= text_.size() || text_[position_] != '"')
      break;
    field += '"';
    ++position_;
  }
  r.fields.push_back(trimmed(field));
  const std::size_t end = std::min(text_.find_first_of(",\n", position_), text_.size());
  if (!trimmed(text_.substr(position_, end - position_)).empty())
    return fail(error_kind::invalid_input, "text follows a closing quote");
  position_ = end;
  return {};
}

} // namespace clade
