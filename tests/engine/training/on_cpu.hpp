#pragma once

#include "engine/data/source/open_source.hpp"
#include "engine/training/network/device_data.hpp"

// LibTorch has a macro CHECK too, which must come before that of Catch.
#include <ATen/ATen.h>
#include <catch2/catch.hpp>

namespace clade {

/// Returns the examples of a source for a training on the CPU, of which no more than
/// `most_bytes` are held; the test fails if there are none.
[[nodiscard]] inline device_data on_cpu(std::shared_ptr<const example_source> source,
                                        std::size_t most_bytes = most_whole_bytes) {
  auto there = to_device(std::move(source), "cpu", most_bytes);
  if (!there)
    FAIL(there.error().message);
  return std::move(*there);
}

[[nodiscard]] inline device_data on_cpu(data_set data) {
  return on_cpu(source_of(std::move(data)));
}

} // namespace clade
