#include "tools/views/terminal/terminal_view.hpp"

#include "engine/report/text/text.hpp"
#include "genome/base/unique_fd.hpp"
#include "tools/views/terminal/curses_screen.hpp"
#include "tools/views/terminal/keys.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

// One thread waits for three things: keys, news of the feed, and signals, whose handlers
// (whichever thread the system picks, for a feed may have threads) write to a descriptor.
// A change that any of them makes is drawn once, 50 ms after the last drawing at the
// earliest. A head that comes or goes moves no descriptor: the feed is asked now and then
// all the same.

namespace clade {

namespace {

using namespace terminal;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto pause = 50ms; // 20 drawings a second
constexpr auto look_interval = 250ms;

// The descriptor that a handler can reach: the C library has no argument for it.
std::atomic<int> wake_descriptor{-1};
std::atomic<int> ending_signal{0};
std::atomic<bool> resized{false};

void handle(int signal) {
  const int before = errno;
  if (signal == SIGWINCH)
    resized = true;
  else
    ending_signal = signal;
  const std::uint64_t one = 1;
  // A full counter wakes just as well.
  [[maybe_unused]] const auto written =
      ::write(wake_descriptor.load(), &one, sizeof(one));
  errno = before;
}

/// Signals that come while it lives wake a descriptor; then they do what they did before.
class caught_signals {
public:
  caught_signals() : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    ending_signal = 0;
    resized = false;
    wake_descriptor = descriptor_.get();
    struct sigaction ours {};
    ours.sa_handler = handle;
    ours.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < std::size(signals); ++i)
      ::sigaction(signals[i], &ours, &before_[i]);
  }
  ~caught_signals() {
    for (std::size_t i = 0; i < std::size(signals); ++i)
      ::sigaction(signals[i], &before_[i], nullptr);
    wake_descriptor = -1;
  }
  caught_signals(const caught_signals&) = delete;
  caught_signals& operator=(const caught_signals&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  void clear() const {
    std::uint64_t count = 0;
    while (::read(descriptor_.get(), &count, sizeof(count)) > 0)
      ;
  }

private:
  static constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH};
  struct sigaction before_[std::size(signals)]{};
  unique_fd descriptor_;
};

std::vector<std::string> lines_of_text(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// The run as it is shown at present.
class view {
public:
  view(feed& from, curses_screen& screen) : feed_(from), screen_(screen) {}

  /// Takes in what the feed has.
  expected<void> follow() {
    auto news = feed_.wait(0ms);
    if (!news)
      return tl::unexpected(news.error());
    for (const auto& one : *news) {
      changed_ = true;
      if (const auto* epoch = std::get_if<epoch_event>(&one)) {
        epochs_[epoch->slot] = *epoch;
      } else if (const auto* record = std::get_if<record_event>(&one)) {
        rows_are_old_ |= std::holds_alternative<candidate_born>(record->record)
                         || std::holds_alternative<candidate_evaluated>(record->record);
      } else if (std::holds_alternative<restarted>(one)) {
        epochs_.clear();
        rows_are_old_ = true;
      }
    }
    if (const auto now = feed_.showing(); now != showing_) {
      showing_ = now;
      changed_ = true;
    }
    return {};
  }

  /// All keys that wait; false when the person quits.
  bool obey_keys() {
    while (const auto pressed = screen_.pressed()) {
      const auto wanted = press(at_, *pressed, current_scene(), screen_.size());
      changed_ = true;
      if (wanted.quit)
        return false;
      if (wanted.step)
        feed_.step();
      if (wanted.open != 0)
        open(wanted.open);
    }
    return true;
  }

  void resize() {
    screen_.resize();
    changed_ = true;
  }

  [[nodiscard]] bool changed() const { return changed_; }

  void draw() {
    stay_on_pages(at_, feed_.picture());
    if (at_.shown == page::candidates && !at_.open)
      read_rows();
    read_names();
    screen_.show(terminal::draw(current_scene(), at_, screen_.size()));
    changed_ = false;
  }

private:
  [[nodiscard]] scene current_scene() const {
    return {.picture = feed_.picture(),
            .slots = feed_.slots(),
            .name = feed_.name(),
            .showing = showing_,
            .rows = rows_,
            .epochs = epochs_,
            .names = names_,
            .glyphs = screen_.can_show()};
  }

  void open(candidate_id id) {
    const auto found = feed_.candidate(id);
    if (!found) {
      at_.complaint = found.error().message;
      return;
    }
    at_.open = reading{.id = id,
                       .parents = found->born.parents,
                       .lines = lines_of_text(to_text(*found)),
                       .curve = found->evaluated ? found->evaluated->curve
                                                 : std::vector<epoch>{}};
    at_.read = 0;
  }

  void read_rows() {
    const auto wanted = candidates_at(at_, feed_.picture(), screen_.size());
    if (wanted == have_ && !rows_are_old_)
      return;
    auto rows = feed_.candidates(wanted.top - wanted.count, wanted.count);
    if (!rows) {
      at_.complaint = rows.error().message;
      return;
    }
    std::ranges::reverse(*rows);
    rows_ = std::move(*rows);
    have_ = wanted;
    rows_are_old_ = false;
  }

  void note_names(const std::vector<candidate_row>& rows) {
    for (const auto& row : rows) {
      const auto named = std::ranges::find(row.hyperparameters, feed_.picture().named_by,
                                           &setting::name);
      if (named != row.hyperparameters.end())
        names_[row.line.id] = to_text(named->value);
    }
  }

  /// Reads the names of jobs: those of the rows, and of what else is to be seen.
  void read_names() {
    const auto& p = feed_.picture();
    if (p.named_by.empty())
      return;
    note_names(rows_);
    std::vector<candidate_id> seen;
    for (const auto& slot : feed_.slots().slots)
      if (slot.training != 0)
        seen.push_back(slot.training);
    for (const auto& line : p.latest)
      seen.push_back(line.id);
    for (const auto& attempt : p.attempts)
      seen.push_back(attempt.id);
    for (const auto id : seen)
      if (!names_.contains(id))
        if (const auto rows = feed_.candidates(id - 1, 1))
          note_names(*rows);
  }

  feed& feed_;
  curses_screen& screen_;
  place at_;
  feed_state showing_ = feed_state::live;
  std::map<std::string, epoch_event> epochs_;
  std::vector<candidate_row> rows_;
  std::map<candidate_id, std::string> names_;
  shown_candidates have_;
  bool rows_are_old_ = true;
  bool changed_ = true;
};

/// How long to wait: for the next drawing, if one is due.
int patience_ms(const view& v, steady::time_point drawn) {
  auto left = std::chrono::milliseconds(look_interval);
  if (v.changed())
    left = std::chrono::ceil<std::chrono::milliseconds>(drawn + pause - steady::now());
  return static_cast<int>(
      std::clamp<std::int64_t>(left.count(), 0, look_interval.count()));
}

/// Until the person quits or a signal comes: the exit status.
expected<int> show(feed& from, curses_screen& screen, const caught_signals& signals) {
  view shown(from, screen);
  steady::time_point drawn{};
  while (ending_signal == 0) {
    if (const auto followed = shown.follow(); !followed)
      return tl::unexpected(followed.error());
    if (resized.exchange(false))
      shown.resize();
    if (shown.changed() && steady::now() - drawn >= pause) {
      shown.draw();
      drawn = steady::now();
    }
    pollfd waited[] = {{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                       {.fd = signals.descriptor(), .events = POLLIN, .revents = 0},
                       {.fd = from.descriptor(), .events = POLLIN, .revents = 0}};
    if (::poll(waited, std::size(waited), patience_ms(shown, drawn)) < 0
        && errno != EINTR)
      return fail(error_kind::io, std::string("poll: ") + std::strerror(errno));
    signals.clear();
    // The terminal is gone, as when a connection ends.
    if ((waited[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
      return 128 + SIGHUP;
    if (!shown.obey_keys())
      return 0;
  }
  return 128 + ending_signal;
}

} // namespace

expected<int> show_in_terminal(feed& from) {
  const caught_signals signals;
  auto screen = curses_screen::open();
  if (!screen)
    return tl::unexpected(std::move(screen).error());
  return show(from, *screen, signals);
}

} // namespace clade
