#pragma once

#include "engine/data/columns/examples.hpp"
#include "engine/data/folders/class_folder.hpp"
#include "engine/data/images/picture.hpp"
#include "engine/data/memory/large_vector.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace clade {

/// The facts that a look at an image shows.
struct seen_image {
  image_header header;
  genome_hash checksum; ///< The checksum of the file's bytes.
  std::string
      problem; ///< Why it cannot be decoded, as far as its header tells; or empty.
};

/// Looks at files, several at a time. In the order of `files`.
[[nodiscard]] std::vector<seen_image>
look_at_images(const std::vector<std::filesystem::path>& files);

/// The shape that images are scaled to where nobody says one: their own, if all have the
/// same and it is no larger than 64 pixels; else a square (or, where most are much longer
/// one way, as much longer) with the largest side of 32, 48, 64, 96, 128, 160, 192 and 224
/// for which all of them together have at most 25 million pixels, but no larger than half
/// of the images are. One channel if all are grey, else three.
[[nodiscard]] tensor_shape shape_for(const std::vector<seen_image>& seen);

/// Reads the images of a folder as examples of `params.shape`, or of `shape_for` them,
/// with their classes. Several are decoded at a time. Images that cannot be decoded are
/// left out, up to the share `params.unreadable`; more are an error that names one.
[[nodiscard]] expected<examples> read_image_folder(const std::filesystem::path& folder,
                                                   const data_params& params);

/// Images as examples, without their targets.
struct decoded_examples {
  examples all;
  std::vector<std::size_t> decoded; ///< The files that could be decoded, by place.
};

/// Reads files below a folder in the same way; `files` are relative to it.
[[nodiscard]] expected<decoded_examples>
read_images(const std::filesystem::path& folder,
            const std::vector<std::filesystem::path>& files, const data_params& params);

/// Images to be predicted: the file, or all images below the folder.
struct decoded_images {
  std::vector<std::string> names; ///< Their paths below the folder, or the file's name.
  /// By image the first folder on the way of each, or what a table says of it, so many texts
  /// for each; or empty.
  std::vector<std::string> classes;
  large_vector<std::uint8_t> pixels; ///< [names, channels, height, width]
  std::vector<std::string> notes; ///< Says how many were left out, if any, and why one.
};

/// Decodes them to that shape and leaves out what cannot be decoded; if that is all of
/// them, it is an error.
[[nodiscard]] expected<decoded_images> decode_images(const std::filesystem::path& path,
                                                     const tensor_shape& shape);

/// Does the same of files below a folder, to which they are relative. `classes` has the
/// class, or else the target, of each.
[[nodiscard]] expected<decoded_images>
decode_images(const std::filesystem::path& folder,
              const std::vector<std::filesystem::path>& files,
              std::vector<std::string> classes, const tensor_shape& shape);

} // namespace clade
