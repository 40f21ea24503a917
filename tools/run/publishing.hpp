#pragma once

#include "actors/transport/link/endpoint.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace clade {

/// Returns the place at which a run is watched from other machines: `address` with its
/// host in numbers; none if that is empty. Whether it can be had is looked at before
/// anything is created: the viewers' keys in `keys`, the address and its ports.
[[nodiscard]] expected<std::optional<endpoint>>
publishing_at(const std::string& address, const std::filesystem::path& keys);

} // namespace clade
