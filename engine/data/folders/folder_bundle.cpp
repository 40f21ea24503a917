// bundle := count file* byte*     the bytes of all files, one after the other
// file   := size length path      with "/" between the names of folders
//
// count, size and length are u64, in the order of bytes of the machine: machines of another
// one do not train the same run.

#include "engine/data/folders/folder_bundle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

namespace clade {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_files = 20'000'000, longest_path = 4096;

void put(std::string& to, std::uint64_t n) {
  to.append(reinterpret_cast<const char*>(&n), sizeof n);
}

tl::unexpected<error> corrupt(const char* why) {
  return fail(error_kind::corrupt, fmt::format("the bundle of a folder {}", why));
}

std::optional<std::uint64_t> take(std::ifstream& in) {
  std::uint64_t n = 0;
  if (!in.read(reinterpret_cast<char*>(&n), sizeof n))
    return std::nullopt;
  return n;
}

/// Whether a path stays below the folder that it is relative to.
bool stays_below(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos || path.front() == '/')
    return false;
  return std::ranges::none_of(fs::path(path), [](const fs::path& name) {
    return name.empty() || name == "." || name == "..";
  });
}

struct packed_file {
  std::string path;
  std::uint64_t size = 0;
};

/// The files of a bundle, of which the rest has just as many bytes as they need.
expected<std::vector<packed_file>> read_list(std::ifstream& in, std::uint64_t bytes) {
  const auto count = take(in);
  if (!count || *count > most_files)
    return corrupt("has no list of files");
  std::vector<packed_file> files;
  std::uint64_t left = bytes - sizeof *count;
  std::uint64_t contents = 0;
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto size = take(in), length = take(in);
    if (!size || !length || *length > longest_path
        || left < 2 * sizeof(std::uint64_t) + *length)
      return corrupt("ends within its list of files");
    left -= 2 * sizeof(std::uint64_t) + *length;
    packed_file file{.path = std::string(*length, '\0'), .size = *size};
    if (!in.read(file.path.data(), static_cast<std::streamsize>(*length)))
      return corrupt("ends within its list of files");
    if (!stays_below(file.path))
      return corrupt("names a file outside of it");
    if (file.size > left - contents)
      return corrupt("is shorter than its files");
    contents += file.size;
    files.push_back(std::move(file));
  }
  if (contents != left)
    return corrupt("is longer than its files");
  return files;
}

expected<void> copy_bytes(std::ifstream& in, std::uint64_t bytes, const fs::path& to) {
  const auto failed = [&](const char* what) {
    return fail(error_kind::io,
                fmt::format("{}: {}: {}", to.string(), what, std::strerror(errno)));
  };
  std::error_code ignored; // If there is no folder, the file cannot be made.
  fs::create_directories(to.parent_path(), ignored);
  if (fs::exists(fs::symlink_status(to, ignored)))
    return corrupt("names a file twice");
  std::ofstream out(to, std::ios::binary);
  std::string piece;
  while (bytes > 0 && out) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, 1 << 20)));
    if (!in.read(piece.data(), static_cast<std::streamsize>(piece.size())))
      return failed("it cannot be read back");
    out.write(piece.data(), static_cast<std::streamsize>(piece.size()));
    bytes -= piece.size();
  }
  if (!out.flush())
    return failed("it cannot be written");
  return {};
}

} // namespace

expected<folder_bundle> folder_bundle::of(const fs::path& folder) {
  return find_classes(folder, kind_of_folder(folder))
      .and_then([&](const class_folder& found) { return of(folder, found.paths()); });
}

expected<folder_bundle> folder_bundle::of(const fs::path& folder,
                                          const std::vector<fs::path>& files) {
  folder_bundle out;
  put(out.head_, files.size());
  for (const auto& one : files) {
    std::error_code failed;
    const auto file = folder / one;
    const auto size = fs::file_size(file, failed);
    if (failed)
      return fail(error_kind::io, fmt::format("{}: {}", file.string(), failed.message()));
    const auto path = one.generic_string();
    if (!stays_below(path))
      return fail(error_kind::invalid_input,
                  fmt::format("{} does not lie below {}", path, folder.string()));
    put(out.head_, size);
    put(out.head_, path.size());
    out.head_ += path;
    out.parts_.push_back({.file = file, .size = size});
  }
  out.size_ = out.head_.size();
  for (auto& part : out.parts_) {
    part.begin = out.size_;
    out.size_ += part.size;
  }
  return out;
}

expected<std::string> folder_bundle::read(std::uint64_t offset, std::size_t most) const {
  std::string out;
  if (offset < head_.size()) {
    out = head_.substr(offset, most);
    offset += out.size();
  }
  auto at = std::ranges::upper_bound(parts_, offset, {}, &part::begin);
  if (at != parts_.begin())
    --at;
  for (; at != parts_.end() && out.size() < most; ++at) {
    const auto from = offset - at->begin;
    if (offset < at->begin || from >= at->size)
      continue;
    const auto count = std::min<std::uint64_t>(at->size - from, most - out.size());
    std::string piece(static_cast<std::size_t>(count), '\0');
    std::ifstream in(at->file, std::ios::binary);
    if (!in.seekg(static_cast<std::streamoff>(from))
        || !in.read(piece.data(), static_cast<std::streamsize>(count)))
      return fail(error_kind::io,
                  fmt::format("{} cannot be read, or became shorter", at->file.string()));
    out += piece;
    offset += count;
  }
  return out;
}

expected<void> unpack_bundle(const fs::path& bundle, const fs::path& folder) {
  std::error_code failed;
  const auto bytes = fs::file_size(bundle, failed);
  std::ifstream in(bundle, std::ios::binary);
  if (failed || !in || bytes < sizeof(std::uint64_t))
    return corrupt("cannot be read back");
  const auto files = read_list(in, bytes);
  if (!files)
    return tl::unexpected(files.error());
  if (!fs::create_directory(folder, failed))
    return fail(error_kind::io,
                fmt::format("{}: {}", folder.string(),
                            failed ? failed.message() : "it is there already"));
  for (const auto& file : *files)
    if (auto copied = copy_bytes(in, file.size, folder / file.path); !copied)
      return copied;
  return {};
}

} // namespace clade
