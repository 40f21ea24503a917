#include "engine/telemetry/picture/feed.hpp"

#include "genome/base/text.hpp"

#include <array>

namespace clade {

// In the order of `feed_state`.
static constexpr std::array texts{"live",    "not connected", "replay",
                                  "running", "stopped",       "finished"};

const char* to_text(feed_state s) {
  return texts.at(static_cast<std::size_t>(s));
}

std::optional<feed_state> parse_feed_state(std::string_view text) {
  return parse_one_of<feed_state>(texts, text);
}

feed_state feed_state_of(run_standing s) {
  return s == run_standing::running   ? feed_state::running
         : s == run_standing::stopped ? feed_state::stopped
                                      : feed_state::finished;
}

} // namespace clade
