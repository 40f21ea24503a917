#pragma once

#include "genome/error.hpp"

#include <filesystem>
#include <string>

namespace clade {

/// Where a process finds what TLS needs: the authority that both sides trust and its own
/// certificate and key, all PEM.
struct key_files {
  std::filesystem::path authority;
  std::filesystem::path certificate;
  std::filesystem::path key;
};

/// Makes an authority of its own for one run and, signed by it, keys for the head and its
/// workers: `directory`/ca.pem and `directory`/{head,worker}/{cert,key}.pem (EC P-256,
/// valid for 30 days). The directory becomes mode 0700 and each file 0600, so that no
/// other user of the machine can join the run or read what it sends. The authority's own
/// key is not kept: nobody can be let in later. Replaces what an earlier start of the run
/// left there.
[[nodiscard]] expected<void> make_run_keys(const std::filesystem::path& directory);

/// The files for one role ("head" or "worker"); an error names the first that is missing.
[[nodiscard]] expected<key_files> find_keys(const std::filesystem::path& directory,
                                            const std::string& role);

} // namespace clade
