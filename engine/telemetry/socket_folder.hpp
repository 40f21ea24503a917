#pragma once

#include "genome/error.hpp"

#include <filesystem>
#include <string>

namespace clade {

/// The folder with a run's socket files, reached through its descriptor: a socket's
/// address has 108 bytes, and a run's folder may be deeper.
class socket_folder {
public:
  /// Makes it, or narrows its mode to 0700, where `make`; `not_found` where not and it is
  /// not there.
  [[nodiscard]] static expected<socket_folder> open(const std::filesystem::path& folder,
                                                    bool make);
  socket_folder(socket_folder&& other) noexcept;
  socket_folder& operator=(socket_folder&& other) noexcept;
  ~socket_folder();

  /// "ipc:///proc/self/fd/7/events", for this process while this object lives.
  [[nodiscard]] std::string address(const std::string& socket) const;

private:
  explicit socket_folder(int descriptor) : descriptor_(descriptor) {}

  int descriptor_ = -1;
};

} // namespace clade
