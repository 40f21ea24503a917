#pragma once

#include "genome/genes/genome.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace clade {

/// The folder of the user's cache: $CLADE_CACHE, else $XDG_CACHE_HOME/clade, else
/// ~/.cache/clade; empty without a home.
[[nodiscard]] std::filesystem::path users_cache_folder();

/// Makes it, with mode 0700, where it is not there. False if there is none then.
[[nodiscard]] bool make_cache_folder(const std::filesystem::path& folder);

/// Files smaller than that are read again rather than remembered.
constexpr std::uint64_t least_remembered_bytes = std::uint64_t{256} << 20;

/// All that tells whether a file is still what it was without reading it: device, number,
/// size, and when its bytes and its entry changed last.
struct file_state {
  std::string text;
  std::uint64_t bytes = 0;
  /// When it changed last, in seconds of the system's clock.
  std::int64_t changed = 0;

  friend bool operator==(const file_state& a, const file_state& b) {
    return a.text == b.text;
  }
};

[[nodiscard]] std::optional<file_state> state_of_file(const std::filesystem::path& file);

/// Checksums of large files, in the folder of a cache, so that processes that start one
/// after the other do not each read the whole file for its checksum. Whatever goes wrong
/// there, a file is read.
class known_checksums {
public:
  explicit known_checksums(std::filesystem::path folder = users_cache_folder())
      : folder_(std::move(folder)) {}

  [[nodiscard]] std::optional<genome_hash> find(const file_state& of) const;

  /// Keeps what a file was found to have that was `of` before it was read, and is still.
  /// `written_by_us`: nobody else writes to it. Else one that changed within the last
  /// seconds is not kept, since it may change again within the same tick of the clock.
  void keep(const file_state& of, const genome_hash& checksum,
            bool written_by_us = false) const;

private:
  [[nodiscard]] std::filesystem::path place_of(const file_state& of) const;

  std::filesystem::path folder_;
};

} // namespace clade
