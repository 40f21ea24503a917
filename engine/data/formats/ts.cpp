// file    := (comment | header)* "@data" series*       a line each
// header  := "@" key value...                          in any case
// series  := channel (":" channel)* [":" target]
// channel := value ("," value)*
//
// The header says whether there is a target: "@classLabel true a b c" or "@targetLabel
// true". If it says nothing of either, the first series decides: its last part is a target
// if it is a single value behind others. Lengths, channels and gaps that a header promises
// are not asked: the series tell them. The other form of a value, "(time,value)", is
// refused.

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/formats/series_lines.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace clade {
namespace {

constexpr std::array<std::string_view, 10> keys{
    "@problemname", "@timestamps",  "@univariate",   "@classlabel", "@targetlabel",
    "@missing",     "@equallength", "@serieslength", "@dimensions", "@dimension"};

constexpr std::string_view with_times =
    "gives each value with its time, \"(time,value)\", which is not read; write the "
    "values alone, in equal steps of time";

/// The facts of a header that decide how series are read.
struct ts_header {
  std::optional<bool> classes, numbers; ///< Each series has a class, or a number.
};

expected<ts_header> read_header(series_lines& lines, series_builder& out) {
  ts_header h;
  while (lines.next()) {
    out.begin(lines.number());
    auto rest = lines.line();
    const auto key = take_word(rest);
    if (equal_in_any_case(key, "@data"))
      return h;
    if (!key.starts_with('@'))
      return out.wrong("stands before the line @data, and does not begin with @ or #");
    const bool yes = equal_in_any_case(take_word(rest), "true");
    if (equal_in_any_case(key, "@timestamps") && yes)
      return out.wrong(std::string(with_times));
    if (equal_in_any_case(key, "@classlabel"))
      h.classes = yes;
    if (equal_in_any_case(key, "@targetlabel"))
      h.numbers = yes;
  }
  return out.wrong("is the last line, and none was @data, behind which the series stand");
}

bool has_target(const ts_header& h, std::string_view first) {
  if (h.classes || h.numbers)
    return h.classes.value_or(false) || h.numbers.value_or(false);
  const auto colon = first.rfind(':');
  return colon != first.npos && first.find(',', colon) == first.npos
         && first.find(',') < colon;
}

expected<void> read_series(std::string_view line, bool with_target, series_builder& out) {
  if (line.starts_with('('))
    return out.wrong(std::string(with_times));
  std::string_view target;
  if (with_target) {
    const auto colon = line.rfind(':');
    target = colon == line.npos ? "" : trimmed(line.substr(colon + 1));
    if (target.empty() || target.find(',') != target.npos)
      return out.wrong("has no class (or number) behind its last \":\", where other "
                       "series or the header have one; of a class that is not known "
                       "write ?");
    line = line.substr(0, colon);
  }
  for (std::size_t at = 0; at <= line.size();) {
    const auto colon = std::min(line.find(':', at), line.size());
    if (auto added = out.add_channel(line.substr(at, colon - at)); !added)
      return added;
    at = colon + 1;
  }
  return with_target ? out.end(target) : out.end();
}

} // namespace

bool looks_like_ts(std::string_view text) {
  series_lines lines(text);
  if (!lines.next())
    return false;
  auto rest = lines.line();
  const auto word = take_word(rest);
  return std::ranges::any_of(
      keys, [&](std::string_view key) { return equal_in_any_case(word, key); });
}

expected<series_set> parse_ts(std::string_view text, std::string_view origin) {
  series_lines lines(text);
  series_builder out(origin);
  const auto header = read_header(lines, out);
  if (!header)
    return tl::unexpected(header.error());
  std::optional<bool> with_target;
  while (lines.next()) {
    out.begin(lines.number());
    if (!with_target)
      with_target = has_target(*header, lines.line());
    if (auto read = read_series(lines.line(), *with_target, out); !read)
      return tl::unexpected(std::move(read).error());
  }
  if (header->classes.value_or(false))
    out.set.task = classification;
  else if (header->numbers.value_or(false))
    out.set.task = regression;
  return out.take();
}

} // namespace clade
