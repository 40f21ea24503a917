#pragma once

#include "engine/data/folders/class_folder.hpp"

#include <cstddef>
#include <string>

namespace clade {

/// A page of images by class, as one HTML file that stands alone.
struct contact_sheet {
  std::string html;
  std::size_t images = 0;  ///< How many images there are.
  std::size_t odd = 0;     ///< So many of those looked at stand out and are shown first.
  std::size_t damaged = 0; ///< So many of those cannot be decoded.
};

/// Draws some images of each class, evenly chosen, and before them those that stand out
/// from the others of their class: by their brightness, contrast, proportions or size, in
/// deviations from the median that outliers do not make (by 1.4826 times the median
/// absolute deviation). Some thousands of many images are looked at. `name` is the page's
/// title.
[[nodiscard]] contact_sheet make_contact_sheet(const class_folder& images,
                                               const std::string& name);

} // namespace clade
