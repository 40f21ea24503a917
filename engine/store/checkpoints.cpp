#include "engine/store/checkpoints.hpp"

#include "genome/hash.hpp"
#include "genome/unique_fd.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>

// A file is msgpack: [ id, checkpoint: binary, XXH3(checkpoint): natural ].

namespace clade {

namespace {

tl::unexpected<error> cannot(const std::filesystem::path& file, const char* what,
                             const std::error_code& why) {
  return fail(error_kind::io,
              file.string() + ": cannot be " + what + ": " + why.message());
}

std::error_code error_of(int number) {
  return {number, std::system_category()};
}

expected<void> write_file(const std::filesystem::path& file, const bytes& data) {
  unique_fd out(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  int cause = out ? write_all(out.get(), data) : errno;
  if (cause == 0 && ::fsync(out.get()) != 0)
    cause = errno;
  if (const int failed = out.close(); cause == 0)
    cause = failed;
  return cause == 0 ? expected<void>{} : cannot(file, "written", error_of(cause));
}

expected<void> sync_folder(const std::filesystem::path& folder) {
  const unique_fd in(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return in && ::fsync(in.get()) == 0 ? expected<void>{}
                                      : cannot(folder, "written", error_of(errno));
}

} // namespace

std::filesystem::path checkpoints::file_of(candidate_id id) const {
  return folder_ / std::to_string(id);
}

expected<void> checkpoints::write(candidate_id id, const bytes& checkpoint) const {
  std::error_code failed;
  std::filesystem::create_directory(folder_, failed);
  if (failed)
    return cannot(folder_, "made", failed);
  encoder out;
  out.array(3).natural(id).binary(checkpoint).natural(hash64(checkpoint));
  const auto file = file_of(id);
  const auto fresh = folder_ / (std::to_string(id) + ".new");
  if (auto written = write_file(fresh, out.take()); !written)
    return written;
  std::filesystem::rename(fresh, file, failed);
  if (failed)
    return cannot(fresh, "renamed", failed);
  return sync_folder(folder_);
}

bytes checkpoints::read(candidate_id id) const {
  std::ifstream in(file_of(id), std::ios::binary);
  const bytes data{std::istreambuf_iterator<char>(in), {}};
  decoder d(data);
  d.array(3);
  const bool its_own = d.natural() == id;
  auto checkpoint = d.binary();
  const bool whole = d.natural() == hash64(checkpoint);
  return d.finish() && its_own && whole ? checkpoint : bytes{};
}

expected<void> checkpoints::keep(std::span<const candidate_id> ids,
                                 candidate_id last) const {
  std::error_code failed;
  if (!std::filesystem::exists(folder_, failed))
    return {};
  std::vector<std::filesystem::path> dropped;
  for (std::filesystem::directory_iterator i(folder_, failed), end; !failed && i != end;
       i.increment(failed)) {
    const auto name = i->path().filename().string();
    candidate_id id = 0;
    const auto [rest, fault] =
        std::from_chars(name.data(), name.data() + name.size(), id);
    if (fault == std::errc{} && id <= last && std::ranges::find(ids, id) == ids.end())
      dropped.push_back(i->path());
  }
  for (const auto& file : dropped)
    if (!failed)
      std::filesystem::remove(file, failed);
  if (failed)
    return cannot(folder_, "tidied", failed);
  return {};
}

} // namespace clade
