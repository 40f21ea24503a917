#include "tools/views/terminal/pages.hpp"

#include "engine/report/base/final_phase.hpp"
#include "engine/report/base/format.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/operators/network.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade::terminal {

namespace {

constexpr int head_rows = 3;
constexpr std::array<const char*, page_count> page_names{
    "overview", "front", "slots", "candidates", "generations", "failures"};

constexpr std::array all_pages{page::overview,   page::front,       page::slots,
                               page::candidates, page::generations, page::failures};
constexpr std::array pages_of_jobs{page::candidates, page::slots, page::failures};

const char* title_of(page one, const run_picture& p) {
  if (one == page::candidates && !p.named_by.empty())
    return "jobs";
  return page_names[static_cast<std::size_t>(one)];
}

/// The pace is that of the trainings to the end that ended last, since the evaluation
/// before them.
final_phase final_of(const run_picture& p) {
  final_phase phase{.trained = p.final_evaluated, .trainings = p.final_trainings};
  if (p.latest.empty() || p.final_evaluated == 0)
    return phase;
  phase.paced = std::min<std::size_t>(p.final_evaluated, p.latest.size() - 1);
  const auto& before = p.latest[p.latest.size() - 1 - phase.paced];
  phase.seconds = static_cast<double>(p.unix_ms - before.evaluated_ms) / 1000;
  return phase;
}

std::uint64_t planned(const run_picture& p) {
  return p.rules.evolution.population * p.rules.evolution.generations;
}

style style_of(feed_state showing) {
  if (showing == feed_state::live)
    return style::good;
  return showing == feed_state::stopped || showing == feed_state::not_connected
             ? style::bad
             : style::strong;
}

/// "live, paused: interrupted"
std::string state_text(const run_picture& p, feed_state showing) {
  std::string text = to_text(showing);
  const bool usual = p.state == picture_state::running
                     && (showing == feed_state::live || showing == feed_state::stopped
                         || showing == feed_state::not_connected);
  if (!usual && text != to_text(p.state))
    text.append(", ").append(to_text(p.state));
  return p.reason.empty() ? text : fmt::format("{}: {}", text, p.reason);
}

/// Generations count from 0; jobs have none.
std::string generation_text(const run_picture& p) {
  if (p.version.empty())
    return "nothing is recorded yet";
  if (!p.named_by.empty())
    return "";
  if (p.final_trainings > 0)
    return to_text(final_of(p));
  const auto all = std::max<std::uint64_t>(p.rules.evolution.generations, 1);
  return fmt::format("generation {} of {}", with_commas(p.generation), with_commas(all));
}

void draw_names(canvas& on, const scene& s) {
  const int all = on.size().columns;
  const int column = on.write(0, 0, s.name, style::strong, all / 2) + 2;
  const auto state = state_text(s.picture, s.showing);
  auto right = generation_text(s.picture);
  if (const auto left = seconds_left(s.picture, s.showing)) {
    const auto with_time = fmt::format("{}{}{} left", right, right.empty() ? "" : ", ",
                                       duration_text(*left));
    if (column + columns_of(state) + 2 + columns_of(with_time) <= all)
      right = with_time;
  }
  const int end = all - columns_of(right);
  on.write(0, end, right);
  on.write(0, column, state, style_of(s.showing), std::max(end - 2, column + 8) - column);
}

void draw_numbers(canvas& on, const scene& s) {
  const auto& p = s.picture;
  int column = 0;
  const auto add = [&](const std::string& text, style look) {
    // A text that does not fit is left out whole.
    if (column + columns_of(text) <= on.size().columns)
      column = on.write(1, column, text, look) + 3;
  };
  // The trainings at the end are counted for themselves.
  const auto searched = p.evaluated - p.final_evaluated;
  add(p.final_trainings > 0
          ? fmt::format("{} evaluated by the search", with_commas(searched))
          : fmt::format("{} of {}{}", with_commas(searched), with_commas(planned(p)),
                        p.named_by.empty() ? " evaluated" : " ended"),
      style::plain);
  if (p.failed > 0) {
    column -= 3;
    add(fmt::format(", {} failed", with_commas(p.failed)), style::bad);
  }
  if (!p.best.empty() && p.named_by.empty())
    add(fmt::format("best {} #{}", metric_text(p.best.front().fitness),
                    p.best.front().id),
        style::good);
  if (!s.slots.slots.empty()) {
    const auto busy = std::ranges::count_if(
        s.slots.slots, [](const slot_view& one) { return one.training != 0; });
    add(fmt::format("{} of {} slots busy", busy, s.slots.slots.size()), style::plain);
  }
}

void draw_page_names(canvas& on, page shown, const run_picture& p) {
  const auto pages = pages_of(p);
  int all = -2;
  for (const auto one : pages)
    all += columns_of(title_of(one, p)) + 4;
  const bool room = all <= on.size().columns;
  int column = 0;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const bool here = pages[i] == shown;
    auto text = std::to_string(i + 1);
    if (room || here)
      text += std::string(" ") + title_of(pages[i], p);
    column = on.write(2, column, text, here ? style::chosen : style::faint) + 2;
  }
}

const char* keys_of(const place& at, const run_picture& p) {
  if (!p.named_by.empty())
    return "q quit   1-3 or Tab another page   Up/Down move";
  if (at.open)
    return "q quit   Esc back   Up/Down read   p its parent";
  switch (at.shown) {
  case page::overview:
    return "q quit   1-6 or Tab another page   b open the best";
  case page::front:
  case page::candidates:
    return "q quit   1-6 or Tab another page   Up/Down choose   Enter open";
  case page::slots:
  case page::generations:
  case page::failures:
    break;
  }
  return "q quit   1-6 or Tab another page   Up/Down move";
}

void draw_page(canvas& on, const area& within, const scene& s, const place& at) {
  if (at.open)
    return draw_reading(on, within, s, at);
  switch (at.shown) {
  case page::overview:
    return draw_overview(on, within, s);
  case page::front:
    return draw_front(on, within, s, at);
  case page::slots:
    return draw_slots(on, within, s, at);
  case page::candidates:
    return draw_candidates(on, within, s, at);
  case page::generations:
    return draw_generations(on, within, s, at);
  case page::failures:
    return draw_failures(on, within, s, at);
  }
}

} // namespace

canvas draw(const scene& s, const place& at, extent size) {
  canvas on(size);
  if (size.rows < smallest.rows || size.columns < smallest.columns) {
    on.write(0, 0,
             fmt::format("too small: {}x{} is needed", smallest.columns, smallest.rows));
    on.write(1, 0, "q quits");
    return on;
  }
  draw_names(on, s);
  draw_numbers(on, s);
  draw_page_names(on, at.shown, s.picture);
  draw_page(
      on,
      {.row = head_rows, .column = 0, .rows = page_rows(size), .columns = size.columns},
      s, at);
  const bool complains = !at.complaint.empty();
  on.write(size.rows - 1, 0, complains ? at.complaint : keys_of(at, s.picture),
           complains ? style::bad : style::faint);
  return on;
}

std::span<const page> pages_of(const run_picture& p) {
  if (p.named_by.empty())
    return all_pages;
  return pages_of_jobs;
}

std::string name_of(const scene& s, candidate_id id) {
  const auto found = s.names.find(id);
  return found == s.names.end() ? numbered(id) : found->second;
}

const char* noun_of(const scene& s) {
  return s.picture.named_by.empty() ? "candidate" : "job";
}

int page_rows(extent size) {
  return size.rows - head_rows - 1;
}

int list_rows(extent size) {
  return page_rows(size) - 1;
}

std::optional<double> seconds_left(const run_picture& p, feed_state showing) {
  if (showing != feed_state::live || p.state != picture_state::running
      || p.latest.size() < 2)
    return std::nullopt;
  if (p.final_trainings > 0)
    return seconds_left(final_of(p));
  const auto passed =
      static_cast<double>(p.unix_ms - p.latest.front().evaluated_ms) / 1000;
  const auto all = planned(p);
  if (passed <= 0 || p.evaluated >= all)
    return std::nullopt;
  const auto pace = static_cast<double>(p.latest.size() - 1) / passed;
  return static_cast<double>(all - p.evaluated) / pace;
}

std::string result_text(const candidate_line& c) {
  if (c.evaluated_ms == 0)
    return "in work";
  return c.fitness ? metric_text(*c.fitness) : to_text(c.outcome);
}

style result_style(const candidate_line& c) {
  if (c.evaluated_ms == 0)
    return style::faint;
  return c.fitness ? style::plain : style::bad;
}

std::string clock_text(std::int64_t unix_ms) {
  const auto all = time_text(unix_ms);
  return all.substr(std::min<std::size_t>(all.size(), 11));
}

} // namespace clade::terminal
