#include "actors/node/fetched_data.hpp"

#include "engine/data/folders/class_folder.hpp"

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
// has.

namespace clade {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto pause_between_tries = 500ms;

expected<bool> is_there(const fs::path& path, const data_file& wanted) {
  std::error_code failed;
  const bool may_be = wanted.is_folder()
                          ? is_folder(path)
                          : fs::file_size(path, failed) == wanted.size && !failed;
  if (!may_be)
    return false;
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
                     const data_file& wanted, const fs::path& part) {
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
                           const data_file& wanted) {
  const auto cache = users_cache().folder;
  if (wanted.is_folder())
    return fail_in(wanted.path,
                   {error_kind::invalid_input,
                    "this machine has no such folder with the run's examples; copy it to "
                    "the same place here, or put it on a disk that both machines see"});
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
  const auto whole = is_there(part, wanted);
  if (!whole || !*whole) {
    fs::remove(part, failed);
    return fail(
        error_kind::conflict,
        wanted.path
            + ": what the head sent has another checksum than it had when the run "
              "started; put the former file back there");
  }
  fs::rename(part, file, failed);
  if (failed)
    return fail(error_kind::io, fmt::format("{}: {}", file.string(), failed.message()));
  return file;
}

} // namespace

expected<void> have_data(caf::actor_system& system, const node_actor& node,
                         const std::vector<data_file>& files, data_params& data) {
  caf::scoped_actor self(system);
  for (auto* path :
       {&data.file, &data.target_file, &data.test_file, &data.test_target_file}) {
    const auto wanted = std::ranges::find(files, path->string(), &data_file::path);
    if (path->empty() || wanted == files.end())
      continue;
    if (const auto there = is_there(*path, *wanted); there && *there)
      continue;
    auto at = fetched(self, node, *wanted);
    if (!at)
      return tl::unexpected(std::move(at).error());
    *path = std::move(*at);
  }
  return {};
}

} // namespace clade
