// row := label pair*      pair := index ':' number      '#' begins a comment
//
// Ranking's "qid:3" is passed over. A feature that a row does not name is 0.

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

tl::unexpected<error> wrong(std::size_t row, std::string message) {
  return fail(error_kind::invalid_input,
              fmt::format("row {}: {}", row, std::move(message)));
}

/// One line as it is written.
struct sparse_row {
  std::string_view label;
  std::vector<std::pair<std::size_t, std::string_view>> values;
};

std::string_view next_word(std::string_view& line) {
  const auto begin = std::min(line.find_first_not_of(" \t\r"), line.size());
  line.remove_prefix(begin);
  const auto word = line.substr(0, line.find_first_of(" \t\r"));
  line.remove_prefix(word.size());
  return word;
}

/// Reads the rows one after the other.
class sparse_rows {
public:
  explicit sparse_rows(std::string_view text) : text_(text) {}

  /// False at the end.
  expected<bool> next(sparse_row& r) {
    while (!text_.empty()) {
      auto line = text_.substr(0, text_.find('\n'));
      text_.remove_prefix(std::min(line.size() + 1, text_.size()));
      line = line.substr(0, line.find('#'));
      r.label = next_word(line);
      if (r.label.empty())
        continue;
      ++row_;
      return read_values(line, r).map([] { return true; });
    }
    return false;
  }
  [[nodiscard]] std::size_t row() const { return row_; }

private:
  expected<void> read_values(std::string_view line, sparse_row& r) const {
    r.values.clear();
    if (!field_number(r.label))
      return wrong(row_, r.label.find(',') != std::string_view::npos
                             ? fmt::format("has several labels, {}; one is read",
                                           in_quotes(r.label))
                             : fmt::format("the label is {}, where a number must be",
                                           in_quotes(r.label)));
    for (auto word = next_word(line); !word.empty(); word = next_word(line)) {
      const auto colon = word.find(':');
      const auto value = word.substr(std::min(colon, word.size() - 1) + 1);
      const auto index = parse_number<std::size_t>(word.substr(0, colon));
      if (word.starts_with("qid:"))
        continue;
      if (colon == std::string_view::npos || !index || !field_number(value))
        return wrong(row_, fmt::format("{} is no \"index:value\"", in_quotes(word)));
      if (*index >= most_table_columns)
        return wrong(row_, fmt::format("has feature {}; up to {} are read", *index,
                                       most_table_columns - 1));
      r.values.emplace_back(*index, value);
    }
    return {};
  }

  std::string_view text_;
  std::size_t row_ = 0;
};

/// The indices that a file names.
struct index_range {
  std::size_t least = 1, most = 0;
};

expected<index_range> indices_of(std::string_view text) {
  sparse_rows rows(text);
  sparse_row r;
  index_range out;
  for (;;) {
    const auto more = rows.next(r);
    if (!more)
      return tl::unexpected(more.error());
    if (!*more)
      return out;
    for (const auto& [index, value] : r.values) {
      out.least = std::min(out.least, index);
      out.most = std::max(out.most, index);
    }
  }
}

} // namespace

expected<converted_table> read_libsvm(std::string_view bytes, const table_choice& which) {
  const auto range = indices_of(bytes);
  if (!range)
    return tl::unexpected(range.error());
  const auto first = range->least;
  const auto count = std::max(range->most + 1 - first,
                              std::min(which.least_features, most_table_columns));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i)
    names.push_back(fmt::format("x{}", first + i));
  names.emplace_back("label");
  table_text out(which.most_bytes);
  if (auto written = out.names(names); !written)
    return tl::unexpected(std::move(written).error());
  sparse_rows rows(bytes);
  sparse_row r;
  std::vector<std::string_view> fields(count);
  while (rows.next(r).value_or(false)) {
    std::ranges::fill(fields, "0");
    for (const auto& [index, value] : r.values)
      fields[index - first] = value;
    for (const auto field : fields)
      out.field(field);
    out.field(r.label);
    if (auto ended = out.end_row(); !ended)
      return tl::unexpected(std::move(ended).error());
  }
  return converted_table{.text = out.take(), .facts = {.kind = "LIBSVM"}};
}

} // namespace clade
