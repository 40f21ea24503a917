#pragma once

#include "engine/telemetry/picture/slots.hpp"
#include "tools/doctor/finding.hpp"

#include <filesystem>
#include <string>

namespace clade {

/// A bundle of keys: whether all of it is there, kept from others and valid.
[[nodiscard]] finding check_keys(const std::filesystem::path& bundle);

/// Whether the heads at these places ("HOST:PORT", several with commas between) can be
/// reached and take the keys: one of them leads. Blocks for some seconds at each at most.
[[nodiscard]] std::vector<finding> check_heads(const std::string& places,
                                               const std::filesystem::path& bundle);

/// Whether a run could listen at "ADDRESS:PORT".
[[nodiscard]] finding check_port(const std::string& place);

/// Returns the faults of a live run's workers: those that are away, in quarantine or not
/// heard, and machines whose clocks differ.
[[nodiscard]] std::vector<finding> judge(const slots_view& view);

/// The same of a run's folder.
[[nodiscard]] std::vector<finding> check_workers(const std::filesystem::path& run);

} // namespace clade
