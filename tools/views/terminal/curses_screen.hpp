#pragma once

#include "genome/base/error.hpp"
#include "tools/views/terminal/canvas.hpp"
#include "tools/views/terminal/keys.hpp"

#include <memory>
#include <optional>

namespace clade::terminal {

/// The terminal of this process, taken over by ncurses until the end of this object,
/// which gives it back as it was. One at a time.
class curses_screen {
public:
  /// `invalid_input` in a sentence if there is no terminal, or one that cannot do it.
  [[nodiscard]] static expected<curses_screen> open();
  curses_screen(curses_screen&&) noexcept;
  ~curses_screen();

  [[nodiscard]] extent size() const { return size_; }
  /// Whether it can show Braille.
  [[nodiscard]] glyphs can_show() const { return glyphs_; }

  /// Asks the terminal for its size anew. Everything is drawn again by the next `show`.
  void resize();
  void show(const canvas& c);
  /// Returns the key that was pressed; nothing if nothing more was. Does not block.
  [[nodiscard]] std::optional<key> pressed();

private:
  struct impl;
  explicit curses_screen(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
  extent size_;
  clade::terminal::glyphs glyphs_ = clade::terminal::glyphs::ascii;
};

} // namespace clade::terminal
