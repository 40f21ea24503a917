// One pass over the rows. Texts become numbers in order of appearance; when all rows were
// read, the columns of dates know the order of their parts, and the file is refused if
// anything was wrong with it.

#include "engine/data/tables/csv.hpp"

#include "engine/data/bytes/complaints.hpp"
#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/columns/date_column.hpp"
#include "engine/data/tables/csv_head.hpp"
#include "engine/data/tables/csv_texts.hpp"
#include "engine/data/tables/label_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace clade {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

class csv_reader {
public:
  csv_reader(std::string_view text, std::string_view origin, const data_params& params,
             const csv_form& form, const csv_targets* targets)
      : rows_(form.rows(text)),
        params_(params),
        targets_(targets),
        form_(form),
        wrong_(std::string(origin)) {
    out_.origin = std::string(origin);
    out_.by_line = true;
    out_.decimal = form.decimal;
  }

  expected<examples> read() {
    csv_row r;
    auto head = read_head(rows_, r, out_.origin, params_, form_);
    if (!head)
      return tl::unexpected(head.error());
    head_ = std::move(*head);
    out_.class_names = head_.class_names;
    if (auto found = find_columns(); !found)
      return tl::unexpected(found.error());
    if (head_.columns < 2 && targets_ == nullptr)
      return head_.wrong(r.line, "one column: there must be a target and one column "
                                 "beside it, separated by commas");
    if (auto all =
            for_each_row(rows_, r, head_, [&](const csv_row& row) { read_row(row); });
        !all)
      return tl::unexpected(std::move(all).error());
    if (targets_ != nullptr && targets_->texts.size() != row_)
      return fail(error_kind::invalid_input,
                  fmt::format("{}: holds {} rows, where {} holds {} targets", out_.origin,
                              row_, params_.target_file.string(),
                              targets_->texts.size()));
    if (!wrong_.empty())
      return wrong_.take();
    if (out_.places.empty())
      return fail(error_kind::invalid_input, out_.origin
                                                 + (out_.dropped == 0 ? ": has no rows"
                                                    : params_.blanks == blank_rule::impute
                                                        ? ": no row has a target"
                                                        : ": every row has a blank"));
    finish();
    return std::move(out_);
  }

private:
  std::string column(std::size_t i) const { return head_.column(i); }

  void complain(const csv_row& r, table_complaints::of kind, std::size_t i,
                std::string message) {
    wrong_.add(r.line, kind, i, std::move(message));
  }

  // Returns the kind of each column, as far as it is given.
  expected<std::vector<std::optional<encoding_kind>>> find_kinds() const {
    std::vector<std::optional<encoding_kind>> kinds(head_.columns);
    std::vector<column_choice> choices = params_.columns;
    for (const std::string& name : params_.categories)
      choices.push_back({name, encoding_kind::category});
    for (const std::string& name : params_.ignore)
      choices.push_back({name, encoding_kind::ignore});
    for (const column_choice& c : choices) {
      const std::string use(to_text(c.kind));
      const auto at = head_.find_column(
          c.column, c.kind == encoding_kind::ignore ? "column to ignore" : use);
      if (!at)
        return tl::unexpected(at.error());
      if (is_target(*at) || kinds[*at])
        return head_.wrong(head_.line,
                           fmt::format("{} is named twice, as {}{}", column(*at),
                                       is_target(*at) ? "target and " : "", use));
      kinds[*at] = c.kind;
    }
    return kinds;
  }

  expected<void> find_target() {
    if (targets_ != nullptr)
      return {};
    auto found = head_.find_targets(params_);
    if (!found)
      return tl::unexpected(found.error());
    if (!params_.targets.empty()) {
      several_ = std::move(*found);
      for (const std::size_t i : several_)
        out_.classes.push_back(head_.name(i));
      return {};
    }
    target_ = found->front();
    out_.target_column = target_;
    if (!head_.names.empty())
      out_.target = head_.names[target_];
    return {};
  }

  expected<void> find_columns() {
    if (auto found = find_target(); !found)
      return found;
    const auto kinds = find_kinds();
    if (!kinds)
      return tl::unexpected(kinds.error());
    if (!params_.weights.empty()) {
      const auto weights = head_.find_column(params_.weights, "column of weights");
      if (!weights)
        return tl::unexpected(weights.error());
      if (is_target(*weights) || (*kinds)[*weights])
        return head_.wrong(
            head_.line, column(*weights) + " is named twice, as weights and as another");
      weights_ = *weights;
    }
    if (params_.split_by != split_rule::random) {
      const auto split = head_.find_column(params_.split_column, "column to split by");
      if (!split)
        return tl::unexpected(split.error());
      split_ = *split;
    }
    for (std::size_t i = 0; i < head_.columns; ++i)
      numbers_.push_back(form_.number(i));
    text_of_.assign(head_.columns, none);
    column_of_.assign(head_.columns, none);
    for (std::size_t i = 0; i < head_.columns; ++i)
      if (i != target_)
        add_column(i, is_target(i) || i == weights_
                          ? encoding_kind::ignore
                          : (*kinds)[i].value_or(encoding_kind::number));
    if (features_ == 0 && (head_.columns > 1 || targets_ != nullptr))
      return head_.wrong(head_.line, "every column but the target is to be ignored");
    return {};
  }

  void add_column(std::size_t i, encoding_kind kind) {
    column_of_[i] = out_.columns.size();
    auto& c = out_.columns.emplace_back();
    c.kind = kind;
    if (i < head_.names.size())
      c.name = head_.names[i];
    if (kind == encoding_kind::ignore)
      return;
    if (kind == encoding_kind::number)
      c.unit = numbers_[i].unit;
    if (kind != encoding_kind::number) {
      text_of_[i] = out_.texts.size();
      out_.texts.push_back({.column = column_of_[i],
                            .feature = features_,
                            .name = column(i),
                            .values = {}});
      open_.emplace_back();
    }
    ++features_;
  }

  encoding_kind kind_of(std::size_t i) const { return out_.columns[column_of_[i]].kind; }

  bool is_target(std::size_t i) const {
    return i == target_ || std::ranges::find(several_, i) != several_.end();
  }

  bool is_ignored(std::size_t i) const {
    return i != target_ && kind_of(i) == encoding_kind::ignore;
  }

  // Other words than these were no blanks when columns were first said to be categories.
  bool is_blank(std::string_view field, std::size_t i) const {
    if (params_.blanks != blank_rule::impute
        && (i == target_ || kind_of(i) == encoding_kind::category))
      return field_blank_of_first_runs(field);
    return i != target_ && kind_of(i) == encoding_kind::category
               ? field_blank(field)
               : field_blank_number(field);
  }

  void no_value(const csv_row& r, std::size_t i) {
    const std::string_view field = r.fields[i];
    const bool mean = params_.blanks == blank_rule::mean || text_of_[i] != none;
    complain(r, table_complaints::of::blank, i,
             fmt::format("{} has no value{}; fill it in, or say blanks = {}", column(i),
                         field.empty() ? "" : ", but " + in_quotes(field),
                         is_target(i) ? "\"drop\""
                         : mean       ? "\"impute\" or \"drop\""
                                      : "\"impute\", \"mean\" or \"drop\""));
  }

  std::optional<double> finite(const csv_row& r, std::size_t i) {
    const std::string_view field = r.fields[i];
    const auto n = field_number(field, numbers_[i]);
    if (n && is_finite_float(*n))
      return n;
    if (is_blank(field, i)) {
      no_value(r, i);
      return std::nullopt;
    }
    if (n)
      complain(r, table_complaints::of::finite, i,
               fmt::format("{} is {}, which {}", column(i), in_quotes(field),
                           why_no_float(field)));
    else
      complain(r, table_complaints::of::number, i,
               fmt::format("{} is {}, where {} must be{}", column(i), in_quotes(field),
                           number_words(numbers_[i]), advice(r, i)));
    return std::nullopt;
  }

  std::string advice(const csv_row& r, std::size_t i) const {
    if (i == target_)
      return "; to predict texts, say task = \"classification\"";
    if (!head_.names.empty())
      return fmt::format("; if the column holds categories, say categories = [{}], and "
                         "to leave it out, ignore = [{}]",
                         in_quotes(head_.names[i]), in_quotes(head_.names[i]));
    if (r.line == head_.line)
      return "; if this line holds the names of the columns, say header = \"names\"";
    return "";
  }

  void read_row(const csv_row& r) {
    if (r.fields.size() != head_.columns)
      return complain(r, table_complaints::of::length, none,
                      head_.other_length(r.fields.size()));
    ++row_;
    if (params_.blanks == blank_rule::drop && has_blank(r)) {
      ++out_.dropped;
      return;
    }
    if (params_.blanks == blank_rule::impute && has_no_target(r)) {
      ++out_.dropped;
      return;
    }
    for (std::size_t i = 0; i < head_.columns; ++i)
      if (i == target_)
        read_target(r);
      else if (!is_ignored(i))
        out_.features.push_back(text_of_[i] == none ? number_of(r, i) : read_text(r, i));
    for (const std::size_t i : several_)
      out_.targets.push_back(params_.task.has_labels() ? label(r, i)
                                                       : finite(r, i).value_or(0));
    if (targets_ != nullptr && row_ <= targets_->texts.size())
      read_target_beside(r, targets_->texts[row_ - 1]);
    if (weights_ != none)
      out_.weights.push_back(weight(r));
    if (split_ != none)
      out_.split_codes.push_back(read_split(r));
    out_.places.push_back(r.line);
  }

  bool has_blank(const csv_row& r) const {
    for (std::size_t i = 0; i < head_.columns; ++i)
      if (i == target_ && !params_.task.has_numbers()
              ? r.fields[i].empty() && params_.task.has_classes()
              : (is_target(i) || !is_ignored(i)) && is_blank(r.fields[i], i))
        return true;
    return false;
  }

  bool has_no_target(const csv_row& r) const {
    const auto lacks = [&](std::size_t i) {
      return lacks_target(r.fields[i], params_.task, true);
    };
    return std::ranges::any_of(several_, lacks)
           || (target_ != none && lacks_target(r.fields[target_], params_.task));
  }

  double weight(const csv_row& r) {
    const auto n = field_number(r.fields[weights_], numbers_[weights_]);
    if (!n || !is_finite_float(*n) || *n < 0)
      complain(
          r, table_complaints::of::other, weights_,
          fmt::format("{}, the weight of the row, is {}, where a number from 0 on must "
                      "be",
                      column(weights_), in_quotes(r.fields[weights_])));
    return n.value_or(0);
  }

  /// Returns 1 of a row that has a label, else 0.
  double label(const csv_row& r, std::size_t i) {
    const auto said = field_yes_no(r.fields[i]);
    if (!said)
      complain(r, table_complaints::of::target, i,
               fmt::format("{}, a label, is {}, where 1 or 0, or yes or no, must be",
                           column(i), in_quotes(r.fields[i])));
    return said.value_or(false) ? 1 : 0;
  }

  void read_target(const csv_row& r) {
    if (params_.task.has_numbers()) {
      out_.targets.push_back(finite(r, target_).value_or(0));
      return;
    }
    const std::string_view field = r.fields[target_];
    if (params_.task.has_classes())
      check_class(r, field);
    out_.labels.push_back(classes_.code(field).first);
  }

  void check_class(const csv_row& r, std::string_view field) {
    if (field.empty())
      complain(r, table_complaints::of::target, target_,
               column(target_) + ", the target, has no value");
    else if (const auto n = field_number(field); n && !std::isfinite(*n))
      complain(r, table_complaints::of::target, target_,
               fmt::format("{}, the target, is {}", column(target_), in_quotes(field)));
  }

  // Reads the target of a row whose target is in another file.
  void read_target_beside(const csv_row& r, std::string_view field) {
    const auto n = field_number(field, targets_->number);
    const bool finite = n && std::isfinite(*n);
    const bool number = params_.task.has_numbers();
    if (number ? !finite
               : params_.task.has_classes() && (field.empty() || (n && !finite)))
      complain(r, table_complaints::of::target, none,
               fmt::format("the target of this row, in {}, is {}{}",
                           params_.target_file.string(), in_quotes(field),
                           number ? ", where a number must be" : ""));
    if (number)
      out_.targets.push_back(n.value_or(0));
    else
      out_.labels.push_back(classes_.code(field).first);
  }

  double number_of(const csv_row& r, std::size_t i) {
    if (params_.blanks != blank_rule::refuse && is_blank(r.fields[i], i))
      return missing;
    return finite(r, i).value_or(0);
  }

  // The feature is the value's place in order of appearance, for now.
  double read_text(const csv_row& r, std::size_t i) {
    const std::string_view field = r.fields[i];
    if (is_blank(field, i))
      return blank_text(r, i);
    auto& open = open_[text_of_[i]];
    const auto [code, fresh] = open.codes.code(field);
    if (fresh) {
      const auto fits = check_text(r, i, open);
      open.no_days.push_back(fits == date_column::fit::no_day);
    }
    return open.no_days[code] ? blank_text(r, i) : code;
  }

  double blank_text(const csv_row& r, std::size_t i) {
    const bool filled =
        params_.blanks == blank_rule::impute
        || (params_.blanks == blank_rule::mean && kind_of(i) != encoding_kind::category);
    if (!filled)
      no_value(r, i);
    return missing;
  }

  /// Says how a date fits; of other texts, that they do.
  date_column::fit check_text(const csv_row& r, std::size_t i, open_texts& open) {
    constexpr std::size_t most_categories = 1000;
    // The whole numbers that a float can count.
    constexpr std::size_t most = std::size_t{1} << 24;
    const std::string_view field = r.fields[i];
    const auto is = [&](const char* wanted) {
      complain(r, table_complaints::of::text, i,
               fmt::format("{} is {}, {}", column(i), in_quotes(field), wanted));
    };
    switch (kind_of(i)) {
    case encoding_kind::category:
      if (open.codes.size() == most_categories + 1)
        complain(
            r, table_complaints::of::text, i,
            fmt::format("{} has more than {} different values, too many for a category",
                        column(i), most_categories));
      break;
    case encoding_kind::yes_no:
      if (!field_yes_no(field))
        is("where yes or no must be");
      break;
    case encoding_kind::text:
      if (open.codes.size() == most)
        is("and the column has too many different values");
      break;
    default:
      if (open.codes.size() == most)
        is("and the column has too many different values");
      const auto fits = open.dates.add(field);
      if (fits == date_column::fit::no_date)
        is("where a date must be");
      else if (fits == date_column::fit::other_order)
        is("a date whose day and month stand in another order than those before");
      return fits;
    }
    return date_column::fit::date;
  }

  std::uint32_t read_split(const csv_row& r) {
    const std::string_view field = r.fields[split_];
    if (field_blank_number(field))
      complain(r, table_complaints::of::other, split_,
               column(split_) + ", by which the split is made, has no value");
    return splits_.code(field).first;
  }

  void finish() {
    out_.count = out_.places.size();
    out_.shape.sizes = {static_cast<std::int64_t>(features_)};
    if (several_.empty())
      out_.classes = classes_.take();
    if (params_.task.has_labels() && several_.empty())
      take_label_lists(out_);
    out_.split_values = splits_.take();
    for (std::size_t t = 0; t < out_.texts.size(); ++t) {
      auto& column = out_.columns[out_.texts[t].column];
      out_.texts[t].values = open_[t].codes.take();
      if (column.kind == encoding_kind::date) {
        column.order = open_[t].dates.order();
        column.time_of_day = open_[t].dates.time_of_day();
      }
    }
  }

  csv_rows rows_;
  const data_params& params_;
  const csv_targets* targets_; ///< The targets, if no column is the target; else null.
  const csv_form& form_;
  std::vector<number_form> numbers_; ///< By place.
  table_complaints wrong_;
  examples out_;
  csv_head head_;
  std::size_t row_ = 0; ///< How many were read.
  std::size_t target_ = none, split_ = none, weights_ = none;
  std::vector<std::size_t> several_; ///< The places of several targets; else empty.
  std::size_t features_ = 0;
  std::vector<std::size_t> column_of_; ///< By place: which of `out_.columns`, or none.
  std::vector<std::size_t> text_of_;   ///< By place: which of `out_.texts`, or none.
  std::vector<open_texts> open_;       ///< By text.
  text_codes classes_, splits_;
};

} // namespace

expected<examples> parse_csv(std::string_view text, std::string_view origin,
                             const data_params& params, const csv_targets* targets) {
  const auto form = find_form(text, params);
  return csv_reader(text, origin, params, form, targets).read();
}

} // namespace clade
