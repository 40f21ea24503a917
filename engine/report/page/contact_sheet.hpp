#pragma once

#include "genome/base/error.hpp"

#include <cstddef>
#include <filesystem>
#include <string>

namespace clade {

/// A page of the images of a folder, as one HTML file that stands alone.
struct contact_sheet {
  std::string html;
  std::size_t images = 0;  ///< The number of images in the folder.
  std::size_t odd = 0;     ///< So many of those looked at stand out and are shown first.
  std::size_t damaged = 0; ///< So many of those cannot be decoded.
};

/// Draws some images of each class, evenly chosen, and before them those that stand out
/// from the others of their class: by their brightness, contrast, proportions or size, in
/// deviations from the median that outliers do not make (by 1.4826 times the median
/// absolute deviation). Some thousands of many images are looked at. An error where the
/// folder holds no images by class.
[[nodiscard]] expected<contact_sheet>
make_contact_sheet(const std::filesystem::path& folder);

} // namespace clade
