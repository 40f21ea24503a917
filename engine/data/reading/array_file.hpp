#pragma once

#include "engine/data/arrays/array_values.hpp"
#include "engine/data/reading/data_set.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace clade {

/// An array of a file, and the bytes that it is a view of, if it lies in memory.
struct array_file {
  std::string origin; ///< "x.npy", "x.npz: y.npy"
  std::unique_ptr<std::string> bytes;
  array_values array;
};

/// Opens an IDX or .npy file, or reads the array `name` of a .npz archive; an empty name
/// stands for its only array. `key` is what names the array in an experiment, for messages.
[[nodiscard]] expected<array_file> open_array_file(const std::filesystem::path& file,
                                                   const std::string& name,
                                                   std::string_view key = "array");

/// The targets that an array holds, as a CSV would say them.
struct target_file {
  std::string origin; ///< "y.npy", "x.npz: y.npy"
  std::vector<std::int64_t> sizes;
  std::vector<std::string> texts; ///< "cat", "3", "0.5"
  bool whole = false;             ///< They are of a type for whole numbers.
};

/// Reads an array of targets: numbers, or texts of a fixed length.
[[nodiscard]] expected<target_file> read_target_file(const std::filesystem::path& file,
                                                     const std::string& name);

/// The names of the arrays of a .npz archive, in its order.
[[nodiscard]] expected<std::vector<std::string>>
read_array_names(const std::filesystem::path& file);

/// A number as a CSV would have it, as short as it can be told from others.
[[nodiscard]] std::string text_of(double v);

/// Finds the layout of the examples: `shape` says it; a CSV holds vectors, a file of
/// series sequences, a batch of CIFAR and an array of three dimensions or more images.
/// Looks into the file where it is an array.
[[nodiscard]] expected<layout> layout_of(const data_params& params);

} // namespace clade
