// The first line of a CSV that is to be predicted:
//   * names, where it has those of all training columns (then they say which column is
//     which), or where the training data has none and no number column of it is a number;
//   * scikit-learn's "rows,features,class names...", which is passed over;
//   * else a row. `data.header` of the experiment, where it is not "auto", decides first.
// A row has the training data's columns, with the target in its place or without it.

#include "engine/data/csv_fields.hpp"
#include "engine/data/csv_rows.hpp"
#include "engine/data/in_quotes.hpp"
#include "engine/data/preprocessing.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace clade {
namespace {

class new_csv_reader {
public:
  new_csv_reader(const std::string& origin, const preprocessing& how) : how_(how) {
    out_.origin = origin;
    for (const auto& c : how.categories) {
      auto& codes = codes_.emplace_back();
      for (std::size_t i = 0; i < c.values.size(); ++i)
        codes.emplace(c.values[i], static_cast<float>(i));
    }
  }

  expected<raw_rows> read(std::string_view text, const std::string& header) {
    csv_rows rows(text);
    csv_row r;
    auto more = rows.next(r);
    if (more && !*more)
      return fail(error_kind::invalid_input, out_.origin + ": is empty");
    if (more && (header == "counts" || (header == "auto" && gives_counts(r))))
      more = rows.next(r);
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
      if (auto read = read_row(r); !read)
        return tl::unexpected(std::move(read).error());
    if (!more)
      return wrong(r, more.error().message);
    out_.count = out_.lines.size();
    if (out_.count == 0)
      return fail(error_kind::invalid_input, out_.origin + ": has no rows");
    return std::move(out_);
  }

private:
  tl::unexpected<error> wrong(const csv_row& r, std::string message) const {
    return fail_in(out_.origin + ":" + std::to_string(r.line),
                   {error_kind::invalid_input, std::move(message)});
  }

  std::string column(std::size_t c) const {
    return "column " + std::to_string(place_[c] + 1)
           + (how_.names.empty() ? "" : " (" + in_quotes(how_.names[c]) + ")");
  }

  const category_column* category(std::size_t c) const {
    const auto at = std::ranges::find(how_.categories, c, &category_column::column);
    return at == how_.categories.end() ? nullptr : &*at;
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
    if (header != "none" && header != "counts" && !how_.names.empty()
        && std::ranges::any_of(how_.names, [&](const std::string& name) {
             return std::ranges::find(r.fields, name) != r.fields.end();
           }))
      return by_name(r).map([] { return true; });
    if (auto placed = by_place(r); !placed)
      return tl::unexpected(placed.error());
    if (header != "auto")
      return header == "names";
    bool judged = false;
    for (std::size_t c = 0; c < how_.width; ++c)
      if (category(c) == nullptr) {
        const auto field = r.fields[place_[c]];
        if (field_blank(field) || field_number(field))
          return false;
        judged = true;
      }
    return judged;
  }

  expected<void> by_name(const csv_row& r) {
    for (const std::string& name : how_.names) {
      const auto at = std::ranges::find(r.fields, name);
      if (at == r.fields.end())
        return wrong(r, "no column is named " + in_quotes(name)
                            + ", as one of the training data is");
      place_.push_back(static_cast<std::size_t>(at - r.fields.begin()));
    }
    for (const auto field : r.fields)
      if (field != how_.target
          && std::ranges::find(how_.names, field) == how_.names.end())
        return wrong(r, "column " + in_quotes(field)
                            + " is none of the training data's; remove it");
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
    return {};
  }

  expected<void> read_row(const csv_row& r) {
    if (r.fields.size() != columns_)
      return wrong(r, std::to_string(r.fields.size()) + " columns, where the first line "
                          + "has " + std::to_string(columns_));
    for (std::size_t c = 0, k = 0; c < how_.width; ++c) {
      const auto field = r.fields[place_[c]];
      const auto v =
          category(c) != nullptr ? code(r, c, field, codes_[k++]) : number(r, c, field);
      if (!v)
        return tl::unexpected(v.error());
      out_.values.push_back(*v);
    }
    out_.lines.push_back(r.line);
    return {};
  }

  using code_table = std::unordered_map<std::string_view, float>;

  expected<float> code(const csv_row& r, std::size_t c, std::string_view field,
                       const code_table& codes) const {
    if (const auto at = codes.find(field); at != codes.end())
      return at->second;
    return wrong(r, column(c) + " is " + in_quotes(field)
                        + ", which the training data does not have there");
  }

  expected<float> number(const csv_row& r, std::size_t c, std::string_view field) const {
    if (field_blank(field))
      return std::numeric_limits<float>::quiet_NaN();
    const auto n = field_number(field);
    if (n && std::isfinite(*n) && std::abs(*n) <= std::numeric_limits<float>::max())
      return static_cast<float>(*n);
    return wrong(
        r, column(c) + " is " + in_quotes(field)
               + (n ? ", which is not a finite number" : ", where a number must be"));
  }

  const preprocessing& how_;
  raw_rows out_;
  std::size_t columns_ = 0;
  std::vector<std::size_t> place_; ///< By training column, where it stands here.
  std::vector<code_table> codes_;  ///< By category.
};

} // namespace

expected<raw_rows> parse_new_csv(std::string_view text, const std::string& origin,
                                 const std::string& header, const preprocessing& how) {
  return new_csv_reader(origin, how).read(text, header);
}

} // namespace clade
