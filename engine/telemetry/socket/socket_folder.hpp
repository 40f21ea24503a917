#pragma once

#include "genome/base/error.hpp"
#include "genome/base/unique_fd.hpp"

#include <filesystem>
#include <string>
#include <utility>

namespace clade {

/// The folder with a run's socket files, reached through its descriptor: a socket's
/// address has 108 bytes, and a run's folder may be deeper.
class socket_folder {
public:
  /// Makes it, or narrows its mode to 0700, where `make`; `not_found` where not and it is
  /// not there.
  [[nodiscard]] static expected<socket_folder> open(const std::filesystem::path& folder,
                                                    bool make);

  /// "ipc:///proc/self/fd/7/events", for this process while this object lives.
  [[nodiscard]] std::string address(const std::string& socket) const;

private:
  explicit socket_folder(unique_fd descriptor) : descriptor_(std::move(descriptor)) {}

  unique_fd descriptor_;
};

} // namespace clade
