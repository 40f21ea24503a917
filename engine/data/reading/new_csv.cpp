// The first line of a table that is to be predicted:
//   * names, where it has one of the training columns' (then they say which column is
//     which); a line with all of them counts also behind other lines, 20 at most;
//   * scikit-learn's "rows,features,class names...", which is passed over;
//   * a row, where a field is what its column holds (a number, a date, a known category);
//     else names, where a field is not. Columns are then taken by their place, which is
//     said where the training data has names; and where nothing tells a row from names, the
//     file is refused. `data.header` of the experiment, where it is "none", decides first.
// A row has the training data's columns, with the target in its place or without it, and
// where columns have names, in any order and with others among them. Numbers and dates are
// read as this file writes them: its own decimal mark, and its own order of a date's parts.
//
// If the training data was texts without a name and their targets, a file is also lines of
// texts alone, or of a class, a blank and a text (`text_form`).

#include "engine/data/bytes/complaints.hpp"
#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/columns/column_names.hpp"
#include "engine/data/columns/csv_form.hpp"
#include "engine/data/columns/date_column.hpp"
#include "engine/data/numbers/field_date.hpp"
#include "engine/data/numbers/number_form.hpp"
#include "engine/data/reading/preprocessing.hpp"
#include "engine/data/tables/csv_head.hpp"
#include "engine/data/tables/text_form.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace clade {
namespace {

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

/// The values that were put in the place of something in a column.
struct replaced_fields {
  std::uint64_t blanks = 0, unknown = 0;
  std::string example;           ///< An example of the unknown values.
  std::uint64_t other_units = 0; ///< Numbers that have a unit where training has none, or
                                 ///< none where it has one.
};

class new_csv_reader {
public:
  new_csv_reader(const std::string& origin, const preprocessing& how, csv_form form)
      : how_(how),
        form_(form),
        wrong_(origin) {
    out_.origin = origin;
  }

  expected<raw_rows> read(std::string_view text, const std::string& header) {
    csv_rows rows = form_.rows(text);
    csv_row r;
    if (header != "none" && header != "counts")
      pass_titles(rows);
    auto more = rows.next(r);
    if (more && !*more)
      return fail(error_kind::invalid_input, out_.origin + ": is empty");
    if (more && (header == "counts" || (header == "auto" && gives_counts(r)))) {
      class_names_.assign(r.fields.begin()
                              + std::min<std::ptrdiff_t>(2, std::ssize(r.fields)),
                          r.fields.end());
      more = rows.next(r);
    }
    if (!more)
      return wrong(r, more.error().message);
    if (*more) {
      const auto names = read_first(r, header);
      if (!names)
        return tl::unexpected(names.error());
      if (*names)
        more = rows.next(r);
    }
    if (more && *more)
      find_dates(r, rows);
    for (; more && *more; more = rows.next(r))
      read_row(r);
    if (!more)
      return wrong(r, more.error().message);
    if (!wrong_.empty())
      return wrong_.take();
    out_.count = out_.lines.size();
    if (out_.count == 0)
      return fail(error_kind::invalid_input, out_.origin + ": has no rows");
    for (const auto& [c, replaced] : replaced_)
      note(c, replaced);
    if (!target_at_.empty())
      out_.targets = std::move(targets_);
    return std::move(out_);
  }

private:
  tl::unexpected<error> wrong(const csv_row& r, std::string message) const {
    return fail_in(fmt::format("{}:{}", out_.origin, r.line),
                   {error_kind::invalid_input, std::move(message)});
  }

  std::string column(std::size_t c) const {
    const std::string& name = how_.column(c).name;
    return fmt::format("column {}{}", place_[c] + 1,
                       name.empty() ? "" : fmt::format(" ({})", in_quotes(name)));
  }

  bool is_number(std::size_t c) const {
    return how_.column(c).kind == encoding_kind::number;
  }
  bool is_ignored(std::size_t c) const {
    return how_.column(c).kind == encoding_kind::ignore;
  }

  bool gives_counts(const csv_row& r) const {
    return r.fields.size() >= 4 && r.fields[1] == std::to_string(how_.width)
           && field_number(r.fields[0])
           && std::none_of(r.fields.begin() + 2, r.fields.end(),
                           [](std::string_view f) { return field_number(f); });
  }

  bool has_names() const {
    return std::ranges::any_of(how_.columns,
                               [](const column_encoding& c) { return !c.name.empty(); });
  }

  /// Goes on to the line that has all of the names, if there is one near the front.
  void pass_titles(csv_rows& rows) const {
    constexpr int most_titles = 20;
    csv_row r;
    csv_rows ahead = rows;
    for (int line = 0; line <= most_titles && has_names(); ++line) {
      const csv_rows before = ahead;
      if (!ahead.next(r).value_or(false))
        return;
      if (std::ranges::all_of(how_.columns, [&](const column_encoding& c) {
            return c.kind == encoding_kind::ignore
                   || std::ranges::find(r.fields, c.name) != r.fields.end();
          })) {
        rows = before;
        return;
      }
    }
  }

  // Whether it holds names; sets `place_` in any case.
  expected<bool> read_first(const csv_row& r, const std::string& header) {
    columns_ = r.fields.size();
    const bool found = header != "none" && header != "counts";
    if (found && std::ranges::any_of(how_.columns, [&](const column_encoding& c) {
          return !c.name.empty() && std::ranges::find(r.fields, c.name) != r.fields.end();
        }))
      return by_name(r).map([] { return true; });
    if (auto placed = by_place(r); !placed)
      return tl::unexpected(placed.error());
    if (!found)
      return false;
    const auto evidence = evidence_of(r);
    const bool row = evidence.fits > 0;
    if (!has_names())
      return !row && evidence.misfits > 0;
    if (!row && evidence.misfits == 0)
      return wrong(r, "this line may be a row or names of columns; write the names that "
                      "the training data has above the rows");
    out_.notes.push_back(
        fmt::format("{}: the first line has none of the names of the training data's "
                    "columns; it is {}, and the columns are taken by their place",
                    out_.origin, row ? "taken for a row" : "passed over"));
    return !row;
  }

  struct first_evidence {
    std::size_t fits = 0, misfits = 0; ///< Fields that a row has there, or has not.
  };

  first_evidence evidence_of(const csv_row& r) const {
    first_evidence out;
    for (std::size_t c = 0; c < how_.width; ++c) {
      const column_encoding& encoding = how_.column(c);
      const auto field = r.fields[place_[c]];
      if (encoding.kind == encoding_kind::ignore || field_blank_number(field))
        continue;
      if (encoding.kind == encoding_kind::text) {
        // A name is a text, too, so that only a table of nothing else is judged by it.
        out.fits += how_.width == 1 ? 1 : 0;
        continue;
      }
      exact_numbers unused;
      const bool fits = is_number(c) ? read_number(field, form_.decimal).has_value()
                        : encoding.kind == encoding_kind::date && is_no_day(field)
                            ? true
                            : encode_text(encoding, field, unused) == text_meaning::value;
      // A category may have a value that training did not have.
      if (fits || encoding.kind != encoding_kind::category)
        ++(fits ? out.fits : out.misfits);
    }
    return out;
  }

  expected<void> by_name(csv_row r) {
    std::vector<std::string> names(r.fields.begin(), r.fields.end());
    number_equal_names(names);
    r.fields.assign(names.begin(), names.end());
    std::vector<std::string> missing, further;
    for (const column_encoding& c : how_.columns) {
      const auto at = std::ranges::find(r.fields, c.name);
      const bool there = at != r.fields.end();
      if (!there && c.kind != encoding_kind::ignore)
        missing.push_back(c.name);
      place_.push_back(there ? static_cast<std::size_t>(at - r.fields.begin()) : nowhere);
    }
    if (!missing.empty())
      return wrong(r, fmt::format("{}{}{} missing",
                                  missing.size() == 1 ? "the column " : "the columns ",
                                  all_in_quotes(missing),
                                  missing.size() == 1 ? " of the training data is"
                                                      : " of the training data are"));
    find_targets(r);
    for (const auto field : r.fields)
      if (field != how_.target
          && std::ranges::find(how_.columns, field, &column_encoding::name)
                 == how_.columns.end())
        further.emplace_back(field);
    if (!further.empty())
      out_.notes.push_back(fmt::format(
          "{}: {}{}{}", out_.origin, further.size() == 1 ? "the column " : "the columns ",
          all_in_quotes(further),
          further.size() == 1 ? " is none of the training data's and is passed over"
                              : " are none of the training data's and are passed over"));
    return {};
  }

  /// Several targets are all there, or none is compared with.
  void find_targets(const csv_row& names) {
    const bool several = how_.target.empty() && !how_.task.has_classes();
    const auto wanted = several ? how_.classes : std::vector{how_.target};
    for (const std::string& name : wanted) {
      const auto at = std::ranges::find(names.fields, name);
      if (name.empty() || at == names.fields.end())
        return target_at_.clear();
      target_at_.push_back(static_cast<std::size_t>(at - names.fields.begin()));
    }
  }

  expected<void> by_place(const csv_row& r) {
    const bool with_target = how_.target_column && columns_ == how_.width + 1;
    if (columns_ != how_.width && !with_target)
      return wrong(r, fmt::format("{}{}, where the training data has {}{}", columns_,
                                  columns_ == 1 ? " column" : " columns", how_.width,
                                  how_.target_column ? " and the target" : ""));
    for (std::size_t c = 0; c < how_.width; ++c)
      place_.push_back(c + (with_target && c >= *how_.target_column ? 1 : 0));
    if (with_target)
      target_at_ = {*how_.target_column};
    return {};
  }

  /// Finds columns of dates whose order here is another than in the training data.
  void find_dates(const csv_row& first, csv_rows following) {
    struct dates_here {
      date_column dates;
      bool as_in_training = true, all = true;
    };
    std::map<std::size_t, dates_here> found;
    for (std::size_t c = 0; c < how_.width; ++c)
      if (how_.column(c).kind == encoding_kind::date)
        found.emplace(c, dates_here());
    csv_row r = first;
    for (bool more = !found.empty(); more; more = following.next(r).value_or(false))
      for (auto& [c, here] : found) {
        if (r.fields.size() != columns_ || field_blank_number(r.fields[place_[c]]))
          continue;
        const auto field = r.fields[place_[c]];
        const auto fits = here.dates.add(field);
        if (fits == date_column::fit::no_day)
          continue;
        here.all = here.all && fits == date_column::fit::date;
        here.as_in_training =
            here.as_in_training && field_date(field, how_.column(c).order).has_value();
      }
    for (const auto& [c, here] : found)
      if (here.all && !here.as_in_training) {
        auto& column = redated_.emplace(c, how_.column(c)).first->second;
        column.order = here.dates.order();
        out_.notes.push_back(fmt::format("{}: {} has its dates in another order than the "
                                         "training data; they are read as {}",
                                         out_.origin, this->column(c),
                                         to_text(column.order)));
      }
  }

  void read_row(const csv_row& r) {
    if (r.fields.size() != columns_)
      return wrong_.add(r.line, table_complaints::of::length, nowhere,
                        fmt::format("{} columns, where the first line has {}",
                                    r.fields.size(), columns_));
    for (std::size_t c = 0; c < how_.width; ++c)
      if (!is_ignored(c))
        read_field(r, c, r.fields[place_[c]]);
    read_targets(r);
    out_.lines.push_back(r.line);
  }

  void read_field(const csv_row& r, std::size_t c, std::string_view field) {
    const auto redated = redated_.find(c);
    const column_encoding& encoding =
        redated == redated_.end() ? how_.column(c) : redated->second;
    if (is_number(c)) {
      const double v = number(r, c, field);
      if (std::isnan(v) && !encoding.blank_input)
        ++replaced_[c].blanks;
      return encode_number(encoding, v, out_.values);
    }
    if (encoding.kind == encoding_kind::text)
      encoders_.try_emplace(c, encoding);
    const auto meaning = encoding.kind == encoding_kind::text
                             ? encoders_.at(c).encode(field, out_.values)
                             : encode_text(encoding, field, out_.values);
    if (meaning == text_meaning::blank && !encoding.blank_input
        && encoding.kind != encoding_kind::text)
      ++replaced_[c].blanks;
    if (meaning == text_meaning::unknown && replaced_[c].unknown++ == 0)
      replaced_[c].example = field;
  }

  /// A target that cannot be compared with decides nothing, and is counted.
  void read_targets(const csv_row& r) {
    if (target_at_.empty())
      return;
    const auto is_blank = [&](std::string_view field) {
      return lacks_target(field, how_.task, target_at_.size() > 1);
    };
    const auto number_of = [&](std::string_view field) {
      const auto read = read_number(field, form_.decimal);
      return read ? std::optional(read->value) : std::nullopt;
    };
    std::vector<std::string_view> fields;
    for (const std::size_t at : target_at_) {
      fields.push_back(r.fields[at]);
      const auto n = how_.task.has_classes() ? number_of(fields.back()) : std::nullopt;
      if (n && *n >= 0 && *n < static_cast<double>(class_names_.size()))
        fields.back() = class_names_[static_cast<std::size_t>(*n)];
    }
    add_targets(targets_, fields, {is_blank, number_of}, how_);
  }

  double number(const csv_row& r, std::size_t c, std::string_view field) {
    constexpr double missing = std::numeric_limits<double>::quiet_NaN();
    if (field_blank_number(field))
      return missing;
    const number_form form{form_.decimal, how_.column(c).unit};
    const auto n = number_in(field, form, c);
    if (n && is_finite_float(*n))
      return *n;
    wrong_.add(r.line, n ? table_complaints::of::finite : table_complaints::of::number, c,
               fmt::format("{} is {}{}", column(c), in_quotes(field),
                           n ? ", which " + std::string(why_no_float(field))
                             : fmt::format(", where {} must be", number_words(form))));
    return missing;
  }

  /// A number without its unit is taken, and one with a unit where training has none; but
  /// for per cent, of which nothing says whether 0.5 or 50 is meant.
  std::optional<double> number_in(std::string_view field, const number_form& form,
                                  std::size_t c) {
    const auto read = read_number(field, form.decimal);
    if (!read || read->unit == form.unit || (read->unit.empty() && read->value == 0))
      return read ? std::optional(read->value) : std::nullopt;
    if ((!read->unit.empty() && !form.unit.empty()) || read->unit == "%"
        || form.unit == "%")
      return std::nullopt;
    if (replaced_[c].other_units++ == 0)
      units_[c] = read->unit;
    return read->value;
  }

  void note(std::size_t c, const replaced_fields& replaced) {
    const auto times = [](std::uint64_t n) { return counted(n, "row"); };
    const std::string where = fmt::format("{}: {}", out_.origin, column(c));
    if (replaced.other_units > 0)
      out_.notes.push_back(fmt::format(
          "{} has {}; the numbers are taken as they are", where,
          units_[c].empty()
              ? fmt::format("no unit in {}, where {} stands in the training data",
                            times(replaced.other_units), in_quotes(how_.column(c).unit))
              : fmt::format("{} in {}, where the training data has no unit",
                            in_quotes(units_[c]), times(replaced.other_units))));
    if (replaced.blanks > 0)
      out_.notes.push_back(fmt::format(
          "{} has no value in {}, as it always had in training; its mean there is taken",
          where, times(replaced.blanks)));
    if (replaced.unknown > 0)
      out_.notes.push_back(
          fmt::format("{} has values that the training data does not have in {}, such as "
                      "{}; they are taken for blanks",
                      where, times(replaced.unknown), in_quotes(replaced.example)));
  }

  const preprocessing& how_;
  csv_form form_;
  table_complaints wrong_;
  raw_rows out_;
  std::size_t columns_ = 0;
  std::vector<std::size_t> place_;     ///< By training column, where it stands here.
  std::vector<std::size_t> target_at_; ///< The places of the targets here; or empty.
  new_targets targets_;
  /// The names of classes in scikit-learn's first line.
  std::vector<std::string> class_names_;
  std::map<std::size_t, replaced_fields> replaced_; ///< By training column.
  std::map<std::size_t, column_encoding> redated_;  ///< Dates in another order.
  std::map<std::size_t, text_encoder> encoders_;    ///< By column of texts.
  std::map<std::size_t, std::string> units_; ///< That of the first of `other_units`.
};

} // namespace

expected<raw_rows> parse_new_csv(std::string_view text, const std::string& origin,
                                 const std::string& header, const preprocessing& how,
                                 const data_params& written) {
  const auto form =
      how.takes_text_lines() && written.delimiter == "auto"
          ? text_form(text, {how.target_column, how.task, how.classes, how.decimal})
          : find_form(text, written, how.decimal);
  return new_csv_reader(origin, how, form).read(text, header);
}

} // namespace clade
