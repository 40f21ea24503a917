#pragma once

#include "engine/search/core/candidate.hpp"
#include "genome/codec/blob.hpp"
#include "genome/genes/hash.hpp"

#include <filesystem>
#include <set>
#include <span>

namespace clade {

/// In a run's folder.
inline constexpr const char* checkpoints_folder_name = "checkpoints";

/// msgpack holds no more bytes than this in one value.
inline constexpr std::uint64_t most_blob_bytes = (std::uint64_t{1} << 32) - 1;

/// Writes the file of one blob whose content comes piece by piece. The file is temporary
/// until `blob_folder::write` gives it a place: if nobody does, it is deleted.
class blob_writer {
public:
  /// Makes the file for the blob of candidate `id`, which will have `size` bytes.
  [[nodiscard]] static expected<blob_writer> create(const std::filesystem::path& file,
                                                    candidate_id id, std::uint64_t size);

  [[nodiscard]] std::uint64_t written() const { return written_; }
  [[nodiscard]] expected<void> append(std::span<const char> piece);
  /// Call it when all is written. When it returns, the disk has the file.
  [[nodiscard]] expected<blob> finish();

private:
  [[nodiscard]] expected<void> put(std::span<const char> data);

  std::shared_ptr<blob_file> file_;
  std::uint64_t header_ = 0; ///< Bytes of the file before the content.
  std::uint64_t size_ = 0;
  std::uint64_t written_ = 0;
  running_hash hash_;
};

/// A folder with a file for each candidate's blob: RUN/checkpoints/ID, for trainings that
/// start from the candidate, and RUN/weights/ID, for weights that are too large for the
/// store. A checkpoint is a cache: what is lost, trainings of its ancestors give again,
/// the same bits. Each file is written whole (another name, fsync, rename) and carries a
/// checksum. The folder is made with the first file. One process writes. Every call blocks
/// on the disk.
class blob_folder {
public:
  explicit blob_folder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// When it returns, the disk has it. A blob in a temporary file that `blob_writer` wrote
  /// for this candidate is moved; of any other the content is written.
  [[nodiscard]] expected<void> write(candidate_id id, const blob& content) const;

  /// Empty if there is none that is whole; in memory if it is small, else in its file.
  [[nodiscard]] blob read(candidate_id id) const;

  /// Candidates that have a file, whole or not.
  [[nodiscard]] std::set<candidate_id> ids() const;

  /// Deletes those of candidates up to `last`, but not these. An error of the disk is one
  /// of deleting, and nothing is lost by it.
  [[nodiscard]] expected<void> keep(std::span<const candidate_id> ids,
                                    candidate_id last) const;

private:
  [[nodiscard]] std::filesystem::path file_of(candidate_id id) const;

  std::filesystem::path folder_;
};

} // namespace clade
