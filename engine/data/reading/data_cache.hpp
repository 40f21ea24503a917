#pragma once

#include "genome/base/unique_fd.hpp"
#include "genome/genes/genome.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace clade {

struct data_set;
struct data_params;

/// Data sets that were read before, in files that every process of this user maps, so
/// that a machine reads a data set once and holds it once, however many slots it has.
///
/// It saves time and memory and decides nothing: where the folder cannot be made, read or
/// written, or the disk is full, the data's own files are read instead, and nobody is
/// told. A file in it that is damaged, cut off, somebody else's or of another version is
/// written anew. (Whether a large one is damaged is looked at once, and again when its entry
/// in the file system changes.) Whole files appear at once, so processes that start together, or are
/// killed while they write, leave nothing half done.
struct data_cache {
  std::filesystem::path folder; ///< Made with mode 0700, its files 0600; empty: no cache.
  /// Data files smaller than that together are read sooner than found here.
  std::uint64_t least_bytes = 128 << 10;
  /// Past that, what was used longest ago is removed when something is added. A data set
  /// that is larger by itself is kept where the disk has room for a quarter more, or where
  /// it lies in a file of the user's cache already (large_vector.hpp).
  std::uint64_t most_bytes = std::uint64_t{8} << 30;
};

/// In `users_cache_folder`.
[[nodiscard]] data_cache users_cache();

/// The key by which a data set is found: all that decides what `load_data` makes of the
/// files.
struct cache_key {
  genome_hash name;
  genome_hash checksum; ///< The value that `data_set::checksum` is to have.
};

/// None where there is no cache, the files are too small for it, or cannot be read.
[[nodiscard]] std::optional<cache_key>
key_of(const data_cache& cache, const data_params& params, std::uint64_t seed);

[[nodiscard]] std::optional<data_set> find_cached(const data_cache& cache,
                                                  const cache_key& key);

/// Writes it and returns the same, its features mapped; or as it is, where that fails.
[[nodiscard]] data_set keep_cached(const data_cache& cache, const cache_key& key,
                                   data_set data);

/// Held while one process reads the files that others wait to find in the cache. The
/// system takes it from a process that dies. If there can be no lock there is none, and
/// the files are read more than once.
class cache_lock {
public:
  cache_lock(const data_cache& cache, const cache_key& key);

private:
  unique_fd file_;
};

} // namespace clade
