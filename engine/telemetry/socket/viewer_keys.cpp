#include "engine/telemetry/socket/viewer_keys.hpp"

#include "genome/base/trusted_file.hpp"
#include "genome/base/unique_fd.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

namespace clade {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t key_letters = 40;

expected<curve_keys> make_pair() {
  std::array<char, key_letters + 1> open{}, secret{};
  if (zmq_curve_keypair(open.data(), secret.data()) != 0)
    return fail(error_kind::internal,
                std::string("cannot make keys: ") + zmq_strerror(zmq_errno()));
  return curve_keys{.public_key = open.data(), .secret_key = secret.data()};
}

bool is_key(const std::string& text) {
  std::array<std::uint8_t, 32> bytes{};
  return text.size() == key_letters
         && zmq_z85_decode(bytes.data(), text.c_str()) != nullptr;
}

/// The words of its first line; nothing where it has none.
std::vector<std::string> words_of(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  std::istringstream parts(line);
  std::vector<std::string> words;
  for (std::string word; parts >> word && words.size() < 4;)
    words.push_back(word);
  return words;
}

/// A new file of mode 0600; `conflict` if there is one.
expected<void> write_line(const fs::path& file, const std::string& line) {
  unique_fd out(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  int cause = out ? write_all(out.get(), line + "\n") : errno;
  if (const int failed = out.close(); cause == 0)
    cause = failed;
  if (cause != 0)
    return fail(cause == EEXIST ? error_kind::conflict : error_kind::io,
                fmt::format("cannot write {}: {}", file.string(), std::strerror(cause)));
  return {};
}

expected<void> make_private_folder(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(error_kind::io,
                fmt::format("cannot make {}: {}", folder.string(), std::strerror(errno)));
  return {};
}

/// The words of a file of ours that nobody else may read, of which so many are keys and no
/// more there.
expected<std::vector<std::string>> secret_words(const fs::path& file, std::size_t keys,
                                                const std::string& advice) {
  if (::access(file.c_str(), R_OK) != 0)
    return fail(error_kind::not_found,
                fmt::format("{} is missing or not readable: {}", file.string(), advice));
  if (auto trusted = check_trusted(file, {.secret = true}); !trusted)
    return tl::unexpected(trusted.error());
  auto words = words_of(file);
  if (words.size() != keys || !std::ranges::all_of(words, is_key))
    return fail(error_kind::corrupt,
                fmt::format("{} holds no keys of a viewer; clade keys viewer makes them",
                            file.string()));
  return words;
}

expected<void> check_authority(const fs::path& authority) {
  if (::access((authority / "authority" / "key.pem").c_str(), R_OK) == 0)
    return {};
  return fail(error_kind::not_found, authority.string()
                                         + " has no authority; clade keys new makes an "
                                           "authority");
}

} // namespace

expected<curve_keys> publisher_keys(const fs::path& authority) {
  if (auto is_one = check_authority(authority); !is_one)
    return tl::unexpected(is_one.error());
  const auto file = authority / "authority" / "publisher.key";
  if (!fs::exists(file)) {
    const auto made = make_pair();
    if (!made)
      return made;
    // Another process may have been faster; then its keys are the ones.
    if (auto written =
            write_line(file, fmt::format("{} {}", made->public_key, made->secret_key));
        !written && written.error().kind != error_kind::conflict)
      return tl::unexpected(written.error());
  }
  return secret_words(file, 2, "clade keys viewer makes it").map([](const auto& words) {
    return curve_keys{.public_key = words[0], .secret_key = words[1]};
  });
}

expected<fs::path> make_viewer(const fs::path& authority, const new_viewer& viewer) {
  const auto publisher = publisher_keys(authority);
  const auto own = make_pair();
  if (!publisher || !own)
    return tl::unexpected(publisher ? own.error() : publisher.error());
  const auto bundle = authority / viewer.name;
  const auto known = authority / "authority" / "viewers";
  if (fs::exists(bundle) || fs::exists(known / viewer.name))
    return fail(error_kind::conflict,
                (fs::exists(bundle) ? bundle : known / viewer.name).string()
                    + " is there already; remove it, or choose another name");
  return make_private_folder(bundle)
      .and_then([&] {
        return write_line(bundle / "viewer.key",
                          fmt::format("{} {} {}", own->public_key, own->secret_key,
                                      publisher->public_key));
      })
      .and_then([&] { return make_private_folder(known); })
      .and_then([&] {
        return write_line(known / viewer.name,
                          own->public_key + (viewer.controls ? " control" : " watch"));
      })
      .map([&] { return bundle; });
}

expected<viewer_bundle> read_viewer_bundle(const fs::path& bundle) {
  return secret_words(bundle / "viewer.key", 3,
                      "--keys names a bundle of clade keys viewer")
      .map([](const auto& words) {
        return viewer_bundle{.own = {.public_key = words[0], .secret_key = words[1]},
                             .publisher = words[2]};
      });
}

std::optional<known_viewer> find_viewer(const fs::path& authority,
                                        const std::string& public_key) {
  std::error_code unreadable;
  for (const auto& file :
       fs::directory_iterator(authority / "authority" / "viewers", unreadable)) {
    const auto words = words_of(file.path());
    if (words.size() == 2 && words[0] == public_key
        && (words[1] == "watch" || words[1] == "control") && check_trusted(file.path()))
      return known_viewer{.name = file.path().filename().string(),
                          .controls = words[1] == "control"};
  }
  return std::nullopt;
}

} // namespace clade
