#pragma once

#include "genome/base/error.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace clade {

// Over the network the publisher of a run and its viewers know each other by CURVE keys
// (ZeroMQ's RFC 26), 40 letters in Z85. In the folder of an authority
// (actors/transport/tls/keys.hpp), each file a line:
//
//   authority/publisher.key    PUBLIC SECRET              of its runs' publishers
//   authority/viewers/NAME     PUBLIC watch|control       remove it to refuse the viewer
//   NAME/viewer.key            PUBLIC SECRET PUBLISHER    a bundle: copy the folder

struct curve_keys {
  std::string public_key, secret_key;
};

/// The content of a viewer's bundle.
struct viewer_bundle {
  curve_keys own;
  std::string publisher; ///< The public key of who it believes.
};

/// The facts that a publisher knows of a viewer.
struct known_viewer {
  std::string name;
  bool controls = false; ///< Else it only watches.
};

struct new_viewer {
  std::string name;
  bool controls = false;
};

/// Makes `authority`/NAME, the viewer's bundle, which it returns. `conflict` if there is
/// one; `not_found` if there is no authority.
[[nodiscard]] expected<std::filesystem::path>
make_viewer(const std::filesystem::path& authority, const new_viewer& viewer);

/// An error says that it is missing, is not ours, may be read by others, or is no key.
[[nodiscard]] expected<viewer_bundle>
read_viewer_bundle(const std::filesystem::path& bundle);

/// Makes the keys if there are none yet; `not_found` if there is no authority.
[[nodiscard]] expected<curve_keys> publisher_keys(const std::filesystem::path& authority);

/// Looks at the files each time: whoever was added is known at once, and whoever was
/// removed is not. A file that holds anything else, or that another user may change, counts
/// as none.
[[nodiscard]] std::optional<known_viewer>
find_viewer(const std::filesystem::path& authority, const std::string& public_key);

} // namespace clade
