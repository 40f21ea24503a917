// file := row newline row newline ... | '[' row ',' row ... ']' | row      row := object
//
// The file is read twice: for the columns, in the order in which they appear first, and
// for the rows. Neither time is more than one row in memory. The parser of nlohmann keeps
// no stack of calls, so that no depth ends it.

#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/converted/table_readers.hpp"
#include "engine/data/converted/table_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <unordered_map>

namespace clade {
namespace {

using json = nlohmann::json;

constexpr std::size_t deepest = 32;

tl::unexpected<error> wrong(std::string message) {
  return fail(error_kind::invalid_input, std::move(message));
}

/// The values that a column has.
struct json_column {
  std::string name;
  bool values = false; ///< It has others than null.
  bool lists = false;
  std::size_t place = 0; ///< Among the columns that are written.
  bool written = true;
};

/// The columns that the first reading finds, and the second goes by.
struct json_columns {
  std::vector<json_column> all;
  std::unordered_map<std::string, std::size_t> by_name;
  text_columns texts; ///< By column of `all`.
  std::size_t rows = 0;
};

/// Takes the events of the parser, for both readings.
class row_events : public nlohmann::json_sax<json> {
public:
  row_events(json_columns& columns, bool in_array, table_text* out)
      : columns_(columns),
        base_(in_array ? 1 : 0),
        out_(out) {}

  /// Why the reading was ended.
  [[nodiscard]] const std::string& why() const { return why_; }

  bool null() override { return scalar(); }
  bool boolean(bool yes) override { return other(yes ? "true" : "false"); }
  bool number_integer(number_integer_t n) override { return other(std::to_string(n)); }
  bool number_unsigned(number_unsigned_t n) override { return other(std::to_string(n)); }
  bool number_float(number_float_t, const string_t& text) override { return other(text); }
  bool string(string_t& text) override {
    if (!scalar())
      return false;
    if (lists_ > 0)
      return true;
    auto& c = columns_.all[at_];
    c.values = true;
    if (out_ == nullptr)
      columns_.texts.add_text(at_, text);
    return keep(text);
  }
  bool binary(binary_t&) override { return scalar(); }

  bool start_object(std::size_t) override {
    if (lists_ > 0)
      return true;
    if (level_ < base_)
      return end("is no array of objects");
    if (level_++ == base_) {
      fields_.assign(columns_.all.size(), {});
      return true;
    }
    if (level_ > base_ + deepest)
      return end(fmt::format("row {}: nests deeper than {}", columns_.rows + 1, deepest));
    path_ += key_ + ".";
    lengths_.push_back(key_.size() + 1);
    return true;
  }
  bool key(string_t& name) override {
    key_ = name;
    return true;
  }
  bool end_object() override {
    if (lists_ > 0)
      return true;
    if (--level_ > base_) {
      path_.resize(path_.size() - lengths_.back());
      lengths_.pop_back();
      return true;
    }
    ++columns_.rows;
    return out_ == nullptr || write();
  }
  bool start_array(std::size_t) override {
    if (lists_ > 0) {
      ++lists_;
      return true;
    }
    if (level_ < base_) {
      ++level_;
      return true;
    }
    if (!scalar())
      return false;
    columns_.all[at_].lists = true;
    ++lists_;
    return true;
  }
  bool end_array() override {
    --(lists_ > 0 ? lists_ : level_);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token,
                   const json::exception&) override {
    // The message of the exception is in the terms of its parser.
    return end(fmt::format("row {}: is no sound JSON at byte {} ({}){}",
                           columns_.rows + 1, position, in_quotes(token),
                           token.find("Na") != token.npos || token.find('I') != token.npos
                               ? "; JSON has null where a number is missing"
                               : ""));
  }

private:
  bool end(std::string why) {
    if (why_.empty())
      why_ = std::move(why);
    return false;
  }

  /// Finds the column of a value, which is in `at_` then, where it is in no list.
  bool scalar() {
    if (lists_ > 0)
      return true;
    if (level_ <= base_)
      return end(fmt::format("row {}: is no object with the names of columns",
                             columns_.rows + 1));
    const auto [at, fresh] = columns_.by_name.emplace(path_ + key_, columns_.all.size());
    at_ = at->second;
    if (!fresh)
      return true;
    if (columns_.all.size() == most_table_columns)
      return end(fmt::format("row {}: has a column more than {}, which are not read",
                             columns_.rows + 1, most_table_columns));
    columns_.all.push_back({.name = at->first});
    fields_.emplace_back();
    return true;
  }

  /// A value that is no text.
  bool other(const std::string& text) {
    if (!scalar())
      return false;
    if (lists_ > 0)
      return true;
    columns_.all[at_].values = true;
    if (out_ == nullptr)
      columns_.texts.add_other(at_);
    return keep(text);
  }

  bool keep(const std::string& text) {
    if (out_ != nullptr)
      fields_[at_] = text;
    return true;
  }

  bool write() {
    for (std::size_t i = 0; i < columns_.all.size(); ++i)
      if (columns_.all[i].written)
        out_->field(std::string_view(fields_[i]));
    if (auto ended = out_->end_row(); !ended)
      return end(ended.error().message);
    return true;
  }

  json_columns& columns_;
  std::size_t base_;
  table_text* out_; ///< Null in the first reading.
  std::size_t level_ = 0, lists_ = 0, at_ = 0;
  std::string key_, path_;
  std::vector<std::size_t> lengths_; ///< The lengths of the parts of `path_`.
  std::vector<std::string> fields_;
  std::string why_;
};

enum class json_form : std::uint8_t { lines, array, object };

std::string_view next_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

json_form form_of(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '[')
    return json_form::array;
  while (!text.empty()) {
    auto line = next_line(text);
    if (is_blank(line))
      continue;
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    const auto more = text.find_first_not_of(" \t\r\n");
    return line.ends_with('}') && more != std::string_view::npos ? json_form::lines
                                                                 : json_form::object;
  }
  return json_form::object;
}

expected<void> read(std::string_view text, json_form form, json_columns& columns,
                    table_text* out) {
  columns.rows = 0;
  row_events events(columns, form == json_form::array, out);
  const auto parse = [&](std::string_view part) -> expected<void> {
    if (json::sax_parse(part.begin(), part.end(), &events))
      return {};
    return wrong(events.why());
  };
  if (form != json_form::lines)
    return parse(text);
  while (!text.empty())
    if (const auto line = next_line(text); !is_blank(line))
      if (auto fine = parse(line); !fine)
        return fine;
  return {};
}

/// Leaves out columns of lists, and those of null where other rows have an object.
std::vector<std::string> choose_columns(json_columns& columns) {
  std::vector<std::string> names;
  for (json_column& c : columns.all) {
    c.written = c.values || !c.lists;
    if (c.written && !c.values)
      c.written = std::ranges::none_of(columns.all, [&](const json_column& other) {
        return other.name.size() > c.name.size() && other.name.starts_with(c.name)
               && other.name[c.name.size()] == '.';
      });
    c.place = names.size();
    if (c.written)
      names.push_back(c.name);
  }
  return names;
}

} // namespace

expected<converted_table> read_json_table(std::string_view bytes,
                                          const table_choice& which) {
  if (bytes.starts_with("\xef\xbb\xbf"))
    bytes.remove_prefix(3);
  const auto form = form_of(bytes);
  json_columns columns;
  if (auto fine = read(bytes, form, columns, nullptr); !fine)
    return tl::unexpected(std::move(fine).error());
  const auto names = choose_columns(columns);
  const bool nested = std::ranges::none_of(columns.all, [](const json_column& c) {
    return c.name.find('.') == std::string::npos && c.written;
  });
  if (columns.rows == 0 || names.empty() || (form == json_form::object && nested))
    return wrong(
        "is JSON, but no rows: an object for each row is read, in lines or in an "
        "array; pandas.read_json(FILE).to_json(\"data.jsonl\", orient=\"records\", "
        "lines=True) writes them");
  converted_table out;
  out.facts.kind = form == json_form::lines ? "JSON lines" : "JSON";
  table_text text(which.most_bytes);
  auto done = text.names(names);
  if (done)
    done = read(bytes, form, columns, &text);
  if (!done)
    return tl::unexpected(std::move(done).error());
  const auto texts = columns.texts.of(columns.all.size());
  for (std::size_t i = 0; i < columns.all.size(); ++i) {
    const json_column& c = columns.all[i];
    if (c.written)
      out.facts.texts.push_back(texts[i]);
    if (c.lists)
      out.facts.notes.push_back(
          fmt::format("{} holds lists, which are not learnt from; they are left out",
                      in_quotes(c.name)));
  }
  out.text = text.take();
  return out;
}

} // namespace clade
