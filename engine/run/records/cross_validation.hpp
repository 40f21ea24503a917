#pragma once

#include <string_view>

namespace clade {

/// A model of few examples is judged by all of the train and the validation part, each by
/// what was trained without it. Such metrics of a final model and of those that it was
/// chosen from have this instead of "validation.": "cross_validation.accuracy".
inline constexpr std::string_view cross_validation = "cross_validation.";

} // namespace clade
