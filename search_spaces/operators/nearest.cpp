// The distance is Wagner and Fischer's dynamic programme over three rows (the swap of two
// neighbours looks two rows back), in time proportional to the product of the lengths;
// names of more than 64 characters are near to nothing, so that hostile files cost
// nothing.
#include "search_spaces/operators/nearest.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace clade {

namespace {

constexpr std::size_t longest = 64;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::size_t edits(std::string_view a, std::string_view b) {
  using row = std::array<std::size_t, longest + 1>;
  row before{}, last{}, now{};
  for (std::size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2])
          && lower(a[i - 2]) == lower(b[j - 1]))
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = last;
    last = now;
  }
  return last[b.size()];
}

/// Returns whether `name` has the first letters of the words of `candidate`, of which there
/// are two or more: "lr" of "learning_rate".
bool has_initials(std::string_view name, std::string_view candidate) {
  std::string initials;
  bool begins = true;
  for (const char c : candidate) {
    if (begins)
      initials += lower(c);
    begins = c == '_' || c == '-' || c == '.';
  }
  return initials.size() > 1
         && std::ranges::equal(name, initials, {}, [](char c) { return lower(c); });
}

template<class Name>
std::string nearest_of(std::string_view name, std::span<const Name> known) {
  std::string best;
  std::size_t fewest = 0;
  if (name.size() > longest)
    return best;
  for (const std::string_view candidate : known) {
    if (candidate.empty() || candidate.size() > longest)
      continue;
    const auto distance = edits(name, candidate);
    const auto near =
        std::max<std::size_t>(std::max(name.size(), candidate.size()) / 3, 1);
    if (distance <= near && distance < candidate.size()
        && (best.empty() || distance < fewest)) {
      best = candidate;
      fewest = distance;
    }
  }
  for (const std::string_view candidate : known)
    if (best.empty() && has_initials(name, candidate))
      best = candidate;
  return best;
}

} // namespace

std::string nearest(std::string_view name, std::span<const std::string> known) {
  return nearest_of(name, known);
}

std::string nearest(std::string_view name, std::span<const std::string_view> known) {
  return nearest_of(name, known);
}

} // namespace clade
