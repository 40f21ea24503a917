#include "engine/store/checkpoints.hpp"

#include "genome/hash.hpp"

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

std::error_code last_error() {
  return {errno, std::system_category()};
}

bool write_all(int descriptor, const bytes& data) {
  for (std::size_t done = 0; done < data.size();) {
    const auto n = ::write(descriptor, data.data() + done, data.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

expected<void> write_file(const std::filesystem::path& file, const bytes& data) {
  const int descriptor =
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0)
    return cannot(file, "written", last_error());
  const bool written = write_all(descriptor, data) && ::fsync(descriptor) == 0;
  const auto why = last_error();
  if (::close(descriptor) != 0 || !written)
    return cannot(file, "written", written ? last_error() : why);
  return {};
}

expected<void> sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  const auto why = last_error();
  if (descriptor >= 0)
    ::close(descriptor);
  return synced ? expected<void>{} : cannot(folder, "written", why);
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
