#pragma once

#include "engine/search/core/candidate.hpp"
#include "genome/codec.hpp"

#include <filesystem>
#include <span>

namespace clade {

/// In a run's folder.
inline constexpr const char* checkpoints_folder_name = "checkpoints";

/// The checkpoints of a run's candidates: one file each, RUN/checkpoints/ID, for those
/// that start from it. A cache: what is lost, trainings of its ancestors give again, the
/// same bits. Each is written whole (another name, fsync, rename) and carries a checksum.
/// Made with the first that is written. One process writes. Every call blocks on the
/// disk.
class checkpoints {
public:
  explicit checkpoints(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// When it returns, the disk has it.
  [[nodiscard]] expected<void> write(candidate_id id, const bytes& checkpoint) const;

  /// Empty if there is none that is whole.
  [[nodiscard]] bytes read(candidate_id id) const;

  /// Deletes those of candidates up to `last`, but not these. An error of the disk is one
  /// of deleting, and nothing is lost by it.
  [[nodiscard]] expected<void> keep(std::span<const candidate_id> ids,
                                    candidate_id last) const;

private:
  [[nodiscard]] std::filesystem::path file_of(candidate_id id) const;

  std::filesystem::path folder_;
};

} // namespace clade
