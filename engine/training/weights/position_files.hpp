#pragma once

#include "engine/training/weights/loop_position.hpp"
#include "genome/base/unique_fd.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <vector>

namespace clade {

/// A training's latest positions on the disk of the machine that it is on, from which it
/// goes on where every process that had it was lost. The last two are kept, each written
/// whole under another name, synced and then renamed, with a checksum.
class position_files {
public:
  /// `name` tells apart trainings that differ in anything. The folder is made if need be.
  position_files(std::filesystem::path folder, std::uint64_t name);
  /// Waits for what is being written.
  ~position_files();

  struct kept {
    loop_position position;
    std::uint64_t exchanges = 0; ///< That its team had done (team_session.hpp).
  };

  /// Writes in another thread, and waits only for what it was given before. A disk that
  /// takes nothing costs no training: that is said on standard error.
  void keep(const kept& k);

  /// The same of what writes itself: `write` gets an open file, in another thread, and
  /// returns 0 or the error number.
  void keep(std::function<int(int descriptor)> write);

  /// Returns whether this process is the one, of those of this machine that do the same
  /// training, that keeps its positions: the first that asks, as long as it lives.
  [[nodiscard]] bool is_keeper();

  /// The files that there are, the newest first.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;

  /// Says on standard error that one is damaged.
  static void pass_over(const std::filesystem::path& file, const error& why);

  /// The newest that is whole; one that is damaged is named on standard error.
  [[nodiscard]] std::optional<kept> newest() const;

  /// The training is over.
  void remove();

private:
  [[nodiscard]] std::filesystem::path file(const char* which) const;
  void write(const std::function<int(int)>& write_to) const;

  std::filesystem::path folder_;
  std::uint64_t name_;
  std::future<void> writing_;
  unique_fd lock_; ///< The lock of the keeper.
};

} // namespace clade
