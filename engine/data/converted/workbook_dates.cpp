// A date is a number of days. Day 60 of those since 1900 is the 29th of February 1900,
// which there never was.

#include "engine/data/converted/workbook_dates.hpp"

#include "engine/data/converted/table_text.hpp"
#include "genome/base/text.hpp"

#include <algorithm>
#include <cmath>

namespace clade {
namespace {

constexpr std::size_t most_styles = 100000;

/// The formats that every workbook has: 14 to 17 and 22 show days, as 27 to 36 and 50 to 58
/// do in China and Japan; times of day alone are numbers.
bool is_date_number(std::size_t format) {
  return (format >= 14 && format <= 17) || format == 22 || (format >= 27 && format <= 31)
         || format == 36 || (format >= 50 && format <= 54) || format == 57
         || format == 58;
}

} // namespace

bool is_date_format(std::string_view format) {
  bool year_or_day = false;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    if (c == ';')
      break; // The rest is for numbers below zero.
    if (c == '\\' || c == '_' || c == '*') {
      ++i;
    } else if (c == '"' || c == '[') {
      const auto end = format.find(c == '"' ? '"' : ']', i + 1);
      if (end == std::string_view::npos)
        return false;
      i = end;
    } else if (c == 'y' || c == 'Y' || c == 'd' || c == 'D') {
      year_or_day = true;
    } else if (c == '0' || c == '#' || c == '?') {
      // ".000" behind seconds is their fraction.
      if (i == 0 || (format[i - 1] != '.' && format[i - 1] != '0'))
        return false;
    }
  }
  return year_or_day;
}

expected<void> number_formats::begin(std::string_view name, const xml_attributes& with) {
  if (name == "numFmt") {
    if (const auto id = parse_number<std::size_t>(with["numFmtId"]);
        id && own_.size() < most_styles)
      own_[*id] = is_date_format(with["formatCode"]);
  } else if (name == "cellXfs") {
    in_styles_ = true;
  } else if (name == "xf" && in_styles_ && by_style_.size() < most_styles) {
    by_style_.push_back(parse_number<std::size_t>(with["numFmtId"]).value_or(0));
  }
  return {};
}

expected<void> number_formats::end(std::string_view name) {
  in_styles_ = in_styles_ && name != "cellXfs";
  return {};
}

std::string number_formats::date(std::size_t style, double number, bool from_1904) const {
  constexpr double day = 86400, latest = 2958465; // The end of the year 9999.
  if (style >= by_style_.size() || !(number >= 0) || number > latest)
    return "";
  const auto own = own_.find(by_style_[style]);
  if (own != own_.end() ? !own->second : !is_date_number(by_style_[style]))
    return "";
  // The days from 1899-12-30, or from 1904-01-01, to 1970-01-01.
  const double before = from_1904 ? 24107 : number < 60 ? 25568 : 25569;
  const double whole = std::floor(number);
  const auto seconds = std::llround((number - whole) * day);
  return date_text(static_cast<std::int64_t>((whole - before) * day) + seconds, 0,
                   seconds != 0);
}

} // namespace clade
