// file      := "@relation" name attribute* "@data" series*        a line each, % comments
// attribute := "@attribute" name type
//            | "@attribute" name "relational" attribute* "@end" name
// series    := "'" channel ("\n" channel)* "'" ["," target]       of a relational attribute
//            | channel ["," target]                               of an attribute a step
// channel   := value ("," value)*
//
// The "\n" between channels is those two characters. Rows of a table have a fixed length, so
// that a shorter series has gaps at its end, which are left out here.
//
// An ARFF file of a table has columns that are named alike and numbered, too (att1 ... att216
// of digits). So the attributes of steps are known by names that the archive has, and by the
// name "target" of the last one, or by names of time.

#include "engine/data/bytes/csv_fields.hpp"
#include "engine/data/bytes/in_quotes.hpp"
#include "engine/data/formats/data_format.hpp"
#include "engine/data/formats/series_lines.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace clade {
namespace {

struct attribute {
  std::string_view name, type;
};

/// The attributes of a header, without those within a relational one.
struct arff_header {
  std::vector<attribute> attributes;
  std::size_t relational = 0; ///< How many of them are.
  bool begun = false;         ///< There is a line @relation.
  bool ended = false;         ///< There is a line @data.
};

arff_header read_header(series_lines& lines) {
  arff_header h;
  bool within = false;
  while (!h.ended && lines.next()) {
    auto rest = lines.line();
    const auto key = take_word(rest);
    if (!h.begun && !equal_in_any_case(key, "@relation"))
      return h;
    h.begun = true;
    h.ended = equal_in_any_case(key, "@data");
    if (equal_in_any_case(key, "@end"))
      within = false;
    if (!equal_in_any_case(key, "@attribute") || within)
      continue;
    const auto name = take_word(rest);
    within = equal_in_any_case(rest, "relational");
    h.relational += within ? 1 : 0;
    h.attributes.push_back({name, rest});
  }
  return h;
}

bool is_numeric(std::string_view type) {
  return equal_in_any_case(type, "numeric") || equal_in_any_case(type, "real")
         || equal_in_any_case(type, "integer");
}

/// A name that ends in a number: "att12" is the stem "att" and 12.
struct numbered_name {
  std::string_view stem;
  std::uint64_t number = 0;
};

std::optional<numbered_name> numbered_name_of(std::string_view name) {
  const auto last = name.find_last_not_of("0123456789");
  const auto digits = last == name.npos ? 0 : last + 1;
  const auto number = parse_number<std::uint64_t>(name.substr(digits));
  if (!number)
    return std::nullopt;
  return numbered_name{trimmed(name.substr(0, digits), " _-."), *number};
}

/// Returns how many attributes, from the first on, are numbers of one name, numbered by one.
std::size_t numbered_steps(const std::vector<attribute>& all) {
  std::optional<numbered_name> before;
  std::size_t steps = 0;
  for (const auto& a : all) {
    const auto name = is_numeric(a.type) ? numbered_name_of(a.name) : std::nullopt;
    if (!name
        || (before && (before->stem != name->stem || before->number + 1 != name->number)))
      break;
    before = name;
    ++steps;
  }
  return steps;
}

bool steps_of_series(const arff_header& h) {
  constexpr std::size_t least = 3;
  constexpr std::array<std::string_view, 6> of_time{"t",        "time",      "step",
                                                    "timestep", "timepoint", "timestamp"};
  const auto steps = numbered_steps(h.attributes);
  if (steps < least || h.attributes.size() > steps + 1)
    return false;
  const auto stem = numbered_name_of(h.attributes.front().name)->stem;
  if (std::ranges::any_of(of_time,
                          [&](auto name) { return equal_in_any_case(stem, name); }))
    return true;
  const bool alone = h.attributes.size() == steps; // It is to be predicted, or cut off.
  return equal_in_any_case(stem, "att")
         && (alone || equal_in_any_case(h.attributes.back().name, "target"));
}

bool holds_series(const arff_header& h) {
  return h.relational == 1
             ? h.attributes.size() <= 2
                   && equal_in_any_case(h.attributes.front().type, "relational")
             : h.relational == 0 && steps_of_series(h);
}

std::string_view unquoted(std::string_view text) {
  text = trimmed(text);
  const bool quoted = text.size() >= 2 && (text.front() == '\'' || text.front() == '"')
                      && text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// Adds the channels that stand in quotes, and returns what follows them.
expected<std::string_view> read_channels(std::string_view line, series_builder& out) {
  constexpr std::string_view between = "\\n";
  const bool quoted = line.front() == '\'' || line.front() == '"';
  const auto end = quoted ? line.find(line.front(), 1) : line.npos;
  if (end == line.npos)
    return out.wrong("does not begin with a series in quotes");
  const auto channels = line.substr(1, end - 1);
  for (std::size_t at = 0; at <= channels.size();) {
    const auto next = std::min(channels.find(between, at), channels.size());
    if (auto added = out.add_channel(channels.substr(at, next - at), true); !added)
      return tl::unexpected(std::move(added).error());
    at = next + between.size();
  }
  return trimmed(line.substr(end + 1));
}

expected<void> read_relational(std::string_view line, bool with_target,
                               series_builder& out) {
  const auto rest = read_channels(line, out);
  if (!rest)
    return tl::unexpected(rest.error());
  if (!with_target)
    return rest->empty() ? out.end() : out.wrong("has something behind its series");
  if (!rest->starts_with(',') || unquoted(rest->substr(1)).empty())
    return out.wrong("has no class (or number) behind its series; write ? where it is "
                     "not known");
  return out.end(unquoted(rest->substr(1)));
}

expected<void> read_steps(std::string_view line, std::size_t attributes, bool with_target,
                          series_builder& out) {
  const auto fields = static_cast<std::size_t>(std::ranges::count(line, ',')) + 1;
  if (line.starts_with('{') || fields != attributes)
    return out.wrong(
        fmt::format("has {}, where the header has {} attributes",
                    line.starts_with('{') ? "a row in braces" : counted(fields, "value"),
                    attributes));
  if (!with_target)
    return out.add_channel(line, true).and_then([&] { return out.end(); });
  const auto comma = line.rfind(',');
  const auto target = unquoted(line.substr(comma + 1));
  if (target.empty())
    return out.wrong("has no class (or number) behind its last comma; write ? where it "
                     "is not known");
  return out.add_channel(line.substr(0, comma), true).and_then([&] {
    return out.end(target);
  });
}

} // namespace

bool looks_like_series_arff(std::string_view text) {
  auto front = text.substr(0, telling_bytes);
  if (front.size() == telling_bytes) // Its last line may be cut off.
    front = front.substr(0, front.rfind('\n') + 1);
  series_lines lines(front);
  return holds_series(read_header(lines));
}

expected<series_set> parse_series_arff(std::string_view text, std::string_view origin) {
  series_lines lines(text);
  series_builder out(origin);
  const auto header = read_header(lines);
  out.begin(lines.number());
  if (!header.ended)
    return out.wrong(
        "is the last line, and none was @data, behind which the series stand");
  if (!holds_series(header))
    return out.wrong("ends a header that is not one of series: it has neither one "
                     "relational attribute nor attributes att1, att2, ... and target");
  const auto& all = header.attributes;
  const bool relational = header.relational == 1;
  const bool with_target =
      relational ? all.size() == 2 : numbered_steps(all) < all.size();
  if (with_target) {
    out.set.target = all.back().name;
    out.set.task = is_numeric(all.back().type) ? regression : classification;
  }
  while (lines.next()) {
    out.begin(lines.number());
    const auto read = relational ? read_relational(lines.line(), with_target, out)
                                 : read_steps(lines.line(), all.size(), with_target, out);
    if (!read)
      return tl::unexpected(read.error());
  }
  return out.take();
}

} // namespace clade
