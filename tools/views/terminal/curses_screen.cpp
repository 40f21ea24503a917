#include "tools/views/terminal/curses_screen.hpp"

#include <fmt/format.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <cstring>
#include <string>

// Else ncurses defines erase, move and what not.
#define NCURSES_NOMACROS
#include <ncurses.h>

namespace clade::terminal {

namespace {

constexpr short green_pair = 1, red_pair = 2;

attr_t attributes_of(style look, bool colours) {
  switch (look) {
  case style::plain:
    return A_NORMAL;
  case style::faint:
    return A_DIM;
  case style::strong:
    return A_BOLD;
  case style::good:
    return colours ? A_NORMAL : A_BOLD;
  case style::bad:
    return colours ? A_NORMAL : A_UNDERLINE;
  case style::chosen:
    return A_REVERSE;
  }
  return A_NORMAL;
}

short pair_of(style look) {
  return look == style::good ? green_pair : look == style::bad ? red_pair : short{0};
}

/// The keys of ncurses, and those with a letter.
key key_of(int result, wint_t code) {
  struct named {
    wint_t code;
    key meaning;
  };
  static constexpr named functions[] = {
      {KEY_UP, key::up},           {KEY_DOWN, key::down},      {KEY_PPAGE, key::page_up},
      {KEY_NPAGE, key::page_down}, {KEY_HOME, key::home},      {KEY_END, key::end},
      {KEY_ENTER, key::enter},     {KEY_BACKSPACE, key::back}, {KEY_LEFT, key::back},
      {KEY_RIGHT, key::enter},     {KEY_BTAB, key::previous}};
  static constexpr named letters[] = {
      {'k', key::up},     {'j', key::down},   {' ', key::page_down}, {'g', key::home},
      {'G', key::end},    {'\n', key::enter}, {'\r', key::enter},    {27, key::back},
      {127, key::back},   {8, key::back},     {'\t', key::next},     {'1', key::page_1},
      {'2', key::page_2}, {'3', key::page_3}, {'4', key::page_4},    {'5', key::page_5},
      {'6', key::page_6}, {'b', key::best},   {'p', key::parent},    {'q', key::quit},
      {'n', key::step}};
  const auto find = [&](const auto& all) {
    for (const auto& one : all)
      if (one.code == code)
        return one.meaning;
    return key::none;
  };
  return result == KEY_CODE_YES ? find(functions) : find(letters);
}

error refusal(const std::string& what) {
  return {error_kind::invalid_input, what + "; --json needs none"};
}

} // namespace

struct curses_screen::impl {
  SCREEN* terminal = nullptr;
  bool colours = false;

  ~impl() {
    if (terminal == nullptr)
      return;
    ::endwin();
    ::delscreen(terminal);
  }
};

curses_screen::curses_screen(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
curses_screen::curses_screen(curses_screen&&) noexcept = default;
curses_screen::~curses_screen() = default;

expected<curses_screen> curses_screen::open() {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1)
    return tl::unexpected(refusal("this is no terminal"));
  const char* name = std::getenv("TERM");
  // The locale decides only how characters are written: numbers stay as they are.
  std::setlocale(LC_CTYPE, "");
  curses_screen screen(std::make_unique<impl>());
  auto& own = *screen.impl_;
  own.terminal = ::newterm(nullptr, stdout, stdin);
  const auto named = "TERM=" + std::string(name == nullptr ? "" : name);
  if (own.terminal == nullptr)
    return tl::unexpected(refusal(named + " is no terminal that is known here"));
  const char* moves = ::tigetstr("cup");
  if (moves == nullptr || moves == reinterpret_cast<const char*>(-1))
    return tl::unexpected(
        refusal(fmt::format("a terminal with {} shows lines only", named)));
  ::cbreak();
  ::noecho();
  ::nonl();
  ::keypad(stdscr, true);
  ::nodelay(stdscr, true);
  ::set_escdelay(25);
  ::curs_set(0);
  ::leaveok(stdscr, true);
  if (::has_colors() && ::start_color() == OK && ::use_default_colors() == OK)
    own.colours = ::init_pair(green_pair, COLOR_GREEN, -1) == OK
                  && ::init_pair(red_pair, COLOR_RED, -1) == OK;
  // The console of Linux speaks UTF-8 and has no Braille.
  if (std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0 && named != "TERM=linux")
    screen.glyphs_ = glyphs::unicode;
  screen.size_ = {.rows = ::getmaxy(stdscr), .columns = ::getmaxx(stdscr)};
  return screen;
}

void curses_screen::resize() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0
      && size.ws_col > 0)
    ::resizeterm(size.ws_row, size.ws_col);
  size_ = {.rows = ::getmaxy(stdscr), .columns = ::getmaxx(stdscr)};
  ::wclear(stdscr);
}

void curses_screen::show(const canvas& c) {
  ::werase(stdscr);
  for (int row = 0; row < c.size().rows; ++row)
    for (int column = 0; column < c.size().columns; ++column) {
      const auto& one = c.at(row, column);
      if (one.glyph == 0 || (one.glyph == U' ' && one.look != style::chosen))
        continue;
      const wchar_t text[2] = {static_cast<wchar_t>(one.glyph), 0};
      cchar_t cell;
      ::setcchar(&cell, text, attributes_of(one.look, impl_->colours),
                 impl_->colours ? pair_of(one.look) : short{0}, nullptr);
      ::mvwadd_wch(stdscr, row, column, &cell);
    }
  ::wrefresh(stdscr);
}

std::optional<key> curses_screen::pressed() {
  wint_t code = 0;
  const int result = ::wget_wch(stdscr, &code);
  if (result == ERR)
    return std::nullopt;
  return key_of(result, code);
}

} // namespace clade::terminal
