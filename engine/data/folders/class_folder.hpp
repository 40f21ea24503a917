#pragma once

#include "genome/base/error.hpp"
#include "genome/genes/genome.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace clade {

/// The kind of files that are the examples of a folder.
enum class folder_kind : std::uint8_t { images, texts };

/// Files with these endings are taken for images, in letters of any case.
[[nodiscard]] bool has_image_ending(std::string_view name);

/// Files with these endings are taken for texts (.txt, .text, .md), in letters of any case;
/// so are names without a dot, which mails and news have.
[[nodiscard]] bool has_text_ending(std::string_view name);

/// Whether a path of data is a folder.
[[nodiscard]] bool is_folder(const std::filesystem::path& path);

/// Returns what the files below a folder are: texts if these are more than twice as many as
/// images, else images. A folder that holds neither is one of images.
[[nodiscard]] folder_kind kind_of_folder(const std::filesystem::path& folder);

/// Whether a path is a folder of texts.
[[nodiscard]] bool is_text_folder(const std::filesystem::path& path);

/// The files of one kind below a folder, in order of their paths. The class of a file is the
/// first folder on its way: "cats" of "cats/persian/1.jpg".
struct class_folder {
  struct file {
    std::filesystem::path path; ///< Relative to the folder.
    std::size_t label = 0;      ///< Among `classes`.
  };

  std::filesystem::path folder;
  folder_kind kind = folder_kind::images;
  std::vector<file> files;
  std::vector<std::string> classes; ///< Each has a file.
  /// Files that lie in the folder itself, and so have no class.
  std::vector<std::filesystem::path> unlabelled;
  /// How many files of the other kind lie in the folders of classes, and one of them.
  std::size_t others = 0;
  std::filesystem::path other{};

  /// The paths of `files`.
  [[nodiscard]] std::vector<std::filesystem::path> paths() const;
};

/// Finds them, by the endings of their names. Hidden files and folders are left out, and
/// folders are not entered through links but for those of classes. An error where there
/// is no such folder, it cannot be read, or is deeper or fuller than one can mean.
[[nodiscard]] expected<class_folder> find_classes(const std::filesystem::path& folder,
                                                  folder_kind kind);

/// Refuses a folder without any file that has a class, and says what is there.
[[nodiscard]] expected<void> check_classes_of(const class_folder& found);

/// The parts of a data set that a folder holds, where its folders are named after parts
/// and hold those of the classes.
struct folder_parts {
  std::filesystem::path train, test; ///< No `test`: it has none.
  std::filesystem::path unused;      ///< A third part ("val" beside "test"), if any.
};

/// Returns "x/train" and "x/test" (or "x/val", "x/valid", "x/validation") of a folder x
/// that has these; x alone where its folders are those of classes. A folder that holds
/// nothing but one other is that one. Texts that lie beside these folders, such as a README,
/// change nothing.
[[nodiscard]] folder_parts parts_of_folder(const std::filesystem::path& folder,
                                           folder_kind kind = folder_kind::images);

/// Returns those paths below the folder.
[[nodiscard]] std::vector<std::filesystem::path>
below(const std::filesystem::path& folder,
      const std::vector<std::filesystem::path>& files);

/// Returns an error's message without the file's name, if that stands before it.
[[nodiscard]] std::string reason_without(const std::filesystem::path& file,
                                         const error& why);

/// Makes one checksum of all paths and the checksums of what is there.
class checksum_of_all {
public:
  void add(const std::filesystem::path& path, const genome_hash& of_bytes);
  [[nodiscard]] genome_hash value() const;

private:
  std::string text_;
};

/// Returns that checksum of files below a folder.
[[nodiscard]] genome_hash checksum_of(const std::filesystem::path& folder,
                                      const std::vector<std::filesystem::path>& files);

/// Returns the checksum of what examples are read from: that of a file's bytes, or of all
/// paths and bytes of the examples of a folder.
[[nodiscard]] expected<genome_hash> checksum_of_data(const std::filesystem::path& path);

} // namespace clade
