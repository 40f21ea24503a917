#pragma once

#include "engine/data/arrays/array_values.hpp"
#include "engine/data/reading/data_set.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace clade {

/// An array of a file, and the bytes that it is a view of: none where it is read from its
/// file part by part, all of an archive where it is unzipped part by part.
struct array_file {
  std::string origin; ///< "x.npy", "x.npz: y.npy"
  std::unique_ptr<std::string> bytes;
  array_values array;
};

/// Opens an IDX or .npy file, or the array `name` of a .npz archive; an empty name
/// stands for its only array. `key` is what names the array in an experiment, for messages.
[[nodiscard]] expected<array_file> open_array_file(const std::filesystem::path& file,
                                                   const std::string& name,
                                                   std::string_view key = "array");

/// Opens the array `name` of an archive, the content of `file`, which outlives what is
/// returned; `checksum` is that of the file.
[[nodiscard]] expected<array_file> array_in_archive(const std::filesystem::path& file,
                                                    std::string_view archive,
                                                    const std::string& name,
                                                    std::string_view key,
                                                    const genome_hash& checksum);

/// The targets that an array holds, as a CSV would say them.
struct target_file {
  std::string origin; ///< "y.npy", "x.npz: y.npy"
  std::vector<std::int64_t> sizes;
  std::vector<std::string> texts; ///< "cat", "3", "0.5"
  bool whole = false;             ///< They are of a type for whole numbers.
};

/// The examples that targets are for.
struct example_count {
  std::string origin; ///< "x.npy", "x.npz: x.npy"
  std::size_t examples = 0;
};

/// Refuses targets of these sizes that are not one, or several, for each of the examples.
[[nodiscard]] expected<void> check_target_sizes(const std::string& origin,
                                                const std::vector<std::int64_t>& sizes,
                                                const example_count& of);

/// Unzips the targets `name` of an archive, the content of `file`, once their header alone
/// shows that they are those of the examples.
[[nodiscard]] expected<npz_member> targets_in_archive(const std::filesystem::path& file,
                                                      std::string_view archive,
                                                      const std::string& name,
                                                      std::string_view key,
                                                      const example_count& of);

/// Reads an array of targets: numbers, or texts of a fixed length.
[[nodiscard]] expected<target_file> read_target_file(const std::filesystem::path& file,
                                                     const std::string& name,
                                                     const example_count& of);

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
