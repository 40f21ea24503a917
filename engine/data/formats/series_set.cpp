#include "engine/data/formats/series_set.hpp"

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/formats/series_lines.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace clade {
namespace {

constexpr std::string_view blanks = " \t\r\f\v";
constexpr std::size_t most_channels = 1 << 14;

} // namespace

series_lines::series_lines(std::string_view text) : rest_(text) {
  if (rest_.starts_with("\xef\xbb\xbf"))
    rest_.remove_prefix(3);
}

bool series_lines::next() {
  while (!rest_.empty()) {
    const auto end = std::min(rest_.find('\n'), rest_.size());
    line_ = trimmed(rest_.substr(0, end), blanks);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    if (!line_.empty() && line_.front() != '#' && line_.front() != '%')
      return true;
  }
  return false;
}

std::string_view take_word(std::string_view& text) {
  const bool quoted = text.starts_with('\'') || text.starts_with('"');
  const std::size_t from = quoted ? 1 : 0;
  const auto end = std::min(
      quoted ? text.find(text.front(), 1) : text.find_first_of(blanks), text.size());
  const auto word = text.substr(from, end - from);
  text = trimmed(text.substr(std::min(end + from, text.size())), blanks);
  return word;
}

void series_builder::begin(std::uint64_t line) {
  line_ = line;
  channels_ = 0;
}

tl::unexpected<error> series_builder::wrong(std::string message) const {
  return fail_in(fmt::format("{}:{}", origin_, line_),
                 {error_kind::invalid_input, std::move(message)});
}

expected<double> series_builder::value(std::string_view field, std::size_t step) const {
  if (field_blank_number(field))
    return std::numeric_limits<double>::quiet_NaN();
  const auto n = field_number(field);
  if (n && is_finite_float(*n))
    return *n;
  return wrong(fmt::format(
      "channel {}, step {} is {}{}", channels_ + 1, step, in_quotes(field),
      n ? ", which " + std::string(why_no_float(field))
        : std::string(", where a number must be; a missing value is written ?")));
}

expected<void> series_builder::add_channel(std::string_view values, bool may_be_shorter) {
  if (trimmed(values, blanks).empty())
    return wrong(fmt::format("channel {} has no value; a missing one is written ?",
                             channels_ + 1));
  if (channels_ == most_channels)
    return wrong(fmt::format("has more than {} channels", with_commas(most_channels)));
  const std::size_t begin = set.values.size();
  for (std::size_t step = 1, at = 0; at <= values.size(); ++step) {
    const auto comma = std::min(values.find(',', at), values.size());
    const auto read = value(trimmed(values.substr(at, comma - at), blanks), step);
    if (!read)
      return tl::unexpected(read.error());
    set.values.push_back(*read);
    at = comma + 1;
  }
  if (may_be_shorter) {
    const auto last = std::find_if(set.values.rbegin(),
                                   set.values.rend() - static_cast<std::ptrdiff_t>(begin),
                                   [](double v) { return !std::isnan(v); });
    const auto kept = static_cast<std::size_t>(set.values.rend() - last);
    if (kept > begin)
      set.values.resize(kept);
  }
  set.ends.push_back(set.values.size());
  ++channels_;
  return {};
}

expected<void> series_builder::end() {
  if (set.lines.empty())
    set.channels = channels_;
  else if (channels_ != set.channels)
    return wrong(fmt::format("has {}, where line {} has {}",
                             counted(channels_, "channel"), set.lines.front(),
                             set.channels));
  set.lines.push_back(line_);
  return {};
}

expected<void> series_builder::end(std::string_view target) {
  return end().map([&] { set.targets.emplace_back(target); });
}

expected<series_set> series_builder::take() {
  if (set.lines.empty())
    return fail_in(origin_, {error_kind::invalid_input,
                             "holds no series; they follow the line @data"});
  return std::move(set);
}

bool looks_like_series(std::string_view text) {
  return looks_like_ts(text) || looks_like_series_arff(text);
}

expected<series_set> parse_series(std::string_view text, std::string_view origin) {
  return looks_like_ts(text) ? parse_ts(text, origin) : parse_series_arff(text, origin);
}

} // namespace clade
