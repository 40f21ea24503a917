#pragma once

#include "engine/data/reading/data_set.hpp"
#include "engine/run/records/test_details.hpp"

#include <string>
#include <vector>

namespace clade {

/// Returns the images that were told wrongly, `evidence.classes`, as networks saw them: PNG
/// files in the same order, empty ones for those that the data does not have. No files at
/// all where its examples are no images of one or three channels.
[[nodiscard]] std::vector<std::string> wrong_pictures(const data_set& data,
                                                      const test_evidence& evidence);

} // namespace clade
