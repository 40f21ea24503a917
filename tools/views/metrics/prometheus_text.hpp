#pragma once

#include "engine/telemetry/picture/feed.hpp"

#include <string>

namespace clade {

/// The run as Prometheus scrapes it (text format 0.0.4): numbers only, but for the names
/// of the run, its state, outcomes and slots. Every name begins with "clade_"; each has a
/// line of help. What there is none of yet, such as a best fitness, is left out.
[[nodiscard]] std::string metrics_text(const feed& from);

/// What HTTP calls it.
inline constexpr const char* metrics_content_type =
    "text/plain; version=0.0.4; charset=utf-8";

} // namespace clade
