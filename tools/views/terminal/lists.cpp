// Pages that are tables: slots, candidates, generations, failures.

#include "engine/evaluation/jobs/jobs.hpp"
#include "engine/report/base/format.hpp"
#include "genome/base/text.hpp"
#include "search_spaces/operators/network.hpp"
#include "tools/views/terminal/pages.hpp"
#include "tools/views/terminal/sheet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ranges>

namespace clade::terminal {

namespace {

std::string parents_text(const std::vector<candidate_id>& parents) {
  return joined(parents, " ", numbered);
}

std::string outcome_of(const scene& s, outcome o) {
  return s.picture.named_by.empty() ? to_text(o) : job_outcome_text(o);
}

double seconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// The epoch that the slot is at: of what it told last.
std::pair<std::uint32_t, std::uint32_t> epoch_of(const slot_view& slot, const scene& s) {
  const auto news = s.epochs.find(slot.name);
  if (news != s.epochs.end() && news->second.id == slot.training
      && news->second.number >= slot.epoch)
    return {news->second.number, news->second.of};
  return {slot.epoch, slot.epochs};
}

std::string doing(const slot_view& slot, const scene& s) {
  if (slot.away)
    return "away for " + duration_text(seconds(slot.heard));
  if (slot.quarantined.count() > 0)
    return "quarantined for " + duration_text(seconds(slot.quarantined));
  if (!slot.ready)
    return "starting";
  if (slot.training == 0)
    return "idle";
  if (!s.picture.named_by.empty())
    return "running " + name_of(s, slot.training);
  return fmt::format("training {}{}", numbered(slot.training),
                     slot.team.member > 0 ? ", " + to_text(slot.team) : "");
}

/// Lists the work of the slots, then the slots that are gone, the latest first.
sheet slot_lines(const scene& s, int columns) {
  const bool jobs = !s.picture.named_by.empty(); // Tries of a job are no epochs.
  sheet lines({{"slot"}, {"does"}, {jobs ? "" : "epoch"}, {"for", true}, {"device"}});
  const int bar_columns = columns < 70 ? 8 : 16;
  for (const auto& slot : s.slots.slots) {
    std::string progress, time;
    if (slot.training != 0) {
      const auto [epoch, epochs] = epoch_of(slot, s);
      const auto share = epochs == 0 ? 0.0 : static_cast<double>(epoch) / epochs;
      if (!jobs)
        progress = fmt::format("{} {}/{}", bar(share, bar_columns, s.glyphs), epoch,
                               epochs == 0 ? "?" : std::to_string(epochs));
      time = duration_text(seconds(slot.at_work));
    }
    const bool bad = slot.away || slot.quarantined.count() > 0;
    const bool busy = slot.ready && slot.training != 0;
    lines.add({slot.name, doing(slot, s), progress, time, slot.label},
              bad    ? style::bad
              : busy ? style::plain
                     : style::faint);
  }
  const auto& stays = s.picture.slots;
  if (s.slots.slots.empty())
    for (const auto& stay : stays)
      if (!stay.left_ms)
        lines.add({stay.slot, "joined " + clock_text(stay.joined_ms), "", "", ""},
                  style::faint);
  for (auto stay = stays.rbegin(); stay != stays.rend(); ++stay)
    if (stay->left_ms)
      lines.add(
          {stay->slot, "gone since " + clock_text(*stay->left_ms), "",
           duration_text(static_cast<double>(*stay->left_ms - stay->joined_ms) / 1000),
           stay->reason},
          style::bad);
  return lines;
}

/// Adds the lines of a whole list that are to be seen.
template<class Range, class Add>
void add_shown(const Range& all, std::size_t skipped, int rows, Add add) {
  const auto from = std::min(skipped, all.size());
  const auto to =
      std::min(all.size(), from + static_cast<std::size_t>(std::max(rows, 0)));
  for (auto i = from; i < to; ++i)
    add(all[i]);
}

std::size_t skipped_of(const place& at) {
  return at.skipped[static_cast<std::size_t>(at.shown)];
}

std::string percent_text(double share) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", 100 * share);
  return text.data();
}

/// One line of the page of failures.
struct failure_line {
  std::string what;
  style look = style::plain;
};

/// Kinds with how often, then slots, then the attempts that were lost, the latest first.
std::vector<failure_line> failure_lines(const scene& s) {
  const auto& p = s.picture;
  table kinds(
      {table::align::left, table::align::right, table::align::right, table::align::left});
  std::vector<failure_line> lines;
  for (const auto& [kind, count] : p.outcomes) {
    const auto share = static_cast<double>(count) / static_cast<double>(p.evaluated);
    kinds.add({outcome_of(s, kind), with_commas(count), percent_text(share),
               bar(share, 24, s.glyphs)});
  }
  const auto split = [&](const std::string& text, style look) {
    for (std::size_t begin = 0; begin < text.size();) {
      const auto end = text.find('\n', begin);
      lines.push_back({text.substr(begin, end - begin), look});
      begin = end + 1;
    }
  };
  lines.push_back({"outcomes", style::strong});
  if (p.outcomes.empty())
    lines.push_back({s.picture.named_by.empty() ? "  no candidate is evaluated yet"
                                                : "  no job has ended yet",
                     style::faint});
  split(kinds.to_text(2), style::plain);
  std::vector<candidate_line> failed;
  for (auto c = p.latest.rbegin(); c != p.latest.rend(); ++c)
    if (!c->fitness)
      failed.push_back(*c);
  if (!failed.empty()) {
    lines.push_back({"the latest that failed", style::strong});
    for (const auto& c : failed)
      lines.push_back(
          {fmt::format("  {}  {}  {}{}", clock_text(c.evaluated_ms), name_of(s, c.id),
                       to_text(c.outcome),
                       c.reason.empty() ? ""
                                        : ": " + reason_of(name_of(s, c.id), c.reason)),
           style::bad});
  }
  if (!s.slots.failures.empty()) {
    lines.push_back({fmt::format("slots that lost {}s", noun_of(s)), style::strong});
    for (const auto& f : s.slots.failures)
      lines.push_back(
          {fmt::format("  {}  {}, last: {}", f.slot, with_commas(f.count), f.last)});
  }
  if (!p.attempts.empty()) {
    lines.push_back({"attempts that were lost and made again", style::strong});
    for (auto a = p.attempts.rbegin(); a != p.attempts.rend(); ++a)
      lines.push_back({fmt::format("  {}  attempt {} on {}: {}", name_of(s, a->id),
                                   a->attempt, a->slot, a->reason)});
  }
  return lines;
}

/// Jobs in the same order as candidates.
void draw_jobs(canvas& on, const area& within, const scene& s, candidate_id chosen) {
  sheet lines({{"job"}, {"outcome"}, {"took", true}, {"slot"}, {"why"}});
  std::optional<std::size_t> where;
  for (const auto& row : s.rows) {
    const auto& c = row.line;
    if (c.id == chosen)
      where = lines.size();
    const bool done = c.evaluated_ms != 0;
    const auto at_work = std::ranges::find(s.slots.slots, c.id, &slot_view::training);
    const bool runs = !done && at_work != s.slots.slots.end();
    const auto name = name_of(s, c.id);
    lines.add({name,
               done   ? job_outcome_text(c.outcome)
               : runs ? "running"
                      : "waiting",
               done   ? duration_text(c.seconds)
               : runs ? duration_text(seconds(at_work->at_work))
                      : "-",
               done   ? c.slot
               : runs ? at_work->name
                      : "-",
               reason_of(name, c.reason)});
    lines.mark(1, !done                             ? style::faint
                  : c.outcome == outcome::succeeded ? style::good
                                                    : style::bad);
  }
  lines.draw(on, within, where);
}

} // namespace

void draw_slots(canvas& on, const area& within, const scene& s, const place& at) {
  const auto lines = slot_lines(s, within.columns);
  if (lines.size() == 0) {
    on.write(within.row + 1, 2, "no slot has joined yet", style::faint);
    return;
  }
  const bool more = s.slots.waiting > 0;
  lines.draw(on, {within.row, within.column, within.rows - more, within.columns},
             std::nullopt, skipped_of(at));
  if (more)
    on.write(
        within.row + within.rows - 1, within.column,
        fmt::format("{} {}s wait for a slot", with_commas(s.slots.waiting), noun_of(s)),
        style::faint);
}

void draw_candidates(canvas& on, const area& within, const scene& s, const place& at) {
  if (s.rows.empty()) {
    on.write(within.row + 1, 2,
             s.picture.named_by.empty() ? "no candidate is born yet"
                                        : "no job has begun yet",
             style::faint);
    return;
  }
  const auto chosen = at.chosen == 0 ? s.picture.born : at.chosen;
  if (!s.picture.named_by.empty())
    return draw_jobs(on, within, s, chosen);
  sheet lines({{"id", true},
               {"generation", true},
               {"result", true},
               {"parameters", true},
               {"took", true},
               {"parents"},
               {"what changed"}});
  std::optional<std::size_t> where;
  for (const auto& row : s.rows) {
    const auto& c = row.line;
    if (c.id == chosen)
      where = lines.size();
    const bool done = c.evaluated_ms != 0;
    auto origin = c.origin;
    if (row.equal_to != 0)
      origin += fmt::format(" (equal to {})", numbered(row.equal_to));
    if (!c.reason.empty())
      origin += fmt::format(" ({})", c.reason);
    lines.add({numbered(c.id), std::to_string(c.generation), result_text(c),
               done ? with_commas(c.parameters) : "-",
               done ? duration_text(c.seconds) : "-", parents_text(row.parents), origin});
    lines.mark(2, result_style(c));
  }
  lines.draw(on, within, where);
}

void draw_generations(canvas& on, const area& within, const scene& s, const place& at) {
  const auto& generations = s.picture.generations;
  if (generations.empty()) {
    on.write(within.row + 1, 2, "no generation is complete yet", style::faint);
    return;
  }
  sheet lines({{"generation", true},
               {"best", true},
               {"by", true},
               {"median", true},
               {"lower", true},
               {"upper", true},
               {"succeeded", true},
               {"failed", true},
               {"took", true}});
  add_shown(std::views::reverse(generations), skipped_of(at), within.rows - 1,
            [&](const generation_line& g) {
              const auto& one = g.summary;
              const bool any = one.best != 0;
              const auto value = [&](double v) {
                return any ? metric_text(v) : std::string("-");
              };
              lines.add(
                  {std::to_string(one.generation), value(one.best_fitness),
                   any ? numbered(one.best) : "-", value(one.median_fitness),
                   value(one.lower_quartile), value(one.upper_quartile),
                   with_commas(one.succeeded), with_commas(one.failed),
                   duration_text(static_cast<double>(g.closed_ms - g.born_ms) / 1000)});
              lines.mark(1, style::good);
              if (one.failed > 0)
                lines.mark(7, style::bad);
            });
  lines.draw(on, within);
}

void draw_failures(canvas& on, const area& within, const scene& s, const place& at) {
  int row = within.row;
  add_shown(failure_lines(s), skipped_of(at), within.rows, [&](const failure_line& line) {
    on.write(row++, within.column, line.what, line.look, within.columns);
  });
}

std::size_t lines_of(const scene& s, page p) {
  switch (p) {
  case page::slots:
    return slot_lines(s, 80).size();
  case page::generations:
    return s.picture.generations.size();
  case page::failures:
    return failure_lines(s).size();
  case page::overview:
  case page::front:
  case page::candidates:
    break;
  }
  return 0;
}

} // namespace clade::terminal
