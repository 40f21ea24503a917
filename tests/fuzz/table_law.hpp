#pragma once

#include "engine/data/bytes/csv_rows.hpp"
#include "engine/data/converted/table_readers.hpp"
#include "tests/fuzz/law.hpp"

namespace clade::fuzz {

/// So much text at most, so that wide tables of few bytes take no time.
inline const table_choice small_table{.most_bytes = 1 << 20};

/// A table that was read is the text of a CSV: whole, with as many fields in each row, and
/// where its names are known, with a row for each line.
inline int check_table(const expected<converted_table>& table) {
  if (!table)
    return refused(table);
  csv_rows rows(table->text);
  csv_row r;
  std::size_t width = 0;
  std::uint64_t lines = 0;
  for (auto more = rows.next(r); hold(more, "the text is a CSV"), *more;
       more = rows.next(r)) {
    hold(width == 0 || r.fields.size() == width, "rows are equally long");
    width = r.fields.size();
    hold(!table->facts.named || r.line == ++lines, "a line is a row");
  }
  hold(table->facts.texts.size() <= width || width == 0, "a kind is that of a column");
  return 0;
}

} // namespace clade::fuzz
