#include "engine/data/memory/cache_folder.hpp"

#include "genome/base/unique_fd.hpp"
#include "genome/genes/hash.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>

namespace clade {
namespace {

/// Within so many seconds a file may have changed twice with the same time.
constexpr std::int64_t unsettled_seconds = 3;

} // namespace

std::filesystem::path users_cache_folder() {
  const auto folder = [](const char* name) -> std::filesystem::path {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (auto named = folder("CLADE_CACHE"); !named.empty())
    return named;
  if (const auto caches = folder("XDG_CACHE_HOME"); caches.is_absolute())
    return caches / "clade";
  if (const auto home = folder("HOME"); home.is_absolute())
    return home / ".cache" / "clade";
  return {};
}

bool make_cache_folder(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder.parent_path(), failed);
  return ::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST;
}

std::optional<file_state> state_of_file(const std::filesystem::path& file) {
  struct stat is {};
  if (::stat(file.c_str(), &is) != 0 || !S_ISREG(is.st_mode))
    return std::nullopt;
  return file_state{.text = fmt::format("{} {} {} {}.{} {}.{}", is.st_dev, is.st_ino,
                                        is.st_size, is.st_mtim.tv_sec, is.st_mtim.tv_nsec,
                                        is.st_ctim.tv_sec, is.st_ctim.tv_nsec),
                    .bytes = static_cast<std::uint64_t>(is.st_size),
                    .changed =
                        std::max<std::int64_t>(is.st_mtim.tv_sec, is.st_ctim.tv_sec)};
}

std::filesystem::path known_checksums::place_of(const file_state& of) const {
  return folder_ / (to_text(hash128(of.text)) + ".sum");
}

// content := checksum of "identity checksum" in hexadecimal
std::optional<genome_hash> known_checksums::find(const file_state& of) const {
  if (folder_.empty() || of.bytes < least_remembered_bytes)
    return std::nullopt;
  const unique_fd in(
      ::open(place_of(of).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat is {};
  std::array<std::uint64_t, 4> words{};
  if (!in || ::fstat(in.get(), &is) != 0 || !S_ISREG(is.st_mode)
      || is.st_uid != ::geteuid() || is.st_size != sizeof words
      || ::read(in.get(), words.data(), sizeof words) != sizeof words)
    return std::nullopt;
  const genome_hash checksum{words[0], words[1]};
  const auto check = hash128(of.text + to_text(checksum));
  if (check != genome_hash{words[2], words[3]})
    return std::nullopt;
  return checksum;
}

void known_checksums::keep(const file_state& of, const genome_hash& checksum,
                           bool written_by_us) const {
  if (folder_.empty() || of.bytes < least_remembered_bytes
      || (!written_by_us && std::time(nullptr) - of.changed < unsettled_seconds)
      || !make_cache_folder(folder_))
    return;
  const auto check = hash128(of.text + to_text(checksum));
  const std::array<std::uint64_t, 4> words{checksum.high, checksum.low, check.high,
                                           check.low};
  std::string name = place_of(of).string() + ".XXXXXX";
  unique_fd out(::mkostemp(name.data(), O_CLOEXEC));
  if (!out)
    return;
  const bool written = ::write(out.get(), words.data(), sizeof words) == sizeof words;
  if (!written || out.close() != 0 || ::rename(name.c_str(), place_of(of).c_str()) != 0)
    ::unlink(name.c_str());
}

} // namespace clade
