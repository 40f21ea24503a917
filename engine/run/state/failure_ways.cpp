#include "engine/run/state/failure_ways.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

/// Returns the reason with "0" in the place of each number: "epoch 3" and "epoch 12" differ
/// in nothing that tells causes apart.
std::string without_numbers(const std::string& reason) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string text;
  for (const char c : reason)
    if (!is_digit(c))
      text += c;
    else if (text.empty() || text.back() != '0')
      text += '0';
  return text;
}

bool is_of_the_program(outcome o) {
  return o == outcome::crashed || o == outcome::invalid;
}

} // namespace

std::string to_text(const failure_way& way, std::uint64_t of) {
  auto text = way.count == of ? fmt::format("all {} failed alike: ", of)
                              : fmt::format("{} of {} failed so: ", way.count, of);
  if (of == 1)
    text = "one failed: ";
  return text + to_text(way.outcome) + (way.reason.empty() ? "" : ": " + way.reason);
}

void failure_ways::add(const evaluation& e) {
  if (e.outcome == outcome::succeeded)
    return clear();
  if (e.outcome == outcome::dropped)
    return;
  ++all_;
  const auto kind = without_numbers(e.reason);
  for (std::size_t i = 0; i < ways_.size(); ++i)
    if (ways_[i].outcome == e.outcome && kinds_[i] == kind) {
      ++ways_[i].count;
      return;
    }
  if (ways_.size() == most_ways)
    return;
  ways_.push_back({e.outcome, e.reason, 1});
  kinds_.push_back(kind);
}

void failure_ways::clear() {
  *this = {};
}

const failure_way* failure_ways::commonest() const {
  const auto most = std::ranges::max_element(ways_, {}, &failure_way::count);
  return most == ways_.end() ? nullptr : &*most;
}

std::string failure_ways::text() const {
  const auto* way = commonest();
  return way == nullptr ? "" : to_text(*way, all_);
}

bool failure_ways::hopeless() const {
  constexpr std::uint64_t enough_of_a_program = 10, enough = 30;
  const auto* way = commonest();
  return way != nullptr && way->count == all_
         && all_ >= (is_of_the_program(way->outcome) ? enough_of_a_program : enough);
}

} // namespace clade
