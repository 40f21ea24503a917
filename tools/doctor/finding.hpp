#pragma once

#include <string>
#include <vector>

namespace clade {

/// How well something is.
enum class health {
  good,
  poor,  ///< It works, but worse than it could.
  broken ///< Something that Clade needs does not work.
};

/// The result of a look at one thing of an installation or a fleet.
struct finding {
  std::string about; ///< "disk"
  health is = health::good;
  std::string found;       ///< "0.4 ms to keep a record"
  std::string advice = {}; ///< The advice; empty if nothing is to be done.

  friend bool operator==(const finding&, const finding&) = default;
};

/// The worst of them; good if there are none.
[[nodiscard]] health worst(const std::vector<finding>& findings);

/// A line for each, and its advice below it.
[[nodiscard]] std::string to_text(const std::vector<finding>& findings);

/// {"healthy": true, "findings": [{"about", "is": "good", "found", "advice"}]}
[[nodiscard]] std::string to_json(const std::vector<finding>& findings);

} // namespace clade
