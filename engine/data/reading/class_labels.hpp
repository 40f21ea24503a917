#pragma once

#include "engine/data/columns/examples.hpp"
#include "engine/data/reading/data_set.hpp"

namespace clade {

/// Sorts the classes of the file to train on, by value where all are whole numbers, else by
/// text, and gives `data` their names and the labels of its examples, those of the test
/// file behind them. A single class, a class with one member and a class that only the
/// test file has are refused.
[[nodiscard]] expected<void> set_labels(const examples& e, const examples* test,
                                        data_set& data);

} // namespace clade
