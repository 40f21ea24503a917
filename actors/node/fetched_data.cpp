#include "actors/node/fetched_data.hpp"

#include "engine/data/columns/examples.hpp"
#include "engine/data/folders/folder_bundle.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

// A fetched file is cache/files/CHECKSUM/NAME, written as NAME.part under a lock and
// renamed when its checksum is right. Its name stays, because it may say what format it
// has. The bytes of a folder are unpacked as NAME.new, which is renamed in the same way.

namespace clade {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto pause_between_tries = 500ms;

/// A file or folder that the head names, and of a folder of listed images their names.
struct wanted_data : data_file {
  std::vector<fs::path> images{};

  explicit wanted_data(const data_file& named) : data_file(named) {}
};

expected<bool> is_there(const fs::path& path, const wanted_data& wanted) {
  std::error_code failed;
  const bool may_be = wanted.folder
                          ? is_folder(path)
                          : fs::file_size(path, failed) == wanted.size && !failed;
  if (!may_be)
    return false;
  if (wanted.listed)
    return to_text(checksum_of(path, wanted.images)) == wanted.checksum;
  return checksum_of_data(path).map(
      [&](const genome_hash& sum) { return to_text(sum) == wanted.checksum; });
}

/// Held by the process that fetches; ends with it.
class file_lock {
public:
  explicit file_lock(const fs::path& path)
      : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    while (file_ >= 0 && ::flock(file_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~file_lock() {
    if (file_ >= 0)
      ::close(file_);
  }
  file_lock(const file_lock&) = delete;
  file_lock& operator=(const file_lock&) = delete;

private:
  int file_;
};

/// A piece, or nothing where there is no connection at present.
std::optional<chunk> ask(caf::scoped_actor& self, const node_actor& node,
                         const fetch_chunk& request) {
  std::optional<chunk> answer;
  self->request(node, caf::infinite, request)
      .receive([&](chunk& c) { answer = std::move(c); }, [](caf::error&) {});
  if (!answer) // A connection that was lost comes back.
    std::this_thread::sleep_for(pause_between_tries);
  return answer;
}

expected<void> fetch(caf::scoped_actor& self, const node_actor& node,
                     const wanted_data& wanted, const fs::path& part) {
  std::ofstream out(part, std::ios::binary | std::ios::app);
  std::error_code failed;
  for (auto offset = fs::file_size(part, failed); offset < wanted.size;) {
    auto piece = ask(self, node, {.path = wanted.path, .offset = offset});
    if (!piece)
      continue;
    if (!piece->failure.empty() || piece->data.empty())
      return fail(
          error_kind::io,
          fmt::format("{}: the head could not send it: {}", wanted.path,
                      piece->failure.empty() ? "it became shorter" : piece->failure));
    if (!out.write(piece->data.data(), static_cast<std::streamsize>(piece->data.size())))
      return fail(error_kind::io,
                  fmt::format("{}: {}", part.string(), std::strerror(errno)));
    offset += piece->data.size();
  }
  if (!out.flush())
    return fail(error_kind::io,
                fmt::format("{}: {}", part.string(), std::strerror(errno)));
  return {};
}

bool is_hexadecimal(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

expected<fs::path> fetched(caf::scoped_actor& self, const node_actor& node,
                           const wanted_data& wanted) {
  const auto cache = users_cache().folder;
  const auto name = fs::path(wanted.path).filename().string();
  if (cache.empty())
    return fail(error_kind::invalid_input,
                "there is no folder for the run's data: set CLADE_CACHE to one");
  if (!is_hexadecimal(wanted.checksum) || name.empty() || name == "." || name == "..")
    return fail(error_kind::corrupt, "the head named its data in a way that is none");
  const auto folder = cache / "files" / wanted.checksum;
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    return fail(error_kind::io, fmt::format("{}: {}", folder.string(), failed.message()));
  const file_lock lock(folder / "lock");
  const auto file = folder / name;
  if (const auto there = is_there(file, wanted); there && *there)
    return file;
  const auto part = folder / (name + ".part");
  if (fs::file_size(part, failed) > wanted.size && !failed)
    fs::remove(part, failed);
  if (auto done = fetch(self, node, wanted, part); !done)
    return tl::unexpected(std::move(done).error());
  auto came = part;
  if (wanted.folder) {
    came = folder / (name + ".new");
    fs::remove_all(came, failed);
    const auto unpacked = unpack_bundle(part, came);
    fs::remove(part, failed);
    if (!unpacked)
      return fail_in(wanted.path, unpacked.error());
  }
  const auto whole = is_there(came, wanted);
  if (!whole || !*whole) {
    fs::remove_all(came, failed);
    return fail(
        error_kind::conflict,
        wanted.path
            + ": what the head sent has another checksum than it had when the run "
              "started; put the former file back there");
  }
  fs::rename(came, file, failed);
  if (failed)
    return fail(error_kind::io, fmt::format("{}: {}", file.string(), failed.message()));
  return file;
}

/// Returns where it is on this machine, and fetches it where it is nowhere.
expected<fs::path> had(caf::scoped_actor& self, const node_actor& node,
                       const wanted_data& wanted) {
  if (const auto there = is_there(wanted.path, wanted); there && *there)
    return wanted.path;
  return fetched(self, node, wanted);
}

} // namespace

expected<void> have_data(caf::actor_system& system, const node_actor& node,
                         const std::vector<data_file>& files, data_params& data) {
  caf::scoped_actor self(system);
  for (auto* path :
       {&data.file, &data.target_file, &data.test_file, &data.test_target_file}) {
    const auto named = std::ranges::find(files, path->string(), &data_file::path);
    if (path->empty() || named == files.end())
      continue;
    auto at = had(self, node, wanted_data(*named));
    if (!at)
      return tl::unexpected(std::move(at).error());
    *path = std::move(*at);
  }
  const auto images = std::ranges::find_if(files, &data_file::listed);
  if (images == files.end())
    return {};
  // The tables are here now, and say which images there are; wherever they are looked for.
  data.image_folder = images->path;
  wanted_data wanted(*images);
  const auto listed = images_of_tables(data);
  if (!listed || !*listed)
    return listed ? expected<void>() : tl::unexpected(listed.error());
  wanted.images = (*listed)->files;
  return had(self, node, wanted).map([&](fs::path&& at) {
    data.image_folder = std::move(at);
  });
}

} // namespace clade
