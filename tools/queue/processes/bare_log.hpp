#pragma once

#include <string>
#include <string_view>

namespace clade {

/// Takes out of a log that comes in pieces what only a terminal understands and what
/// programs often write: colours are left out, and a return to the beginning of the line, as
/// bars of progress make it, becomes the end of the line.
class bare_log {
public:
  /// Takes a part of the log; returns what is told of it.
  [[nodiscard]] std::string add(std::string_view part);
  /// Nothing more comes. Returns what was not told yet.
  [[nodiscard]] std::string finish();

private:
  void take(char c, std::string& out);

  std::string begun_; ///< A return, or the beginning of what may set a colour.
};

} // namespace clade
