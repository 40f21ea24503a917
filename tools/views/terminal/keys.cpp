#include "tools/views/terminal/keys.hpp"

#include "genome/base/text.hpp"

#include <algorithm>

namespace clade::terminal {

namespace {

/// How far a key moves in a list, in lines; a page is `rows` of them.
std::optional<long> movement(key pressed, int rows) {
  const long page = std::max(rows - 1, 1);
  // More lines than there will ever be, and no overflow when added to one.
  constexpr long all = 1L << 40;
  switch (pressed) {
  case key::up:
    return -1;
  case key::down:
    return 1;
  case key::page_up:
    return -page;
  case key::page_down:
    return page;
  case key::home:
    return -all;
  case key::end:
    return all;
  default:
    return std::nullopt;
  }
}

std::size_t moved(std::size_t from, long by, std::size_t last) {
  return static_cast<std::size_t>(
      std::clamp(static_cast<long>(from) + by, 0L, static_cast<long>(last)));
}

/// Ids fall down the list. At its top the latest is meant, also when there are more.
void move_candidates(place& at, long by, const run_picture& p) {
  if (p.born == 0)
    return;
  const auto from = at.chosen == 0 ? p.born : std::min(at.chosen, p.born);
  const auto to = static_cast<candidate_id>(
      std::clamp(static_cast<long>(from) - by, 1L, static_cast<long>(p.born)));
  at.chosen = to == p.born ? 0 : to;
}

wish press_reading(place& at, key pressed, extent size) {
  auto& r = *at.open;
  if (const auto by = movement(pressed, reading_rows(size, r))) {
    const auto rows = static_cast<std::size_t>(reading_rows(size, r));
    const auto lines = broken_lines(r, size.columns).size();
    at.read = moved(at.read, *by, lines > rows ? lines - rows : 0);
  } else if (pressed == key::back) {
    at.open.reset();
  } else if (pressed == key::parent && !r.parents.empty()) {
    return {.open = r.parents.front()};
  } else if (pressed == key::parent) {
    at.complaint = numbered(r.id) + " has no parent";
  }
  return {};
}

wish enter(const place& at, const scene& s) {
  const auto& front = s.picture.front;
  if (at.shown == page::front && !front.empty())
    return {.open = front[std::min(at.chosen_of_front, front.size() - 1)].id};
  if (at.shown == page::candidates)
    return {.open = at.chosen == 0 ? s.picture.born : at.chosen};
  return {};
}

void move(place& at, long by, const scene& s, extent size) {
  if (at.shown == page::front) {
    const auto count = s.picture.front.size();
    const auto from = std::min(at.chosen_of_front, count == 0 ? 0 : count - 1);
    at.chosen_of_front = moved(from, by, count == 0 ? 0 : count - 1);
  } else if (at.shown == page::candidates) {
    move_candidates(at, by, s.picture);
  } else {
    auto& skipped = at.skipped[static_cast<std::size_t>(at.shown)];
    const auto lines = lines_of(s, at.shown);
    const auto rows = static_cast<std::size_t>(std::max(list_rows(size), 1));
    skipped = moved(skipped, by, lines > rows ? lines - rows : 0);
  }
}

/// `number` counts from 0, and goes on at the first behind the last.
void turn_to(place& at, std::size_t number, std::span<const page> pages) {
  at.shown = pages[number % pages.size()];
  at.open.reset();
}

} // namespace

void stay_on_pages(place& at, const run_picture& p) {
  const auto pages = pages_of(p);
  if (std::ranges::find(pages, at.shown) == pages.end())
    turn_to(at, 0, pages);
}

wish press(place& at, key pressed, const scene& s, extent size) {
  at.complaint.clear();
  const auto pages = pages_of(s.picture);
  const auto here =
      static_cast<std::size_t>(std::ranges::find(pages, at.shown) - pages.begin());
  const bool jobs = !s.picture.named_by.empty();
  if (pressed == key::quit)
    return {.quit = true};
  if (pressed == key::step)
    return {.step = true};
  if (pressed >= key::page_1 && pressed <= key::page_6) {
    if (const auto number =
            static_cast<std::size_t>(pressed) - static_cast<std::size_t>(key::page_1);
        number < pages.size())
      turn_to(at, number, pages);
  } else if (pressed == key::next || pressed == key::previous) {
    turn_to(at, here + (pressed == key::next ? 1 : pages.size() - 1), pages);
  } else if (jobs && (pressed == key::best || pressed == key::enter)) {
    return {}; // All that there is of a job is in its line.
  } else if (pressed == key::best) {
    if (!s.picture.best.empty())
      return {.open = s.picture.best.front().id};
    at.complaint = "no candidate succeeded yet";
  } else if (at.open) {
    return press_reading(at, pressed, size);
  } else if (pressed == key::enter) {
    return enter(at, s);
  } else if (const auto by = movement(
                 pressed, at.shown == page::front ? front_rows(size) : list_rows(size))) {
    move(at, *by, s, size);
  }
  return {};
}

shown_candidates candidates_at(place& at, const run_picture& p, extent size) {
  const auto rows = static_cast<candidate_id>(std::max(list_rows(size), 1));
  const auto chosen = at.chosen == 0 ? p.born : std::min(at.chosen, p.born);
  auto top = at.top == 0 ? p.born : std::min(at.top, p.born);
  if (at.chosen == 0 || chosen > top)
    top = chosen;
  else if (chosen + rows <= top)
    top = chosen + rows - 1;
  // The last page is full.
  top = std::max(top, std::min(rows, p.born));
  at.top = at.chosen == 0 ? 0 : top;
  return {.top = top, .count = std::min(rows, top)};
}

} // namespace clade::terminal
