#include "engine/training/parallel/parted/kept_position.hpp"

#include "genome/genes/hash.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

// Grammar of a stored one; numbers outside msgpack have 8 bytes, the lowest first:
//
//     file = size of head, head, row..., checksum of all that is before it (XXH3)
//     head = [ "clade-parted-position", 1, version, steps, present, elements,
//              rest: binary ]                                               (msgpack)
//     row  = elements * float32, for each bit of `present`

namespace clade {
namespace {

[[noreturn]] void throw_error(const char* what, int reason) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0)
    host = {"this machine"};
  throw std::system_error(
      reason, std::generic_category(),
      fmt::format(
          "the position of the training cannot be {} on {}, in the file system of {}",
          what, host.data(), std::filesystem::temp_directory_path().string()));
}

constexpr const char* format_name = "clade-parted-position";
constexpr std::uint64_t format_version = 1;
// So many values are in memory at once.
constexpr std::uint64_t block_of_values = 1 << 20;
// A file that is no such file is not read into memory.
constexpr std::uint64_t longest_head = 1 << 30;

std::string_view chars_of(std::span<const float> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

std::string_view chars_of(const std::uint64_t& number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

/// Writes, and knows the checksum of what it wrote.
class checked_writer {
public:
  explicit checked_writer(int descriptor) : descriptor_(descriptor) {}

  void put(std::string_view bytes) {
    hash_.add(bytes);
    if (failed_ == 0)
      failed_ = write_all(descriptor_, bytes);
  }
  [[nodiscard]] int end() {
    put(chars_of(hash_.value()));
    return failed_;
  }

private:
  int descriptor_;
  int failed_ = 0;
  running_hash hash_;
};

/// Reads, and knows the checksum of what it read.
class checked_reader {
public:
  explicit checked_reader(const std::filesystem::path& file)
      : in_(file, std::ios::binary) {}

  bool take(std::span<char> into) {
    if (!in_.read(into.data(), static_cast<std::streamsize>(into.size())))
      return false;
    hash_.add(into);
    return true;
  }
  bool take(std::uint64_t& number) {
    return take({reinterpret_cast<char*>(&number), sizeof(number)});
  }
  /// Whether the checksum, which is the rest of the file, is that of what was read.
  bool ends_well() {
    const auto wanted = hash_.value();
    std::uint64_t there = 0;
    return take(there) && there == wanted
           && in_.peek() == std::ifstream::traits_type::eof();
  }

private:
  std::ifstream in_;
  running_hash hash_;
};

error corrupt(const std::string& why) {
  return {error_kind::corrupt, "position: " + why};
}

} // namespace

kept_position::kept_position(header h, bytes rest, std::uint64_t elements)
    : header_(h),
      rest_(std::move(rest)),
      elements_(elements) {
  auto name = (std::filesystem::temp_directory_path() / "clade-XXXXXX").string();
  file_.reset(::mkostemp(name.data(), O_CLOEXEC));
  if (!file_)
    throw_error("written", errno);
  ::unlink(name.c_str());
}

int kept_position::store(int descriptor) const try {
  const auto head = encoder()
                        .array(7)
                        .text(format_name)
                        .natural(format_version)
                        .natural(header_.version)
                        .natural(header_.steps)
                        .natural(header_.present)
                        .natural(elements_)
                        .binary(rest_)
                        .take();
  checked_writer out(descriptor);
  out.put(chars_of(std::uint64_t{head.size()}));
  out.put({head.data(), head.size()});
  std::vector<float> values;
  for (std::uint32_t r = 0; r < rows; ++r)
    for (std::uint64_t at = 0; has(row(r)) && at < elements_; at += values.size()) {
      values.resize(std::min(block_of_values, elements_ - at));
      read(row(r), at, values);
      out.put(chars_of(values));
    }
  return out.end();
} catch (const std::system_error& e) {
  return e.code().value();
}

expected<std::unique_ptr<kept_position>>
kept_position::load(const std::filesystem::path& file, std::uint64_t elements) {
  checked_reader in(file);
  std::uint64_t size = 0;
  if (!in.take(size) || size > longest_head)
    return tl::unexpected(corrupt("no position of parts"));
  bytes head(size, '\0');
  if (!in.take(head))
    return tl::unexpected(corrupt("it is cut short"));
  decoder d(head);
  d.array(7);
  if (d.text() != format_name || d.natural() != format_version)
    return tl::unexpected(corrupt("no position of parts"));
  header h{.version = d.natural()};
  h.steps = d.natural();
  h.present = static_cast<std::uint32_t>(d.natural());
  const auto there = d.natural();
  auto rest = d.binary();
  if (!d.finish() || there != elements)
    return tl::unexpected(corrupt("it is of another network"));
  auto kept = std::make_unique<kept_position>(h, std::move(rest), elements);
  std::vector<float> values;
  for (std::uint32_t r = 0; r < rows; ++r)
    for (std::uint64_t at = 0; kept->has(row(r)) && at < elements; at += values.size()) {
      values.resize(std::min(block_of_values, elements - at));
      if (!in.take(
              {reinterpret_cast<char*>(values.data()), values.size() * sizeof(float)}))
        return tl::unexpected(corrupt("it is cut short"));
      kept->write(row(r), at, values);
    }
  if (!in.ends_well())
    return tl::unexpected(corrupt("the checksum does not match"));
  return kept;
}

void kept_position::write(row r, std::uint64_t at, std::span<const float> values) {
  auto left = std::as_bytes(values);
  auto place = static_cast<off_t>((r * elements_ + at) * sizeof(float));
  while (!left.empty()) {
    const auto done = ::pwrite(file_.get(), left.data(), left.size(), place);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      throw_error("written", done < 0 ? errno : ENOSPC);
    left = left.subspan(static_cast<std::size_t>(done));
    place += done;
  }
}

void kept_position::read(row r, std::uint64_t at, std::span<float> values) const {
  auto left = std::as_writable_bytes(values);
  auto place = static_cast<off_t>((r * elements_ + at) * sizeof(float));
  while (!left.empty()) {
    const auto done = ::pread(file_.get(), left.data(), left.size(), place);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      throw_error("read", done < 0 ? errno : EIO);
    left = left.subspan(static_cast<std::size_t>(done));
    place += done;
  }
}

} // namespace clade
