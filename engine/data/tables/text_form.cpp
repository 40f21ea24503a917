#include "engine/data/tables/text_form.hpp"

#include "engine/data/bytes/csv_fields.hpp"

#include <algorithm>

namespace clade {
namespace {

/// How many rows there are, and how many of them are a text, or a target and a text.
struct text_rows {
  std::size_t rows = 0, alone = 0, with_target = 0;
};

text_rows count_text_rows(csv_rows rows, const text_targets& how) {
  text_rows out;
  csv_row r;
  auto more = rows.next(r);
  for (; more && *more; more = rows.next(r)) {
    ++out.rows;
    out.alone += r.fields.size() == 1 ? 1 : 0;
    if (r.fields.size() != 2 || !how.column)
      continue;
    const auto target = r.fields[*how.column];
    const bool fits = how.task.has_numbers()
                          ? field_number(target).has_value()
                          : std::ranges::find(how.classes, target) != how.classes.end();
    out.with_target += fits ? 1 : 0;
  }
  // Quotes that are not closed are no table's.
  return more ? out : text_rows();
}

} // namespace

csv_form text_form(std::string_view text, const text_targets& how) {
  csv_form form;
  form.dialect = {.delimiter = ' ', .quote = '\0', .first_blank = true};
  if (how.column == 0)
    if (const auto n = count_text_rows(form.rows(text), how);
        n.rows > 0 && 2 * n.with_target >= n.rows)
      return form;
  form = find_form(text, {}, how.decimal);
  if (const auto n = count_text_rows(form.rows(text), how);
      n.rows > 0 && (n.alone == n.rows || 2 * n.with_target >= n.rows))
    return form;
  form = {};
  form.dialect = {.delimiter = '\n', .quote = '\0'};
  return form;
}

} // namespace clade
