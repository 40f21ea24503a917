#pragma once

#include "engine/report/page/run_report.hpp"

#include <string>

namespace clade {

/// The examples that were most wrong as far as they can be shown, each with what it is and
/// what it was taken for: images, with the parts that made the model say so, series and
/// texts. Empty where there is nothing to show.
[[nodiscard]] std::string wrong_examples_html(const run_report& story);

} // namespace clade
