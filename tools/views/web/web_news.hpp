#pragma once

#include "engine/telemetry/picture/feed.hpp"

#include <map>
#include <string>
#include <vector>

namespace clade {

/// Server-sent events of a feed's news, and what a reader who comes later must get first:
/// epochs of candidates in training are no records, so only this remembers them.
class web_news {
public:
  /// All that a new reader needs.
  [[nodiscard]] std::string beginning(const feed& f) const;
  /// Returns the text of one piece of news, which the feed gave just now.
  [[nodiscard]] std::string next(const news& n, const feed& f);

private:
  struct curve {
    std::uint32_t last = 0;
    std::vector<std::string> events;
  };
  static constexpr std::size_t most_epochs = 4096; ///< The epochs of one candidate.

  void remember(const news& n, const std::string& event);

  std::map<candidate_id, curve> training_;
};

} // namespace clade
