// A colour is ESC [ NUMBERS m, with ";" or ":" between the numbers (SGR of ISO 6429).
#include "tools/queue/processes/bare_log.hpp"

#include <utility>

namespace clade {

namespace {

constexpr std::size_t longest_colour = 64;

} // namespace

void bare_log::take(char c, std::string& out) {
  if (begun_ == "\r") {
    begun_.clear();
    out += '\n';
    if (c == '\n')
      return;
  }
  if (begun_.empty() && c != '\r' && c != '\x1b') {
    out += c;
    return;
  }
  begun_ += c;
  if (begun_.size() == 1 || (begun_.size() == 2 && c == '['))
    return;
  const bool is_number = (c >= '0' && c <= '9') || c == ';' || c == ':';
  if (begun_.size() > 2 && is_number && begun_.size() < longest_colour)
    return;
  auto whole = std::exchange(begun_, {});
  if (whole.size() > 2 && c == 'm')
    return;
  whole.pop_back();
  out += whole;
  take(c, out);
}

std::string bare_log::add(std::string_view part) {
  std::string out;
  for (const char c : part)
    take(c, out);
  return out;
}

std::string bare_log::finish() {
  auto rest = std::exchange(begun_, {});
  return rest == "\r" ? "\n" : rest;
}

} // namespace clade
