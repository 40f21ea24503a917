#pragma once

#include "engine/data/columns/examples.hpp"
#include "tests/fuzz/law.hpp"

#include <cmath>

namespace clade::fuzz {

/// Checks the laws of the examples of a file, whatever its format.
inline void hold_example_laws(const examples& e, const data_params& params) {
  std::size_t width = 1;
  for (const std::int64_t size : e.shape.sizes)
    width *= static_cast<std::size_t>(size);
  hold(e.count > 0 && e.features.size() == e.count * width,
       "the features fill the examples' shape");
  hold(e.places.size() == e.count, "each example has its place");
  if (params.task == classification)
    hold(e.labels.size() == e.count, "each example has its label");
  else
    hold(e.targets.size() == e.count, "each example has its target");
  std::vector<bool> used(e.classes.size(), false);
  for (const auto label : e.labels) {
    hold(label < e.classes.size(), "a label is that of a class");
    used[label] = true;
  }
  for (const bool one : used)
    hold(one, "a class has an example");
  for (const double target : e.targets)
    hold(std::isfinite(target), "a target is finite");
  for (std::size_t i = 0; i < e.features.size(); ++i)
    hold(std::isfinite(e.features[i])
             || (std::isnan(e.features[i]) && params.blanks != blank_rule::refuse
                 && params.blanks != blank_rule::drop),
         "a feature is finite, or a blank that is to be filled");
  for (const auto& c : e.texts) {
    hold(c.feature < width && c.column < e.columns.size(), "a category is a column");
    for (std::size_t i = c.feature; i < e.features.size(); i += width)
      hold(std::isnan(e.features[i])
               || e.features[i] < static_cast<double>(c.values.size()),
           "a column of texts holds one of its values");
  }
  hold(!e.place(e.count - 1).empty(), "an example can be pointed at");
}

} // namespace clade::fuzz
