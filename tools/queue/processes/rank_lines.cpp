#include "tools/queue/processes/rank_lines.hpp"

#include <fmt/format.h>

#include <charconv>

namespace clade {

std::string rank_label(std::size_t rank) {
  return fmt::format("{}: ", rank);
}

/// The line without its label; nothing where it is another's.
std::string_view rank_filter::own(std::string_view line) const {
  std::size_t rank = 0;
  const char* end = line.data() + line.size();
  const auto [read, problem] = std::from_chars(line.data(), end, rank);
  const auto label = static_cast<std::size_t>(read - line.data());
  if (problem != std::errc{} || rank != rank_ || !line.substr(label).starts_with(": "))
    return {};
  return line.substr(label + 2);
}

std::string rank_filter::add(std::string_view text) {
  std::string found;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos;
       text.remove_prefix(end + 1)) {
    line_ += text.substr(0, end + 1);
    found += own(line_);
    line_.clear();
  }
  line_ += text;
  return found;
}

std::string rank_filter::finish() {
  const std::string found(own(line_));
  line_.clear();
  return found;
}

} // namespace clade
