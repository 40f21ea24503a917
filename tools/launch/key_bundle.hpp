#pragma once

#include "genome/base/error.hpp"

#include <filesystem>
#include <string>

namespace clade {

/// The bundle that lets a process into a run, as the texts of its three PEM files: the
/// authority that both sides trust, its own certificate and its private key.
struct key_bundle {
  std::string authority;
  std::string certificate;
  std::string key;
};

/// Reads ca.pem, cert.pem and key.pem of a folder; an error names the first that is
/// missing or is no PEM. The texts that it returns have lines of letters, digits and
/// "+/= -" only, so that they can be put into another text.
[[nodiscard]] expected<key_bundle> read_key_bundle(const std::filesystem::path& folder);

} // namespace clade
