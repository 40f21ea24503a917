#pragma once

#include "engine/data/profile/data_profile.hpp"

namespace clade {

/// The kinds of data of `data_kinds`, each in a file of its own.
[[nodiscard]] expected<data_profile> profile_csv(const profile_request& request);
[[nodiscard]] expected<data_profile> profile_array(const profile_request& request);
[[nodiscard]] expected<data_profile> profile_cifar(const profile_request& request);
[[nodiscard]] expected<data_profile> profile_series(const profile_request& request);

/// Finishes a profile whose target's values are known: the task, the classes (named by
/// `class_names` where they are the numbers 0, 1, ...), what is suspicious, the split.
void finish_profile(data_profile& profile, const profile_request& request,
                    std::span<const std::string> class_names = {});

} // namespace clade
