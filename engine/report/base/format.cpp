#include "engine/report/base/format.hpp"

#include "engine/evaluation/epochs_in_time.hpp"
#include "genome/base/utf8.hpp"
#include "search_spaces/operators/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace clade {

namespace {

template<class... Values>
std::string printed(const char* format, Values... values) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

/// Characters as a terminal counts them: UTF-8 sequences are one each.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

} // namespace

std::string metric_text(const std::optional<double>& v) {
  return v ? metric_text(*v) : "-";
}

std::string duration_text(double seconds) {
  if (seconds < 10)
    return printed("%.1f s", std::max(seconds, 0.0));
  const auto whole = static_cast<long long>(std::llround(seconds));
  const auto minutes = whole / 60, hours = minutes / 60;
  if (whole < 60)
    return printed("%lld s", whole);
  if (hours == 0)
    return printed("%lld min %02lld s", minutes, whole % 60);
  if (hours < 48)
    return printed("%lld h %02lld min", hours, minutes % 60);
  return printed("%lld d %lld h", hours / 24, hours % 24);
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::array units{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024)
    return fmt::format("{} B", bytes);
  auto size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < units.size(); ++unit)
    size /= 1024;
  return printed("%.1f ", size) + units[unit];
}

std::string time_text(std::int64_t unix_ms) {
  const auto seconds = static_cast<std::time_t>(unix_ms / 1000);
  std::tm local{};
  std::array<char, 32> text{};
  if (localtime_r(&seconds, &local) == nullptr
      || std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local) == 0)
    return "-";
  return text.data();
}

std::string shortened(std::string_view text, std::size_t width) {
  if (width_of(text) <= width)
    return std::string(text);
  std::size_t end = 0, seen = 0;
  while (end < text.size() && seen + 3 < width) {
    ++end;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
      ++end;
    ++seen;
  }
  return std::string(text.substr(0, end)) + "...";
}

namespace {

/// Earlier versions stored "for 180 epochs".
std::string with_epochs_in_time(std::string origin, const std::string& had) {
  const auto all = had.substr(had.find_last_of(' ') + 1);
  for (const auto* before : {"for at most ", "for "})
    if (const auto promised = fmt::format("{}{} epochs", before, all);
        !had.empty() && origin.find(promised) != origin.npos)
      return origin.replace(origin.find(promised), promised.size(),
                            fmt::format("for {} epochs", had));
  return origin;
}

} // namespace

std::string origin_text(const std::string& origin, std::uint32_t epochs,
                        std::uint64_t start, std::string_view reason) {
  if (const auto said = with_epochs_in_time(origin, epochs_in_time(reason));
      said != origin)
    return said;
  if (epochs == 0 || start != 0)
    return origin;
  return fmt::format("{} (to epoch {})", origin, epochs);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    auto& line = lines.back();
    if (line.empty() || width_of(line) + 1 + width_of(word) <= width)
      line += (line.empty() ? "" : " ") + std::string(word);
    else
      lines.emplace_back(word);
    while (width_of(lines.back()) > width) {
      std::size_t end = 0, seen = 0;
      for (;
           seen < width || (static_cast<unsigned char>(lines.back()[end]) & 0xc0) == 0x80;
           ++end)
        seen += (static_cast<unsigned char>(lines.back()[end]) & 0xc0) != 0x80 ? 1 : 0;
      auto rest = lines.back().substr(end);
      lines.back().resize(end);
      lines.push_back(std::move(rest));
    }
  }
  return lines;
}

std::string change_text(const std::optional<double>& change) {
  if (!change)
    return "-";
  const auto size = std::fabs(*change);
  if (size == 0)
    return "0.0000";
  if (size >= 100)
    return (*change < 0 ? "-" : "+") + metric_text(size);
  return size >= 0.00005 ? printed("%+.4f", *change) : printed("%+.0e", *change);
}

void table::add(std::vector<std::string> row) {
  for (auto& entry : row)
    entry = plain_line(entry);
  rows_.push_back(std::move(row));
}

std::string table::to_text(std::size_t indent) const {
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& row : rows_)
    if (row.size() == columns_.size())
      for (std::size_t i = 0; i < row.size(); ++i)
        widths[i] = std::max(widths[i], width_of(row[i]));
  std::string text;
  for (const auto& row : rows_) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto width = row.size() == columns_.size() ? widths[i] : 0;
      const std::string gap(width - std::min(width, width_of(row[i])), ' ');
      line += (i == 0 ? "" : "  ");
      line += columns_[i] == align::right ? gap + row[i] : row[i] + gap;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

} // namespace clade
