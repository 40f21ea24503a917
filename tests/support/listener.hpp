#pragma once

#include "engine/evaluation/fitness_function.hpp"

#include <cstddef>
#include <limits>
#include <vector>

namespace clade {

/// Keeps what it hears; says no after `patience` epochs.
struct listener final : progress {
  std::vector<epoch> heard{};
  std::size_t patience = std::numeric_limits<std::size_t>::max();

  bool report(const epoch& e) override {
    heard.push_back(e);
    return heard.size() < patience;
  }
};

} // namespace clade
