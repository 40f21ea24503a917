// file   := [BOM] row*
// row    := field (delimiter field)* newline      blank lines are passed over
// field  := text | quote (any | quote quote)* quote    spaces around it do not count
//
// line   := word blank+ text newline                if the first blank of a line parts it
//
// If the delimiter is a space, any number of spaces is one, and those at the ends of a
// line are none.
//
// One pass over the text; a row's fields are views of it, and only quoted ones are
// copied.

#include "engine/data/bytes/csv_rows.hpp"

#include "genome/base/text.hpp"

#include <algorithm>

namespace clade {

namespace {

// A line end in quotes is part of the text that it ends.
constexpr std::string_view blanks = " \t\r";

} // namespace

expected<bool> csv_rows::next(csv_row& r) {
  r.fields.clear();
  r.unquoted.clear();
  if (dialect_.first_blank)
    return next_line(r);
  while (position_ < text_.size()) {
    const std::size_t end = std::min(text_.find('\n', position_), text_.size());
    const auto line = text_.substr(position_, end - position_);
    // In a table by tabs, a line of tabs is a row of blanks.
    if (!trimmed(line, blanks).empty()
        || line.find(dialect_.delimiter) != std::string_view::npos)
      break;
    position_ = std::min(end + 1, text_.size());
    ++line_;
  }
  r.line = line_;
  if (position_ >= text_.size())
    return false;
  pass_spaces();
  for (;;) {
    if (auto read = read_field(r); !read)
      return tl::unexpected(std::move(read).error());
    if (pass_spaces())
      continue;
    if (position_ >= text_.size())
      return true;
    if (text_[position_++] == '\n') {
      ++line_;
      return true;
    }
  }
}

/// A line of one word has an empty text.
bool csv_rows::next_line(csv_row& r) {
  for (; position_ < text_.size(); ++line_) {
    const std::size_t end = std::min(text_.find('\n', position_), text_.size());
    const auto line = trimmed(text_.substr(position_, end - position_), blanks);
    position_ = std::min(end + 1, text_.size());
    if (line.empty())
      continue;
    const auto blank = std::min(line.find_first_of(" \t"), line.size());
    r.line = line_++;
    r.fields = {line.substr(0, blank), trimmed(line.substr(blank), blanks)};
    return true;
  }
  r.line = line_;
  return false;
}

// If spaces part fields, passes over those that stand here; returns whether a field
// follows on the line.
bool csv_rows::pass_spaces() {
  if (dialect_.delimiter != ' ')
    return false;
  position_ = std::min(text_.find_first_not_of(" \t\r", position_), text_.size());
  return position_ < text_.size() && text_[position_] != '\n';
}

std::size_t csv_rows::end_of_field() const {
  return std::min(
      text_.find_first_of(std::string_view(ends_.data(), ends_.size()), position_),
      text_.size());
}

// Leaves `position_` at the delimiter, the newline or the end after it.
expected<void> csv_rows::read_field(csv_row& r) {
  const std::size_t first =
      text_.find_first_not_of(dialect_.delimiter == '\t' ? " " : " \t", position_);
  if (first != std::string_view::npos && dialect_.quote != '\0'
      && text_[first] == dialect_.quote) {
    position_ = first + 1;
    return read_quoted(r);
  }
  const std::size_t end = end_of_field();
  r.fields.push_back(trimmed(text_.substr(position_, end - position_), blanks));
  position_ = end;
  return {};
}

expected<void> csv_rows::read_quoted(csv_row& r) {
  const char mark = dialect_.quote;
  std::string& field = r.unquoted.emplace_back();
  for (;;) {
    const std::size_t quote = text_.find(mark, position_);
    if (quote == std::string_view::npos)
      return fail(error_kind::invalid_input, "a quote is opened here and never closed");
    const std::string_view part = text_.substr(position_, quote - position_);
    line_ += static_cast<std::uint64_t>(std::count(part.begin(), part.end(), '\n'));
    field += part;
    position_ = quote + 1;
    if (position_ >= text_.size() || text_[position_] != mark)
      break;
    field += mark;
    ++position_;
  }
  r.fields.push_back(trimmed(field, blanks));
  const std::size_t end = end_of_field();
  if (!trimmed(text_.substr(position_, end - position_), blanks).empty())
    return fail(error_kind::invalid_input, "text follows a closing quote");
  position_ = end;
  return {};
}

} // namespace clade
