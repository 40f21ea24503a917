#pragma once

#include "engine/telemetry/picture/feed.hpp"

#include <string>

namespace clade {

/// The run as Prometheus scrapes it (text format 0.0.4): numbers only, but for the names
/// of the run, its state, outcomes and slots. Every name begins with "clade_"; each has a
/// line of help. Values of which there are none yet, such as a best fitness, are left
/// out.
[[nodiscard]] std::string metrics_text(const feed& from);

/// The name of the type in HTTP.
inline constexpr const char* metrics_content_type =
    "text/plain; version=0.0.4; charset=utf-8";

} // namespace clade
