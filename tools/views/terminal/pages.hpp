#pragma once

#include "engine/telemetry/picture/feed.hpp"
#include "tools/views/terminal/canvas.hpp"
#include "tools/views/terminal/plot.hpp"

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace clade::terminal {

/// The pages that keys move between, in the order of their numbers.
enum class page : std::uint8_t {
  overview,
  front,
  slots,
  candidates,
  generations,
  failures
};
inline constexpr std::size_t page_count = 6;

/// Returns the pages that there are: for a run of jobs not those of evolution.
[[nodiscard]] std::span<const page> pages_of(const run_picture& p);

/// A candidate that is open for reading.
struct reading {
  candidate_id id = 0;
  std::vector<candidate_id> parents;
  std::vector<std::string> lines;
  std::vector<epoch> curve;
};

/// The place in the run at which a person looks.
struct place {
  page shown = page::overview;
  /// For lists that move as a whole: lines above the first that is shown.
  std::array<std::size_t, page_count> skipped{};
  std::size_t chosen_of_front = 0;
  candidate_id chosen = 0; ///< Among all candidates; 0: the latest, whichever that is.
  candidate_id top = 0;    ///< The first that is shown of them; 0: the latest.
  std::optional<reading> open;
  std::size_t read = 0;  ///< Lines of it above the first that is shown.
  std::string complaint; ///< In place of the names of keys.
};

/// All that there is to show.
struct scene {
  const run_picture& picture;
  const slots_view& slots;
  std::string name; ///< The name that the feed gives.
  feed_state showing = feed_state::live;
  /// The candidates at the place that were read, by falling id.
  std::vector<candidate_row> rows;
  /// Epochs that are newer than `slots`, by slot.
  std::map<std::string, epoch_event> epochs;
  /// The names of the jobs that are to be seen.
  std::map<candidate_id, std::string> names;
  clade::terminal::glyphs glyphs = clade::terminal::glyphs::unicode;
};

/// Below this there is one sentence to read.
inline constexpr extent smallest{.rows = 10, .columns = 40};

/// The whole terminal: a head of two lines, the names of the pages, the page, and the
/// names of keys.
[[nodiscard]] canvas draw(const scene& s, const place& at, extent size);

/// Lines between head and foot.
[[nodiscard]] int page_rows(extent size);
/// Lines of a list that is a whole page, below its titles.
[[nodiscard]] int list_rows(extent size);
/// Lines of the front below its chart.
[[nodiscard]] int front_rows(extent size);
/// Lines of an open candidate's text, below its learning curve.
[[nodiscard]] int reading_rows(extent size, const reading& r);
/// Its text with long lines broken between words, the rest of each indented.
[[nodiscard]] std::vector<std::string> broken_lines(const reading& r, int columns);
/// How many lines can be skipped of the page.
[[nodiscard]] std::size_t lines_of(const scene& s, page p);

/// How long what is planned yet would take at the pace of the latest evaluations. None if
/// the run is not going on, or is too young to tell.
[[nodiscard]] std::optional<double> seconds_left(const run_picture& p,
                                                 feed_state showing);

/// The pages, each in its part of the canvas. (overview.cpp, lists.cpp)
void draw_overview(canvas& on, const area& within, const scene& s);
void draw_front(canvas& on, const area& within, const scene& s, const place& at);
void draw_slots(canvas& on, const area& within, const scene& s, const place& at);
void draw_candidates(canvas& on, const area& within, const scene& s, const place& at);
void draw_generations(canvas& on, const area& within, const scene& s, const place& at);
void draw_failures(canvas& on, const area& within, const scene& s, const place& at);
void draw_reading(canvas& on, const area& within, const scene& s, const place& at);

/// "#231", or a job's name.
[[nodiscard]] std::string name_of(const scene& s, candidate_id id);
/// "candidate", or "job".
[[nodiscard]] const char* noun_of(const scene& s);

/// "0.9861", or why there is none.
[[nodiscard]] std::string result_text(const candidate_line& c);
[[nodiscard]] style result_style(const candidate_line& c);
/// "14:05:00", local time.
[[nodiscard]] std::string clock_text(std::int64_t unix_ms);

} // namespace clade::terminal
