#include "engine/training/loop/occlusion.hpp"

#include <ATen/ATen.h>

namespace clade {

std::vector<double> occlusion_map(const image_model& says, const at::Tensor& image,
                                  std::int64_t label) {
  constexpr auto cells = occlusion_cells;
  const auto height = image.size(1), width = image.size(2);
  // The first is the image as it is.
  auto images = image.unsqueeze(0).repeat({1 + cells * cells, 1, 1, 1});
  const auto colour = image.mean({1, 2}, /*keepdim=*/true);
  for (std::int64_t row = 0; row < cells; ++row)
    for (std::int64_t column = 0; column < cells; ++column) {
      const auto top = row * height / cells, left = column * width / cells;
      const auto bottom = (row + 1) * height / cells;
      const auto right = (column + 1) * width / cells;
      images[1 + row * cells + column]
          .slice(1, top, bottom)
          .slice(2, left, right)
          .copy_(colour.expand({image.size(0), bottom - top, right - left}));
    }
  const auto said = says(images).select(1, label).to(at::kDouble).cpu().contiguous();
  const auto* p = said.const_data_ptr<double>();
  std::vector<double> map;
  for (std::int64_t i = 1; i < said.numel(); ++i)
    map.push_back(p[0] - p[i]);
  return map;
}

} // namespace clade
