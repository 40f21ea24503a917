#include "engine/store/sqlite/blob_folder.hpp"

#include "engine/store/sqlite/disk.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>

// A file is msgpack: [ id, content: binary, XXH3(content): natural ].

namespace clade {

namespace {

constexpr std::size_t piece_size = 1 << 20;
// The longest natural of msgpack, and the longest header: an array, a natural, a size.
constexpr std::size_t longest_natural = 9, longest_header = 1 + longest_natural + 5;

bytes header_for(candidate_id id, std::uint64_t size) {
  encoder out;
  out.array(3).natural(id).binary_header(size);
  return out.take();
}

/// Returns the size of the content if these first bytes of a file are of that candidate.
std::optional<std::uint64_t> content_size(const bytes& front, candidate_id id) {
  const auto common = header_for(id, 0).size() - 2; // A size of 0 takes two bytes.
  if (front.size() <= common || !front.starts_with(header_for(id, 0).substr(0, common)))
    return std::nullopt;
  const auto lead = static_cast<std::uint8_t>(front[common]);
  if (lead < 0xc4 || lead > 0xc6)
    return std::nullopt;
  const std::size_t width = std::size_t{1} << (lead - 0xc4);
  std::uint64_t size = 0;
  for (std::size_t i = common + 1; i <= common + width && i < front.size(); ++i)
    size = size << 8 | static_cast<std::uint8_t>(front[i]);
  return front.starts_with(header_for(id, size)) ? std::optional(size) : std::nullopt;
}

/// A file whose name begins with a candidate's number.
struct numbered_file {
  std::filesystem::path path;
  candidate_id id = 0;
  bool is_blob = false; ///< It has no other name: not one that is being written.
};

std::vector<numbered_file> numbered_files(const std::filesystem::path& folder,
                                          std::error_code& failed) {
  std::vector<numbered_file> all;
  for (std::filesystem::directory_iterator i(folder, failed), end; !failed && i != end;
       i.increment(failed)) {
    const auto name = i->path().filename().string();
    candidate_id id = 0;
    const auto* last = name.data() + name.size();
    const auto [rest, fault] = std::from_chars(name.data(), last, id);
    if (fault == std::errc{})
      all.push_back({.path = i->path(), .id = id, .is_blob = rest == last});
  }
  return all;
}

/// Reads all of it once, for the checksum.
std::optional<std::uint64_t> checksum_of(const blob& content) {
  running_hash hash;
  for (std::uint64_t at = 0; at < content.size(); at += piece_size) {
    const auto piece = content.read(at, piece_size);
    if (!piece)
      return std::nullopt;
    hash.add(*piece);
  }
  return hash.value();
}

} // namespace

expected<blob_writer> blob_writer::create(const std::filesystem::path& file,
                                          candidate_id id, std::uint64_t size) {
  blob_writer w;
  w.file_ = std::make_shared<blob_file>();
  w.file_->descriptor.reset(
      ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!w.file_->descriptor)
    return disk_error(file, "be written", last_error());
  w.file_->path = file;
  w.file_->temporary = true;
  w.size_ = size;
  const auto header = header_for(id, size);
  w.header_ = header.size();
  if (auto done = w.put(header); !done)
    return tl::unexpected(std::move(done).error());
  return w;
}

expected<void> blob_writer::put(std::span<const char> data) {
  if (const int cause = write_all(file_->descriptor.get(), {data.data(), data.size()});
      cause != 0)
    return disk_error(file_->path, "be written", {cause, std::system_category()});
  return {};
}

expected<void> blob_writer::append(std::span<const char> piece) {
  written_ += piece.size();
  hash_.add(piece);
  return put(piece);
}

expected<blob> blob_writer::finish() {
  const auto checksum = hash_.value();
  encoder end;
  end.natural(checksum);
  return put(end.take()).and_then([&]() -> expected<blob> {
    if (::fsync(file_->descriptor.get()) != 0)
      return disk_error(file_->path, "be written", last_error());
    return blob(file_, header_, size_, checksum);
  });
}

std::filesystem::path blob_folder::file_of(candidate_id id) const {
  return folder_ / std::to_string(id);
}

expected<void> blob_folder::write(candidate_id id, const blob& content) const {
  std::error_code failed;
  std::filesystem::create_directory(folder_, failed);
  if (failed)
    return disk_error(folder_, "be made", failed);
  if (content.file() && content.file()->temporary) {
    std::filesystem::rename(content.file()->path, file_of(id), failed);
    if (!failed)
      return sync_folder(folder_);
  }
  const auto fresh = folder_ / (fmt::format("{}.new", id));
  auto out = blob_writer::create(fresh, id, content.size());
  for (std::uint64_t at = 0; out && at < content.size(); at += piece_size) {
    const auto put = content.read(at, piece_size).and_then([&](const bytes& piece) {
      return out->append(piece);
    });
    if (!put)
      return put;
  }
  auto written = out.and_then([](blob_writer& w) { return w.finish(); });
  if (!written)
    return tl::unexpected(std::move(written).error());
  std::filesystem::rename(fresh, file_of(id), failed);
  if (failed)
    return disk_error(fresh, "be renamed", failed);
  return sync_folder(folder_);
}

blob blob_folder::read(candidate_id id) const {
  const auto file = std::make_shared<blob_file>();
  file->path = file_of(id);
  file->descriptor.reset(::open(file->path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  std::error_code failed;
  const auto length = std::filesystem::file_size(file->path, failed);
  if (!file->descriptor || failed)
    return {};
  const blob raw(file, 0, length, 0);
  const auto size = raw.read(0, longest_header).map([&](const bytes& front) {
    return content_size(front, id);
  });
  if (!size || !*size)
    return {};
  const auto header = header_for(id, **size).size();
  const auto end = raw.read(header + **size, longest_natural + 1);
  if (length < header + **size || !end)
    return {};
  decoder d(*end);
  const auto checksum = d.natural();
  const blob content(file, header, **size, checksum);
  if (!d.finish() || checksum_of(content) != checksum)
    return {};
  if (content.size() > piece_size)
    return content;
  auto small = content.read(0, piece_size);
  return small ? blob(std::move(*small)) : blob();
}

std::set<candidate_id> blob_folder::ids() const {
  std::set<candidate_id> all;
  std::error_code ignored;
  for (const auto& f : numbered_files(folder_, ignored))
    if (f.is_blob)
      all.insert(f.id);
  return all;
}

expected<void> blob_folder::keep(std::span<const candidate_id> ids,
                                 candidate_id last) const {
  std::error_code failed;
  if (!std::filesystem::exists(folder_, failed))
    return {};
  for (const auto& f : numbered_files(folder_, failed))
    if (!failed && f.id <= last && std::ranges::find(ids, f.id) == ids.end())
      std::filesystem::remove(f.path, failed);
  if (failed)
    return disk_error(folder_, "be tidied", failed);
  return {};
}

} // namespace clade
