// workbook.xml names the sheets, workbook.xml.rels the files they lie in, styles.xml the
// formats by which a number is a date, sharedStrings.xml the texts. A sheet:
//
// sheet := <sheetData> row*       row := <row r="3"> cell* </row>
// cell  := <c r="B3" s="style" t="type"> <v>value</v> | <is><t>text</t></is> </c>
// type  := n (number) | s (shared string) | str, inlineStr (text) | b | d (date) | e (error)
//
// A sheet is read twice, in pieces: for the columns that hold something, and for the rows.
// Expat, the parser, bounds what entities grow to.

#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/bytes/named_choice.hpp"
#include "engine/data/bytes/zip_archive.hpp"
#include "engine/data/converted/table_readers.hpp"
#include "engine/data/converted/table_text.hpp"
#include "engine/data/converted/workbook_dates.hpp"
#include "engine/data/converted/xml_events.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace clade {
namespace {

constexpr std::uint64_t most_member_bytes = std::uint64_t{2} << 30;
constexpr std::size_t most_sheets = 10000, most_strings = std::size_t{1} << 24;
/// Excel holds 32,767 characters in a cell.
constexpr std::size_t most_cell_bytes = std::size_t{1} << 20;
constexpr std::size_t most_columns = 16384, most_rows = 1048576; // Excel's own limits.
constexpr std::string_view folder = "xl/";

tl::unexpected<error> wrong(std::string message) {
  return fail(error_kind::invalid_input, std::move(message));
}

/// Parses a member of the workbook.
expected<void> parse(const zip_archive& book, const std::string& name,
                     xml_events& events) {
  xml_reader reader(events);
  auto done = book.read_pieces(name, most_member_bytes,
                               [&](std::string_view piece) { return reader.add(piece); });
  if (done)
    done = reader.finish();
  if (!done)
    return fail_in(printable(name), std::move(done).error());
  return {};
}

struct sheet_name {
  std::string name, id;
  bool hidden = false;
  std::string member; ///< Its file in the archive.
};

struct book_parts {
  std::vector<sheet_name> sheets;
  bool from_1904 = false; ///< Days are counted from 1904, as on an old Macintosh.
};

class book_events : public xml_events {
public:
  explicit book_events(book_parts& out) : out_(out) {}
  expected<void> begin(std::string_view name, const xml_attributes& with) override {
    if (name == "sheet" && out_.sheets.size() == most_sheets)
      return wrong(fmt::format("has more than {} sheets", most_sheets));
    if (name == "sheet")
      out_.sheets.push_back(
          {.name = std::string(with["name"]),
           .id = std::string(with["r:id"]),
           .hidden = !with["state"].empty() && with["state"] != "visible"});
    else if (name == "workbookPr")
      out_.from_1904 = with["date1904"] == "1" || with["date1904"] == "true";
    return {};
  }

private:
  book_parts& out_;
};

class relation_events : public xml_events {
public:
  explicit relation_events(std::vector<sheet_name>& sheets) : sheets_(sheets) {}
  expected<void> begin(std::string_view name, const xml_attributes& with) override {
    if (name != "Relationship")
      return {};
    const auto target = with["Target"];
    for (sheet_name& sheet : sheets_)
      if (sheet.id == with["Id"])
        sheet.member = target.starts_with('/')
                           ? std::string(target.substr(1))
                           : std::string(folder) + std::string(target);
    return {};
  }

private:
  std::vector<sheet_name>& sheets_;
};

expected<void> check_cell(std::string_view text) {
  if (text.size() <= most_cell_bytes)
    return {};
  return wrong(
      fmt::format("a cell has a text of more than {} MiB", most_cell_bytes >> 20));
}

/// Shared strings: <si> of one <t>, or of several with formats; <rPh> is how to say it.
class string_events : public xml_events {
public:
  expected<void> begin(std::string_view name, const xml_attributes&) override {
    in_text_ = name == "t" && !spoken_;
    spoken_ = spoken_ || name == "rPh";
    if (strings_.size() == most_strings)
      return wrong(fmt::format("has more than {} texts", most_strings));
    if (name == "si")
      strings_.emplace_back();
    return {};
  }
  expected<void> end(std::string_view name) override {
    in_text_ = false;
    spoken_ = spoken_ && name != "rPh";
    return name == "si" && !strings_.empty() ? check_cell(strings_.back())
                                             : expected<void>();
  }
  void text(std::string_view part) override {
    if (in_text_ && !strings_.empty() && strings_.back().size() <= most_cell_bytes)
      strings_.back() += part;
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(strings_); }

private:
  std::vector<std::string> strings_;
  bool in_text_ = false, spoken_ = false;
};

/// The column of a reference such as "BC12", from 0; nothing where it is none.
std::optional<std::size_t> column_of(std::string_view reference) {
  std::size_t column = 0, letters = 0;
  for (; letters < reference.size() && reference[letters] >= 'A'
         && reference[letters] <= 'Z' && letters < 4;
       ++letters)
    column = column * 26 + static_cast<std::size_t>(reference[letters] - 'A') + 1;
  if (letters == 0 || column > most_columns)
    return std::nullopt;
  return column - 1;
}

/// All that the cells of a workbook share.
struct book_content {
  std::vector<std::string> strings;
  number_formats formats;
  bool from_1904 = false;
};

/// A cell's value as it is written into the table.
struct cell_value {
  std::string text;
  bool is_text = false;
};

/// Reads the cells of a sheet, row by row.
class sheet_events : public xml_events {
public:
  explicit sheet_events(const book_content& book) : book_(book) {}

  expected<void> begin(std::string_view name, const xml_attributes& with) override {
    if (name == "row")
      return begin_row(with["r"]);
    if (name == "c")
      return begin_cell(with);
    in_value_ = in_cell_ && (name == "v" || (name == "t" && !spoken_));
    spoken_ = spoken_ || name == "rPh";
    return {};
  }
  expected<void> end(std::string_view name) override {
    in_value_ = false;
    spoken_ = spoken_ && name != "rPh";
    if (name == "c" && in_cell_) {
      in_cell_ = false;
      if (auto fits = check_cell(value_); !fits)
        return fits;
      auto value = value_of();
      if (!value)
        return tl::unexpected(std::move(value).error());
      if (!value->text.empty())
        cell(column_, *value);
    }
    return name == "row" ? end_row() : expected<void>();
  }
  void text(std::string_view part) override {
    if (in_value_ && value_.size() <= most_cell_bytes)
      value_ += part;
  }

protected:
  virtual void cell(std::size_t column, const cell_value& value) = 0;
  virtual expected<void> end_row() = 0;
  [[nodiscard]] std::size_t row() const { return row_; }

private:
  expected<void> begin_row(std::string_view number) {
    const auto row =
        number.empty() ? row_ + 1 : parse_number<std::size_t>(number).value_or(0);
    if (row <= row_ || row > most_rows)
      return wrong(fmt::format("row {} follows row {}", in_quotes(number), row_));
    row_ = row;
    column_ = 0;
    next_ = 0;
    return {};
  }
  expected<void> begin_cell(const xml_attributes& with) {
    const auto reference = with["r"];
    const auto column =
        reference.empty() ? next_ : column_of(reference).value_or(most_columns);
    if (column >= most_columns || row_ == 0)
      return wrong(fmt::format("row {}: {} is no cell", row_, in_quotes(reference)));
    column_ = column;
    next_ = column + 1;
    type_ = with["t"];
    style_ = parse_number<std::size_t>(with["s"]).value_or(0);
    value_.clear();
    in_cell_ = true;
    return {};
  }

  expected<cell_value> value_of() const {
    if (type_ == "s") {
      const auto at = parse_number<std::size_t>(trimmed(value_, " \t\r\n"));
      if (!value_.empty() && (!at || *at >= book_.strings.size()))
        return wrong(
            fmt::format("row {}: no string has the number {}", row_, in_quotes(value_)));
      return cell_value{value_.empty() ? "" : book_.strings[*at], true};
    }
    if (type_ == "e")
      return cell_value{};
    if (type_ == "b")
      return cell_value{value_.empty() ? "" : value_ == "0" ? "false" : "true"};
    if (type_ == "str" || type_ == "inlineStr")
      return cell_value{value_, true};
    if (type_ == "d")
      return cell_value{value_};
    const auto number = parse_number<double>(trimmed(value_, " \t\r\n"));
    if (!number)
      return cell_value{value_};
    auto date = book_.formats.date(style_, *number, book_.from_1904);
    return cell_value{date.empty() ? fmt::format("{}", *number) : std::move(date)};
  }

  const book_content& book_;
  std::size_t row_ = 0, column_ = 0, next_ = 0, style_ = 0;
  std::string type_, value_;
  bool in_cell_ = false, in_value_ = false, spoken_ = false;
};

/// The first reading: which columns hold something.
class sheet_extent : public sheet_events {
public:
  using sheet_events::sheet_events;

  std::size_t first = most_columns, last = 0, rows = 0;
  text_columns texts;

  [[nodiscard]] std::size_t width() const { return rows == 0 ? 0 : last + 1 - first; }
  /// By column of the table, whether it holds texts for certain.
  [[nodiscard]] std::vector<bool> text_columns_in_use() const {
    const auto all = texts.of(first + width());
    return {all.begin() + static_cast<std::ptrdiff_t>(all.size() - width()), all.end()};
  }

protected:
  void cell(std::size_t column, const cell_value& value) override {
    first = std::min(first, column);
    last = std::max(last, column);
    rows = row();
    // The names of the columns stand in a row of texts above numbers.
    if (value.is_text)
      texts.add_text(column, value.text);
    else
      texts.add_other(column);
  }
  expected<void> end_row() override { return {}; }
};

/// The second reading: writes the rows.
class sheet_rows : public sheet_events {
public:
  sheet_rows(const book_content& book, const sheet_extent& extent, table_text& out)
      : sheet_events(book),
        extent_(extent),
        out_(out),
        fields_(extent.width()) {}

protected:
  void cell(std::size_t column, const cell_value& value) override {
    fields_[column - extent_.first] = value.text;
    any_ = true;
  }
  expected<void> end_row() override {
    if (!any_ || row() > extent_.rows)
      return {};
    for (; written_ + 1 < row(); ++written_)
      if (auto line = out_.empty_line(); !line)
        return line;
    ++written_;
    for (std::string& field : fields_) {
      out_.field(std::string_view(field));
      field.clear();
    }
    any_ = false;
    return out_.end_row();
  }

private:
  const sheet_extent& extent_;
  table_text& out_;
  std::vector<std::string> fields_;
  std::size_t written_ = 0;
  bool any_ = false;
};

expected<book_parts> read_parts(const zip_archive& book) {
  book_parts parts;
  book_events events(parts);
  relation_events relations(parts.sheets);
  if (auto fine = parse(book, "xl/workbook.xml", events); !fine)
    return tl::unexpected(std::move(fine).error());
  if (auto fine = parse(book, "xl/_rels/workbook.xml.rels", relations); !fine)
    return tl::unexpected(std::move(fine).error());
  // Charts and what else is no table have no file among the sheets.
  std::erase_if(parts.sheets, [&](const sheet_name& s) {
    return s.member.find("worksheets/") == std::string::npos || !book.has(s.member);
  });
  return parts;
}

expected<book_content> read_content(const zip_archive& book, bool from_1904) {
  book_content out{.strings = {}, .formats = {}, .from_1904 = from_1904};
  string_events strings;
  if (book.has("xl/sharedStrings.xml"))
    if (auto fine = parse(book, "xl/sharedStrings.xml", strings); !fine)
      return tl::unexpected(std::move(fine).error());
  out.strings = strings.take();
  if (book.has("xl/styles.xml"))
    if (auto fine = parse(book, "xl/styles.xml", out.formats); !fine)
      return tl::unexpected(std::move(fine).error());
  return out;
}

/// A sheet that holds something.
struct filled_sheet {
  const sheet_name* sheet = nullptr;
  sheet_extent extent;
};

/// Returns the sheet that is asked for, or the only one that is shown and holds anything.
expected<filled_sheet> choose(const zip_archive& book, const book_parts& parts,
                              const book_content& content, const table_choice& which) {
  std::vector<filled_sheet> filled;
  std::vector<std::string> all, names; // names: those of filled sheets
  for (const sheet_name& sheet : parts.sheets) {
    all.push_back(sheet.name);
    if (which.name.empty() ? sheet.hidden : sheet.name != which.name)
      continue;
    filled_sheet one{.sheet = &sheet, .extent = sheet_extent(content)};
    if (auto fine = parse(book, sheet.member, one.extent); !fine)
      return tl::unexpected(std::move(fine).error());
    if (one.extent.rows == 0)
      continue;
    names.push_back(sheet.name);
    filled.push_back(std::move(one));
  }
  if (filled.size() == 1)
    return std::move(filled.front());
  const named_choice words{"sheet", which.key};
  if (filled.size() > 1)
    return say_which(names, words);
  if (which.name.empty() || std::ranges::find(all, which.name) != all.end())
    return wrong("has no sheet with a table in it");
  return none_is(which.name, all, words);
}

} // namespace

expected<converted_table> read_workbook(std::string_view bytes,
                                        const table_choice& which) {
  const auto book = zip_archive::open(
      bytes, {.kind = "workbook", .way = "save it as .xlsx with Excel or LibreOffice"});
  if (!book)
    return tl::unexpected(book.error());
  const auto parts = read_parts(*book);
  if (!parts)
    return tl::unexpected(parts.error());
  const auto content = read_content(*book, parts->from_1904);
  if (!content)
    return tl::unexpected(content.error());
  const auto sheet = choose(*book, *parts, *content, which);
  if (!sheet)
    return tl::unexpected(sheet.error());
  table_text text(which.most_bytes);
  sheet_rows rows(*content, sheet->extent, text);
  if (auto written = parse(*book, sheet->sheet->member, rows); !written)
    return tl::unexpected(std::move(written).error());
  return converted_table{.text = text.take(),
                         .facts = {.kind = "Excel",
                                   .several = true,
                                   .named = false,
                                   .texts = sheet->extent.text_columns_in_use()}};
}

} // namespace clade
