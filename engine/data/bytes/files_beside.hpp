#pragma once

#include <filesystem>
#include <optional>

namespace clade {

/// Finds the file of the targets that belongs to a file of examples by its name, in the
/// same folder: "train-labels-idx1-ubyte.gz" for "train-images-idx3-ubyte.gz", "y.npy"
/// for "X.npy", "diabetes_target.csv.gz" for "diabetes_data_raw.csv.gz".
[[nodiscard]] std::optional<std::filesystem::path>
target_file_beside(const std::filesystem::path& file);

/// Finds the test set that belongs to a training set: "t10k-images-idx3-ubyte.gz" for
/// "train-images-idx3-ubyte.gz", "x_test.npy" for "x_train.npy", "GunPoint_TEST.ts"
/// for "GunPoint_TRAIN.ts".
[[nodiscard]] std::optional<std::filesystem::path>
test_file_beside(const std::filesystem::path& file);

} // namespace clade
