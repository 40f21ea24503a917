// The rows of any text are the same when they are written with every field in quotes, and
// what a table of them gives is well formed. Five bytes choose how the table is read.
#include "engine/data/bytes/csv_rows.hpp"
#include "engine/data/tables/csv.hpp"
#include "tests/fuzz/example_laws.hpp"

#include <array>

using namespace clade;
using namespace clade::fuzz;

namespace {

using table = std::vector<std::vector<std::string>>;

/// The rows up to the first error, and whether there was one.
std::pair<table, bool> read_rows(std::string_view text) {
  table rows;
  csv_rows reader(text);
  csv_row row;
  std::uint64_t line = 0;
  for (;;) {
    const auto more = reader.next(row);
    if (!more)
      return {rows, true};
    if (!*more)
      return {rows, false};
    hold(row.line > line, "rows are on lines of their own, in order");
    hold(!row.fields.empty(), "a row has a field");
    line = row.line;
    rows.emplace_back(row.fields.begin(), row.fields.end());
  }
}

std::string in_quotes(const table& rows) {
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += i == 0 ? "\"" : ",\"";
      for (const char c : row[i])
        text += c == '"' ? std::string("\"\"") : std::string(1, c);
      text += '"';
    }
    text += "\r\n";
  }
  return text;
}

data_params chosen(choices& input) {
  constexpr std::array targets{"last", "1", "2", "a", "class"};
  constexpr std::array headers{"auto", "names", "none", "counts"};
  constexpr std::array categories{"1", "b", "last"};
  data_params p;
  p.target = targets[input.below(targets.size())];
  p.header = headers[input.below(headers.size())];
  p.task = input.flip() ? regression : classification;
  p.blanks = static_cast<blank_rule>(input.below(4));
  const auto columns = input.byte();
  for (std::size_t i = 0; i < categories.size(); ++i)
    if ((columns >> i & 1) != 0)
      p.categories.emplace_back(categories[i]);
  if ((columns & 8) != 0)
    p.columns.push_back({"3", static_cast<encoding_kind>(columns >> 4 & 3)});
  if ((columns & 64) == 0)
    p.delimiter = ",";
  if ((columns & 128) != 0)
    p.split_by = split_rule::time, p.split_column = "2";
  return p;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  choices input(data, size);
  const data_params params = chosen(input);
  const auto [rows, broken] = read_rows(input.rest());
  const auto [again, broken_again] = read_rows(in_quotes(rows));
  hold(!broken_again && again == rows, "rows in quotes are the same rows");
  const auto parsed = parse_csv(input.rest(), "x.csv", params);
  if (!parsed)
    return refused(parsed);
  if (params.delimiter == ",") {
    hold(!broken, "a text whose rows have an error gives no examples");
    hold(parsed->count <= rows.size(), "there is a row for each example");
  }
  hold_example_laws(*parsed, params);
  return 0;
}
