// file      := (comment | blank)* '@relation' name  attribute* '@data' row*
// attribute := '@attribute' name type        type := '{' value, ... '}' | numeric | real
//                                                    | integer | string | date [format]
// row       := field ',' field ...           in full
//            | '{' number field ',' ... '}'  sparse: the number is the attribute's from 0
// field     := '?' | text | "'" text "'" | '"' text '"'    with \ before marks
//
// In a sparse row what is not named is 0, or the first value of a nominal attribute. A
// weight "{3}" behind a row is passed over.

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/converted/table_readers.hpp"
#include "engine/data/converted/table_text.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace clade {
namespace {

constexpr std::string_view blanks = " \t\r";

tl::unexpected<error> wrong(std::string message) {
  return fail(error_kind::invalid_input, std::move(message));
}

/// A field as it is written, without its quotes.
struct arff_field {
  std::string text;
  bool quoted = false;

  [[nodiscard]] bool missing() const { return !quoted && text == "?"; }
};

/// Takes words and marks from the front of a line.
class line_scanner {
public:
  explicit line_scanner(std::string_view line) : rest_(trimmed(line, blanks)) {}

  [[nodiscard]] bool done() const { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }
  bool take(char mark) {
    if (!rest_.starts_with(mark))
      return false;
    rest_ = trimmed(rest_.substr(1), blanks);
    return true;
  }
  bool take_word(std::string_view word) {
    if (rest_.size() < word.size()
        || !equal_in_any_case(rest_.substr(0, word.size()), word))
      return false;
    rest_ = trimmed(rest_.substr(word.size()), blanks);
    return true;
  }
  /// A text in quotes, or up to one of `ends`; nothing where a quote is not closed.
  std::optional<arff_field> take_field(std::string_view ends) {
    arff_field out;
    if (rest_.starts_with('\'') || rest_.starts_with('"')) {
      const char mark = rest_.front();
      std::size_t at = 1;
      for (; at < rest_.size() && rest_[at] != mark; ++at) {
        if (rest_[at] == '\\' && at + 1 < rest_.size())
          ++at;
        out.text += rest_[at];
      }
      if (at == rest_.size())
        return std::nullopt;
      out.quoted = true;
      rest_ = trimmed(rest_.substr(at + 1), blanks);
      return out;
    }
    const auto end = std::min(rest_.find_first_of(ends), rest_.size());
    out.text = trimmed(rest_.substr(0, end), blanks);
    rest_ = trimmed(rest_.substr(end), blanks);
    return out;
  }

private:
  std::string_view rest_;
};

struct arff_attribute {
  std::string name;
  bool text = false;         ///< Nominal, or a string.
  std::string unnamed = "0"; ///< Its value where a sparse row does not name it.
};

class arff_reader {
public:
  arff_reader(std::string_view text, const table_choice& which)
      : text_(text),
        out_(which.most_bytes) {}

  expected<converted_table> read() {
    if (auto fine = read_header(); !fine)
      return tl::unexpected(std::move(fine).error());
    std::vector<std::string> names;
    for (const auto& a : attributes_)
      names.push_back(a.name);
    auto fine = out_.names(names);
    for (std::size_t row = 1; fine && next_line();) {
      if (line_.empty())
        continue;
      if (auto whole = read_row(); !whole)
        return fail_in(fmt::format("row {}", row), std::move(whole).error());
      fine = out_.end_row();
      ++row;
    }
    if (!fine)
      return tl::unexpected(std::move(fine).error());
    converted_table table;
    table.text = out_.take();
    table.facts.kind = "ARFF";
    for (const auto& a : attributes_)
      table.facts.texts.push_back(a.text);
    return table;
  }

private:
  /// Sets `line_` to the next one, without spaces around it; a comment is empty.
  bool next_line() {
    if (text_.empty())
      return false;
    const auto end = std::min(text_.find('\n'), text_.size());
    line_ = trimmed(text_.substr(0, end), blanks);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    if (line_.starts_with('%'))
      line_ = {};
    return true;
  }

  expected<void> read_header() {
    if (text_.starts_with("\xef\xbb\xbf"))
      text_.remove_prefix(3);
    while (next_line()) {
      line_scanner s(line_);
      if (s.take_word("@data"))
        return attributes_.empty() ? wrong("has no @attribute before @data")
                                   : expected<void>();
      if (!s.take_word("@attribute"))
        continue;
      if (attributes_.size() == most_table_columns)
        return wrong(fmt::format("has more than {} attributes, which are not read",
                                 most_table_columns));
      if (auto fine = read_attribute(s); !fine)
        return fine;
    }
    return wrong("has no line @data, behind which the rows stand");
  }

  expected<void> read_attribute(line_scanner& s) {
    auto name = s.take_field(" \t{");
    if (!name)
      return wrong(fmt::format("a quote is not closed in {}", in_quotes(line_)));
    arff_attribute a{.name = std::move(name->text)};
    if (s.take('{')) {
      a.text = true;
      const auto first = s.take_field(",}");
      a.unnamed = first ? first->text : "";
    } else if (s.take_word("string")) {
      a.text = true;
      a.unnamed = "";
    } else if (s.take_word("date")) {
      a.unnamed = "";
    } else if (!s.take_word("numeric") && !s.take_word("real")
               && !s.take_word("integer")) {
      return wrong(fmt::format("attribute {} is of the type {}; numeric, nominal, string "
                               "and date are read",
                               in_quotes(a.name), in_quotes(s.rest())));
    }
    attributes_.push_back(std::move(a));
    return {};
  }

  expected<void> read_row() {
    line_scanner s(line_);
    return s.take('{') ? read_sparse(s) : read_full(s);
  }

  expected<void> read_full(line_scanner& s) {
    std::size_t fields = 0;
    for (;;) {
      auto field = s.take_field(",");
      if (!field)
        return wrong("a quote is opened and never closed");
      if (++fields <= attributes_.size())
        put(*field);
      if (!s.take(','))
        break;
      if (fields == attributes_.size() && s.rest().starts_with('{'))
        break; // The row's weight.
    }
    if (fields != attributes_.size() || (!s.done() && !s.rest().starts_with('{')))
      return wrong(fmt::format("{} fields, where there are {} attributes", fields,
                               attributes_.size()));
    return {};
  }

  expected<void> read_sparse(line_scanner& s) {
    std::vector<std::optional<arff_field>> named(attributes_.size());
    while (!s.take('}')) {
      const auto number = s.take_field(" \t,}");
      const auto at = parse_number<std::size_t>(number ? number->text : std::string())
                          .value_or(named.size());
      auto field = s.take_field(",}");
      if (at >= named.size() || !field)
        return wrong(fmt::format("{} is no \"number value\" of one of {} attributes",
                                 in_quotes(line_), attributes_.size()));
      named[at] = std::move(*field);
      if (!s.take(',') && !s.rest().starts_with('}'))
        return wrong("the row of a sparse table has no } at its end");
    }
    for (std::size_t i = 0; i < named.size(); ++i)
      put(named[i].value_or(arff_field{.text = attributes_[i].unnamed, .quoted = true}));
    return {};
  }

  void put(const arff_field& field) {
    if (field.missing())
      out_.blank();
    else
      out_.field(std::string_view(field.text));
  }

  std::string_view text_, line_;
  std::vector<arff_attribute> attributes_;
  table_text out_;
};

} // namespace

expected<converted_table> read_arff(std::string_view bytes, const table_choice& which) {
  return arff_reader(bytes, which).read();
}

} // namespace clade
