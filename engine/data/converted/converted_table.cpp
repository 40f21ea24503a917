#include "engine/data/converted/converted_table.hpp"

#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace clade {
namespace {

/// The line that a message begins with, behind "origin:", and the message that follows.
struct placed_message {
  std::uint64_t line = 0;
  std::string_view message;
};

std::optional<placed_message> placed(std::string_view text, std::string_view origin) {
  if (!text.starts_with(origin))
    return std::nullopt;
  text.remove_prefix(origin.size());
  if (!text.starts_with(':'))
    return std::nullopt;
  const auto end = text.find(':', 1);
  const auto line =
      parse_number<std::uint64_t>(text.substr(1, std::min(end, text.size()) - 1));
  if (!line || end == std::string_view::npos)
    return std::nullopt;
  return placed_message{*line, text.substr(end)};
}

} // namespace

std::string table_facts::row_place(std::string_view origin, std::uint64_t line) const {
  const std::uint64_t row = line - (named && line > 0 ? 1 : 0);
  if (row > 0 && row <= files.size())
    return (std::filesystem::path(origin) / files[row - 1]).string();
  return row == 0 ? std::string(origin) : fmt::format("{}: row {}", origin, row);
}

error table_facts::in_rows(error e, std::string_view origin) const {
  std::string out;
  for (std::string_view rest = e.message; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const auto one = rest.substr(0, end);
    if (const auto at = placed(one, origin))
      out.append(row_place(origin, at->line)).append(at->message);
    else
      out.append(one);
    rest.remove_prefix(end);
  }
  e.message = std::move(out);
  return e;
}

} // namespace clade
