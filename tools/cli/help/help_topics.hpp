#pragma once

#include <span>
#include <string>
#include <string_view>

namespace clade {

/// The topics that `clade help TOPIC` explains beside the commands.
struct help_topic {
  std::string_view name;
  std::string_view sentence;
  std::string (*text)();
};

[[nodiscard]] std::span<const help_topic> help_topics();

} // namespace clade
