#pragma once

#include "engine/data/formats/series_set.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clade {

/// The lines of a text that hold anything but a comment ("#", "%"), without blanks around
/// them.
class series_lines {
public:
  explicit series_lines(std::string_view text);

  /// Goes on to the next line; false at the text's end.
  [[nodiscard]] bool next();
  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }

private:
  std::string_view rest_, line_;
  std::uint64_t number_ = 0;
};

/// Cuts off the first word of `text` and the blanks behind it, and returns it. A word in
/// quotes ('a b', "a b") is returned without them.
[[nodiscard]] std::string_view take_word(std::string_view& text);

/// Puts series together, line by line, and says what is wrong with one.
class series_builder {
public:
  explicit series_builder(std::string_view origin) : origin_(origin) {}

  /// Begins with the series of that line.
  void begin(std::uint64_t line);
  /// Adds a channel to it: values with commas between them. Gaps at its end are left out
  /// if `may_be_shorter`, unless nothing else is there.
  [[nodiscard]] expected<void> add_channel(std::string_view values,
                                           bool may_be_shorter = false);
  /// Ends it. It must have as many channels as the others.
  [[nodiscard]] expected<void> end();
  [[nodiscard]] expected<void> end(std::string_view target);

  /// The error that this is wrong with the line.
  [[nodiscard]] tl::unexpected<error> wrong(std::string message) const;
  /// Takes all of it; no series is an error.
  [[nodiscard]] expected<series_set> take();

  series_set set;

private:
  [[nodiscard]] expected<double> value(std::string_view field, std::size_t step) const;

  std::string origin_;
  std::uint64_t line_ = 0;
  std::size_t channels_ = 0; ///< The series has these so far.
};

} // namespace clade
