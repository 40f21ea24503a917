// The first line of a table that is to be predicted:
//   * names, where it has one of the training columns' (then they say which column is
//     which), or where the training data has none and no number column of it is a number;
//   * scikit-learn's "rows,features,class names...", which is passed over;
//   * else a row. `data.header` of the experiment, where it is not "auto", decides first.
// A row has the training data's columns, with the target in its place or without it, and
// where columns have names, in any order and with others among them.

#include "engine/data/column_names.hpp"
#include "engine/data/complaints.hpp"
#include "engine/data/csv_fields.hpp"
#include "engine/data/csv_form.hpp"
#include "engine/data/in_quotes.hpp"
#include "engine/data/preprocessing.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace clade {
namespace {

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

/// What was put in the place of something in a column.
struct replaced_fields {
  std::uint64_t blanks = 0, unknown = 0;
  std::string example; ///< Of what is unknown.
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
    csv_rows rows(text, form_.dialect);
    csv_row r;
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
    if (target_ != nowhere)
      out_.targets = std::move(targets_);
    return std::move(out_);
  }

private:
  tl::unexpected<error> wrong(const csv_row& r, std::string message) const {
    return fail_in(out_.origin + ":" + std::to_string(r.line),
                   {error_kind::invalid_input, std::move(message)});
  }

  std::string column(std::size_t c) const {
    const std::string& name = how_.column(c).name;
    return "column " + std::to_string(place_[c] + 1)
           + (name.empty() ? "" : " (" + in_quotes(name) + ")");
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

  // Whether it holds names; sets `place_` in any case.
  expected<bool> read_first(const csv_row& r, const std::string& header) {
    columns_ = r.fields.size();
    if (header != "none" && header != "counts"
        && std::ranges::any_of(how_.columns, [&](const column_encoding& c) {
             return !c.name.empty()
                    && std::ranges::find(r.fields, c.name) != r.fields.end();
           }))
      return by_name(r).map([] { return true; });
    if (auto placed = by_place(r); !placed)
      return tl::unexpected(placed.error());
    if (header != "auto")
      return header == "names";
    bool judged = false;
    for (std::size_t c = 0; c < how_.width; ++c)
      if (is_number(c)) {
        const auto field = r.fields[place_[c]];
        if (field_blank_number(field) || field_number(field, form_.decimal))
          return false;
        judged = true;
      }
    return judged;
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
      return wrong(r, (missing.size() == 1 ? "the column " : "the columns ")
                          + all_in_quotes(missing)
                          + (missing.size() == 1 ? " of the training data is"
                                                 : " of the training data are")
                          + " missing");
    if (const auto at = std::ranges::find(r.fields, how_.target);
        !how_.target.empty() && at != r.fields.end())
      target_ = static_cast<std::size_t>(at - r.fields.begin());
    for (const auto field : r.fields)
      if (field != how_.target
          && std::ranges::find(how_.columns, field, &column_encoding::name)
                 == how_.columns.end())
        further.emplace_back(field);
    if (!further.empty())
      out_.notes.push_back(
          out_.origin + ": " + (further.size() == 1 ? "the column " : "the columns ")
          + all_in_quotes(further)
          + (further.size() == 1
                 ? " is none of the training data's and is passed over"
                 : " are none of the training data's and are passed over"));
    return {};
  }

  expected<void> by_place(const csv_row& r) {
    const bool with_target = how_.target_column && columns_ == how_.width + 1;
    if (columns_ != how_.width && !with_target)
      return wrong(r, std::to_string(columns_) + (columns_ == 1 ? " column" : " columns")
                          + ", where the training data has " + std::to_string(how_.width)
                          + (how_.target_column ? " and the target" : ""));
    for (std::size_t c = 0; c < how_.width; ++c)
      place_.push_back(c + (with_target && c >= *how_.target_column ? 1 : 0));
    if (with_target)
      target_ = *how_.target_column;
    return {};
  }

  void read_row(const csv_row& r) {
    if (r.fields.size() != columns_)
      return wrong_.add(r.line, table_complaints::of::length, nowhere,
                        std::to_string(r.fields.size())
                            + " columns, where the first line has "
                            + std::to_string(columns_));
    for (std::size_t c = 0; c < how_.width; ++c)
      if (!is_ignored(c))
        read_field(r, c, r.fields[place_[c]]);
    if (target_ != nowhere)
      targets_.values.push_back(target(r.fields[target_]));
    out_.lines.push_back(r.line);
  }

  void read_field(const csv_row& r, std::size_t c, std::string_view field) {
    const column_encoding& encoding = how_.column(c);
    if (is_number(c)) {
      const float v = number(r, c, field);
      if (std::isnan(v) && !encoding.blank_input)
        ++replaced_[c].blanks;
      return encode_number(encoding, v, out_.values);
    }
    const auto meaning = encode_text(encoding, field, out_.values);
    if (meaning == text_meaning::blank && !encoding.blank_input)
      ++replaced_[c].blanks;
    if (meaning == text_meaning::unknown && replaced_[c].unknown++ == 0)
      replaced_[c].example = field;
  }

  /// A target that cannot be compared with decides nothing, and is counted.
  double target(std::string_view field) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    const bool value = !how_.task.has_classes();
    const auto n = field_number(field, form_.decimal);
    if (value && n && std::isfinite(*n))
      return *n;
    if (value ? field_blank_number(field) : field.empty()) {
      ++targets_.blanks;
      return none;
    }
    if (!value) {
      if (n && *n >= 0 && *n < static_cast<double>(class_names_.size()))
        field = class_names_[static_cast<std::size_t>(*n)];
      const auto at = std::ranges::find(how_.classes, field);
      if (at != how_.classes.end())
        return static_cast<double>(at - how_.classes.begin());
    }
    if (targets_.unknown++ == 0)
      targets_.example = field;
    return none;
  }

  float number(const csv_row& r, std::size_t c, std::string_view field) {
    constexpr float missing = std::numeric_limits<float>::quiet_NaN();
    if (field_blank_number(field))
      return missing;
    const auto n = field_number(field, form_.decimal);
    if (n && std::isfinite(*n) && std::abs(*n) <= std::numeric_limits<float>::max())
      return static_cast<float>(*n);
    wrong_.add(r.line, n ? table_complaints::of::finite : table_complaints::of::number, c,
               column(c) + " is " + in_quotes(field)
                   + (n ? ", which " + std::string(why_no_float(field))
                        : ", where a number must be"));
    return missing;
  }

  void note(std::size_t c, const replaced_fields& replaced) {
    const auto times = [](std::uint64_t n) {
      return std::to_string(n) + (n == 1 ? " row" : " rows");
    };
    const std::string where = out_.origin + ": " + column(c);
    if (replaced.blanks > 0)
      out_.notes.push_back(where + " has no value in " + times(replaced.blanks)
                           + ", as it always had in training; its mean there is taken");
    if (replaced.unknown > 0)
      out_.notes.push_back(where + " has values that the training data does not have in "
                           + times(replaced.unknown) + ", such as "
                           + in_quotes(replaced.example) + "; they are taken for blanks");
  }

  const preprocessing& how_;
  csv_form form_;
  table_complaints wrong_;
  raw_rows out_;
  std::size_t columns_ = 0;
  std::vector<std::size_t> place_; ///< By training column, where it stands here.
  std::size_t target_ = nowhere;
  new_targets targets_;
  std::vector<std::string> class_names_;            ///< Of scikit-learn's first line.
  std::map<std::size_t, replaced_fields> replaced_; ///< By training column.
};

} // namespace

expected<raw_rows> parse_new_csv(std::string_view text, const std::string& origin,
                                 const std::string& header, const preprocessing& how) {
  return new_csv_reader(origin, how, find_form(text, {}, how.decimal)).read(text, header);
}

} // namespace clade
