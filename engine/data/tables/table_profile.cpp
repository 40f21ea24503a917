// Each column is read in every way at once (as numbers, as dates in each order, as yes
// and no, as texts); when all rows were seen, the first kind whose rule holds is taken.

#include "engine/data/tables/table_profile.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/numbers/robust_scale.hpp"
#include "genome/genes/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

namespace clade {
namespace {

using namespace profile_rules;

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> yes_and_no{
    {{"yes", "no"}, {"y", "n"}, {"true", "false"}, {"t", "f"}, {"on", "off"}}};

std::string lowered(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return out;
}

bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

bool is_code(std::string_view field) {
  return std::ranges::none_of(field, is_space) && std::ranges::any_of(field, [](char c) {
           return c == '@' || std::isdigit(static_cast<unsigned char>(c)) != 0;
         });
}

double share(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

} // namespace

std::string_view to_text(column_kind kind) {
  switch (kind) {
  case column_kind::number:
    return "number";
  case column_kind::category:
    return "category";
  case column_kind::yes_no:
    return "yes_no";
  case column_kind::date:
    return "date";
  case column_kind::text:
    return "text";
  case column_kind::identifier:
    return "identifier";
  case column_kind::constant:
    return "constant";
  }
  return "";
}

bool named_like_identifier(std::string_view name) {
  const std::string low = lowered(name);
  for (const std::string_view whole :
       {"id", "uuid", "guid", "index", "idx", "row", "rownum", "row_number", "rowid"})
    if (low == whole)
      return true;
  if (low.starts_with("unnamed: ") || low.starts_with("id_") || low.ends_with("uuid"))
    return true;
  if (low.size() < 3 || !low.ends_with("id"))
    return false;
  const char before = name[name.size() - 3];
  const bool apart = before == '_' || before == ' ' || before == '-' || before == '.';
  const bool camel = name[name.size() - 2] == 'I'
                     && std::islower(static_cast<unsigned char>(before)) != 0;
  return apart || camel;
}

column_use use_of(const column_profile& c) {
  switch (c.kind) {
  case column_kind::constant:
    return {.ignored = c.values() == 0 ? ignore_reason::blank : ignore_reason::constant};
  case column_kind::identifier:
    return {.ignored = c.index     ? ignore_reason::index
                       : c.repeats ? ignore_reason::groups
                                   : ignore_reason::identifier};
  case column_kind::text:
    if (!c.spaced)
      return {.ignored = ignore_reason::too_many_values};
    return {.as = c.kind};
  default:
    return {.as = c.kind};
  }
}

void column_profiler::range::add(double v) {
  minimum = any ? std::min(minimum, v) : v;
  maximum = any ? std::max(maximum, v) : v;
  rising = rising && (!any || v >= last);
  falling = falling && (!any || v <= last);
  last = v;
  any = true;
}

void column_profiler::range::write(column_profile& out) const {
  if (!any)
    return;
  out.minimum = minimum;
  out.maximum = maximum;
  out.rising = rising;
  out.falling = falling;
}

void column_profiler::add(std::string_view field) {
  ++rows_;
  if (field_blank_number(field)) {
    ++blanks_;
    counts_from_ = {false, false};
    return;
  }
  values_.add(field);
  add_number(field);
  add_text(field);
}

void column_profiler::add_number(std::string_view field) {
  constexpr std::size_t few_units = 6;
  const auto read = text_ ? std::nullopt : read_number(field, number_.decimal);
  const bool same =
      read && (read->unit == number_.unit || (read->unit.empty() && read->value == 0));
  if (read && !same) {
    ++other_units_;
    if (other_unit_.empty() || field < other_unit_)
      other_unit_ = field.substr(0, value_sample::kept_bytes);
    if (units_.size() < few_units)
      units_.emplace(read->unit);
  }
  const auto n = same ? std::optional(read->value) : std::nullopt;
  const bool finite = n && std::isfinite(*n);
  for (std::size_t first = 0; first < counts_from_.size(); ++first)
    counts_from_[first] =
        counts_from_[first] && finite && *n == static_cast<double>(rows_ - 1 + first);
  if (!finite) {
    infinite_ += n && std::isinf(*n) ? 1 : 0;
    if (not_number_.empty() || field < not_number_)
      not_number_ = field.substr(0, value_sample::kept_bytes);
    return;
  }
  ++numbers_;
  whole_ += *n == std::floor(*n) ? 1 : 0;
  number_range_.add(*n);
  sample(*n);
}

void column_profiler::sample(double number) {
  if ((numbers_ - 1) % sampled_every_ != 0)
    return;
  if (sampled_.size() == most_sampled) {
    for (std::size_t i = 0; 2 * i < most_sampled; ++i)
      sampled_[i] = sampled_[2 * i];
    sampled_.resize(most_sampled / 2);
    sampled_every_ *= 2;
  }
  if ((numbers_ - 1) % sampled_every_ == 0)
    sampled_.push_back(number);
}

void column_profiler::write_outlier(column_profile& p) const {
  auto numbers = sampled_;
  if (sampled_every_ > 1)
    numbers.insert(numbers.end(), {number_range_.minimum, number_range_.maximum});
  const auto scale = find_robust_scale(std::move(numbers));
  if (!scale)
    return;
  const double low = number_range_.minimum, high = number_range_.maximum;
  p.outlier = scale->distance(low) > scale->distance(high) ? low : high;
}

void column_profiler::add_text(std::string_view field) {
  codes_ += is_code(field) ? 1 : 0;
  spaces_ += static_cast<std::uint64_t>(std::ranges::count_if(field, is_space));
  bytes_ += field.size();
  longest_ = std::max<std::uint64_t>(longest_, field.size());
  dotted_ = dotted_ || field.find('.') != std::string_view::npos;
  for (std::size_t order = 0; order < orders; ++order)
    if (!dates_[order].given_up)
      add_date(field, dates_[order], static_cast<date_order>(order));
  if (pairs_ == 0)
    return;
  const std::string low = field.size() > 5 ? "" : lowered(field);
  unsigned fitting = 0;
  for (std::size_t pair = 0; pair < yes_and_no.size(); ++pair) {
    const bool is_yes = low == yes_and_no[pair].first;
    const bool is_no = low == yes_and_no[pair].second;
    fitting |= is_yes || is_no ? 1U << pair : 0;
    yes_ = yes_ || is_yes;
    no_ = no_ || is_no;
  }
  pairs_ &= fitting;
}

void column_profiler::add_date(std::string_view field, date_reading& in,
                               date_order order) {
  constexpr std::uint64_t patience = 50;
  if (const auto date = field_date(field, order)) {
    ++in.dates;
    return in.days.add(*date);
  }
  ++in.others;
  in.no_days += is_no_day(field) ? 1 : 0;
  if (in.other.empty() || field < in.other)
    in.other = field.substr(0, value_sample::kept_bytes);
  in.given_up = in.others > patience + in.dates / 10;
}

bool column_profiler::fits(date_order order) const {
  const auto& read = dates_[static_cast<std::size_t>(order)];
  return !read.given_up && read.dates > 0 && read.others == read.no_days
         && read.dates >= 19 * read.no_days;
}

/// If several orders fit as well, it is year, day, month, if with dots, else month before
/// day.
std::optional<date_order> column_profiler::order_of_dates() const {
  std::optional<date_order> best;
  std::uint64_t most = 0;
  for (const auto order :
       {date_order::year_month_day,
        dotted_ ? date_order::day_month_year : date_order::month_day_year,
        dotted_ ? date_order::month_day_year : date_order::day_month_year})
    if (const auto dates = dates_[static_cast<std::size_t>(order)].dates;
        fits(order) && dates > most) {
      best = order;
      most = dates;
    }
  return best;
}

bool column_profiler::is_identifier(column_profile& p) const {
  const auto n = p.values();
  p.index = n >= least_identifiers && (counts_from_[0] || counts_from_[1]);
  if (p.index)
    return true;
  const bool named = named_like_identifier(name_);
  const bool numbers = numbers_ == n;
  const bool like_codes = numbers ? named && p.whole : share(codes_, n) >= codes;
  if (n < least_identifiers || !like_codes)
    return false;
  const double different = values_.distinct_share();
  if (different >= distinct_identifiers)
    return true;
  p.repeats = named && p.distinct >= least_repeated_identifiers
              && different >= repeated_identifiers;
  return p.repeats;
}

column_kind column_profiler::kind_of(column_profile& p) const {
  const auto n = p.values();
  if (p.distinct == 0 || (p.distinct == 1 && p.blanks == 0))
    return column_kind::constant;
  if (order_of_dates())
    return column_kind::date;
  if (is_identifier(p))
    return column_kind::identifier;
  if (numbers_ == n)
    return column_kind::number;
  if (pairs_ != 0 && yes_ && no_)
    return column_kind::yes_no;
  if (p.distinct <= always_category
      || (p.distinct <= n / 2 && p.distinct <= most_categories))
    return column_kind::category;
  return column_kind::text;
}

void column_profiler::write_dates(column_profile& p) const {
  const auto most = std::ranges::max_element(dates_, {}, [](const date_reading& read) {
    return read.given_up ? 0 : read.dates;
  });
  p.order = order_of_dates();
  const auto& read = p.order ? dates_[static_cast<std::size_t>(*p.order)] : *most;
  p.dates = read.given_up ? 0 : read.dates;
  p.not_date = read.other;
  p.order_unclear = fits(date_order::day_month_year) && fits(date_order::month_day_year);
  if (p.kind == column_kind::date)
    read.days.write(p);
}

column_profile column_profiler::finish() const {
  column_profile p;
  p.name = name_;
  p.rows = rows_;
  p.blanks = blanks_;
  p.distinct = values_.distinct();
  p.exact = values_.complete();
  p.frequent = values_.frequent(most_categories);
  p.numbers = numbers_;
  p.infinite = infinite_;
  p.whole = whole_ == p.values() && whole_ > 0;
  p.unit = numbers_ > 0 ? number_.unit : "";
  if (units_.size() < 6) {
    p.other_units = other_units_;
    p.other_unit = other_unit_;
  }
  p.not_number = not_number_;
  p.spaced = spaces_ >= 2 * std::max<std::uint64_t>(p.values(), 1);
  p.kind = kind_of(p);
  p.mean_length = static_cast<double>(bytes_)
                  / static_cast<double>(std::max<std::uint64_t>(p.values(), 1));
  p.longest = longest_;
  write_dates(p);
  if (p.kind != column_kind::date) {
    p.order.reset();
    p.order_unclear = false;
    if (numbers_ == p.values())
      number_range_.write(p);
  }
  if (p.kind == column_kind::number)
    write_outlier(p);
  return p;
}

table_profiler::table_profiler(const std::vector<std::string>& names,
                               const csv_form& form) {
  for (const std::string& name : names)
    columns_.emplace_back(name, form.number(columns_.size()),
                          form.is_text(columns_.size()));
}

void table_profiler::add(std::span<const std::string_view> fields) {
  ++rows_;
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    columns_[i].add(fields[i]);
    hash = hash64(fields[i], hash);
  }
  if (seen_.contains(hash))
    ++repeated_;
  else if (seen_.size() < compared_rows)
    seen_.insert(hash);
}

table_profile table_profiler::finish() const {
  table_profile out;
  for (const column_profiler& c : columns_)
    out.columns.push_back(c.finish());
  out.rows = rows_;
  out.repeated_rows = repeated_;
  return out;
}

expected<table_profile> profile_rows(csv_rows rows, std::string_view origin,
                                     const std::vector<std::string>& names,
                                     const csv_form& form) {
  table_profiler profiler(names, form);
  csv_row r;
  for (;;) {
    const auto more = rows.next(r);
    const auto wrong = [&](std::string message) {
      return fail_in(fmt::format("{}:{}", origin, r.line),
                     {error_kind::invalid_input, std::move(message)});
    };
    if (!more)
      return wrong(more.error().message);
    if (!*more)
      return profiler.finish();
    if (r.fields.size() != names.size())
      return wrong(fmt::format("{} columns, where the lines before have {}",
                               r.fields.size(), names.size()));
    profiler.add(r.fields);
  }
}

} // namespace clade
