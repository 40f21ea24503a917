#pragma once

#include "genome/base/error.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace clade {

// How strategies judge keys of [evolution]: errors read "evolution.KEY is GIVEN: ADVICE".

/// The most candidates of a generation, and the most generations of a search.
inline constexpr std::size_t most_candidates = 1'000'000;

[[nodiscard]] tl::unexpected<error>
wrong_parameter(const char* key, const std::string& given, const std::string& advice);

/// Fails unless `given` is from `low` to `high`.
[[nodiscard]] expected<void> check_number(const char* key, std::size_t given,
                                          std::size_t low, std::size_t high);

/// Fails unless `given` is one of `known`. `resolved` is a word that a file may have, but
/// that another one has replaced by now: the advice names it too.
[[nodiscard]] expected<void> check_word(const char* key, const std::string& given,
                                        std::vector<std::string> known,
                                        const char* resolved = nullptr);

} // namespace clade
