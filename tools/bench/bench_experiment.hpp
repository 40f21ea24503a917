#pragma once

#include "genome/error.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace clade {

/// A synthetic experiment of that name over a search space as a file in `runs`, because
/// that is how experiments come. `rest` is what follows its [search_space].
[[nodiscard]] expected<std::filesystem::path>
write_experiment(const std::filesystem::path& runs, const std::string& name,
                 const std::filesystem::path& space, const std::string& rest = "");

/// What this process takes.
[[nodiscard]] double resident_megabytes();

} // namespace clade
