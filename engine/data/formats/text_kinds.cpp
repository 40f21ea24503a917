// JSON      begins with { " or [ { or [ [ or [ "
// ARFF      begins with a line @relation
// LIBSVM    label index:value index:value ...     in every line
// sentences lines of five words and more, between which no delimiter makes columns

#include "engine/data/formats/text_kinds.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/bytes/csv_rows.hpp"
#include "engine/data/columns/csv_form.hpp"
#include "engine/data/formats/npz.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

namespace clade {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t looked_at = 200, looked_at_bytes = 256 << 10;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && is_space(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_space(text.back()))
    text.remove_suffix(1);
  return text;
}

bool begins_in_any_case(std::string_view text, std::string_view with) {
  return text.size() >= with.size()
         && equal_in_any_case(text.substr(0, with.size()), with);
}

/// The first lines that are not empty.
std::vector<std::string_view> first_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  const auto all = text.substr(0, looked_at_bytes);
  for (std::size_t at = 0; at < all.size() && lines.size() < looked_at;) {
    const auto end = std::min(all.find('\n', at), all.size());
    if (end == all.size() && all.size() < text.size() && !lines.empty())
      break; // The rest of it was not looked at.
    if (const auto line = without_spaces(all.substr(at, end - at)); !line.empty())
      lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    const auto end = std::min(line.find_first_of(" \t", at), line.size());
    if (end > at)
      words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

constexpr text_kind json{"JSON",
                         "pandas.read_json(FILE).to_csv(\"data.csv\", index=False) makes "
                         "a CSV of a table",
                         table_kind::json};
constexpr text_kind json_lines{
    "JSON lines",
    "pandas.read_json(FILE, lines=True).to_csv(\"data.csv\", index=False) "
    "makes a CSV of it",
    table_kind::json};

std::optional<text_kind> json_of(std::string_view text) {
  const auto begins = [](std::string_view t, std::string_view second) {
    const auto rest = without_spaces(t.substr(std::min<std::size_t>(1, t.size())));
    return !rest.empty() && second.find(rest.front()) != std::string_view::npos;
  };
  if (text.starts_with('[') && begins(text, "{[\""))
    return json;
  if (!text.starts_with('{') || !begins(text, "\"}"))
    return std::nullopt;
  const auto lines = first_lines(text);
  return lines.size() >= 2 && lines[0].ends_with('}') && lines[1].starts_with('{')
             ? json_lines
             : json;
}

/// Whether an ARFF file has tables within its rows, as one of time series has.
bool has_relations(const std::vector<std::string_view>& lines) {
  return std::ranges::any_of(lines, [](std::string_view line) {
    constexpr std::string_view word = "relational";
    return begins_in_any_case(line, "@attribute") && line.size() > word.size()
           && equal_in_any_case(line.substr(line.size() - word.size()), word);
  });
}

/// A header of lines that begin with @.
std::optional<text_kind> header_of(const std::vector<std::string_view>& lines) {
  for (const auto line : lines) {
    if (line.starts_with('#') || line.starts_with('%'))
      continue;
    if (begins_in_any_case(line, "@relation"))
      return text_kind{"an ARFF file of Weka",
                       "pandas.DataFrame(scipy.io.arff.loadarff(FILE)[0])"
                       ".to_csv(\"data.csv\", index=False) makes a CSV of it",
                       has_relations(lines) ? std::nullopt
                                            : std::optional(table_kind::arff)};
    return std::nullopt;
  }
  return std::nullopt;
}

bool is_pair(std::string_view word) {
  const auto colon = word.find(':');
  return colon != std::string_view::npos && colon > 0
         && std::ranges::all_of(word.substr(0, colon),
                                [](char c) { return c >= '0' && c <= '9'; })
         && field_number(word.substr(colon + 1)).has_value();
}

/// "qid:3" groups rows for ranking.
bool is_query(std::string_view word) {
  return word.starts_with("qid:");
}

bool is_libsvm(const std::vector<std::string_view>& lines) {
  std::size_t most_pairs = 0;
  for (const auto line : lines) {
    const auto words = words_of(line.substr(0, line.find('#')));
    if (words.empty())
      continue;
    if (!field_number(words.front())
        || !std::all_of(words.begin() + 1, words.end(), [](std::string_view word) {
             return is_pair(word) || is_query(word);
           }))
      return false;
    most_pairs = std::max(most_pairs, words.size() - 1);
  }
  return most_pairs >= 2;
}

bool is_word(std::string_view word) {
  const auto letters = std::ranges::count_if(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || static_cast<unsigned char>(c) >= 0x80 || c == '\'';
  });
  return letters > 0 && letters + 2 >= std::ssize(word);
}

bool is_sentence(std::string_view line) {
  constexpr std::ptrdiff_t least = 5;
  const auto words = words_of(line);
  const auto said = std::ranges::count_if(words, is_word);
  return said >= least && 10 * said >= 6 * std::ssize(words);
}

/// Whether nine rows of ten have the same columns, two at least.
bool is_table(std::string_view text) {
  const auto form = find_form(text, {});
  csv_rows rows(text.substr(0, looked_at_bytes), form.dialect);
  csv_row r;
  std::map<std::size_t, std::size_t> widths;
  std::size_t read = 0;
  for (auto more = rows.next(r); more && *more && read < looked_at;
       more = rows.next(r), ++read)
    ++widths[r.fields.size()];
  return std::ranges::any_of(widths, [&](const auto& width) {
    return width.first >= 2 && 10 * width.second >= 9 * read;
  });
}

bool is_sentences(std::string_view text, const std::vector<std::string_view>& lines) {
  return 10 * std::ranges::count_if(lines, is_sentence) >= 6 * std::ssize(lines)
         && !is_table(text);
}

/// The first member of an archive: its name stands behind a header of 30 bytes.
bool first_member_is_of_office(std::string_view bytes) {
  constexpr std::array beginnings{"[Content_Types].xml"sv, "_rels/.rels"sv, "docProps/"sv,
                                  "xl/"sv};
  constexpr std::size_t header = 30;
  return bytes.size() > header
         && std::ranges::any_of(beginnings, [&](std::string_view name) {
              return bytes.substr(header).starts_with(name);
            });
}

/// The names of all members stand at the end of an archive.
bool ends_as_workbook(std::string_view bytes) {
  constexpr std::size_t back = 65536;
  return bytes.substr(bytes.size() - std::min(bytes.size(), back)).find("xl/workbook.xml")
         != std::string_view::npos;
}

/// Whether a text could not begin so: "PAR1,a" can be the first line of a CSV.
bool has_zero_in_front(std::string_view bytes) {
  constexpr std::size_t front = 64;
  return bytes.substr(0, front).find('\0') != std::string_view::npos;
}

} // namespace

std::optional<text_kind> text_kind_of(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf"))
    text.remove_prefix(3);
  text = without_spaces(text);
  if (text.empty() || text.substr(0, looked_at_bytes).find('\0') != text.npos)
    return std::nullopt;
  if (begins_in_any_case(text, "<!doctype html") || begins_in_any_case(text, "<html"))
    return text_kind{"a page of HTML",
                     "fetch the file itself, or save the page's table as CSV"};
  if (begins_in_any_case(text, "<?xml"))
    return text_kind{"XML", "save its table as CSV, and name that file"};
  if (const auto found = json_of(text))
    return found;
  const auto lines = first_lines(text);
  if (const auto found = header_of(lines))
    return found;
  if (is_libsvm(lines))
    return text_kind{"a LIBSVM file",
                     "x, y = sklearn.datasets.load_svmlight_file(FILE) and "
                     "numpy.savez(\"data.npz\", x=x.toarray(), y=y) make arrays of it",
                     table_kind::libsvm};
  if (is_sentences(text, lines))
    return text_kind{
        "text (sentences)",
        "to learn from sentences, write what is to be predicted of each at the front of "
        "its line, with a tab behind it, or in a column of a CSV beside them",
        std::nullopt, /*sentences=*/true};
  return std::nullopt;
}

bool begins_as_workbook(std::string_view bytes) {
  return looks_like_zip(bytes) && first_member_is_of_office(bytes);
}

std::optional<table_kind> table_kind_of(std::string_view bytes) {
  if (bytes.starts_with("SQLite format 3\0"sv))
    return table_kind::sqlite;
  if (bytes.starts_with("PAR1") && (has_zero_in_front(bytes) || bytes.ends_with("PAR1")))
    return table_kind::parquet;
  if (bytes.starts_with("ARROW1\0\0"sv) || bytes.starts_with("\xff\xff\xff\xff"))
    return table_kind::arrow;
  if (looks_like_zip(bytes))
    return ends_as_workbook(bytes) ? std::optional(table_kind::workbook) : std::nullopt;
  if (const auto text = text_kind_of(bytes))
    return text->table;
  return std::nullopt;
}

} // namespace clade
