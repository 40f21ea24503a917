#pragma once

#include "engine/training/loop_position.hpp"

#include <cstdint>
#include <filesystem>
#include <future>
#include <optional>

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

  /// The newest that is whole; one that is damaged is named on standard error.
  [[nodiscard]] std::optional<kept> newest() const;

  /// The training is over.
  void remove();

private:
  [[nodiscard]] std::filesystem::path file(const char* which) const;
  void write(const bytes& content) const;

  std::filesystem::path folder_;
  std::uint64_t name_;
  std::future<void> writing_;
};

} // namespace clade
