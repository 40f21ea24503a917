// https://sqlite.org/fileformat.html, section 4. All numbers have 32 bits and are
// big-endian; only the checksum may take words the other way round, as the magic says.
//
//     log    = header frame*
//     header = magic version page_size checkpoints salt salt checksum checksum
//     frame  = page pages_after_commit|0 salt salt checksum checksum bytes[page_size]
//
// A checksum covers all before it: the header's first 24 bytes, then of each frame the
// first 8 bytes and the page. A frame with other salts is left from before the log was
// begun anew.
#include "engine/store/sqlite/log.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>
#include <vector>

namespace clade {

namespace {

constexpr std::size_t header_size = 32, frame_header_size = 24;
constexpr std::uint32_t magic = 0x377f0682;

std::uint32_t word(std::span<const char> bytes, std::size_t at, bool big_endian = true) {
  std::uint32_t n = 0;
  for (std::size_t i = 0; i < 4; ++i)
    n = n << 8 | static_cast<unsigned char>(bytes[at + (big_endian ? i : 3 - i)]);
  return n;
}

struct checksum {
  bool big_endian = false;
  std::uint32_t first = 0, second = 0;

  void add(std::span<const char> bytes) {
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      first += word(bytes, at, big_endian) + second;
      second += word(bytes, at + 4, big_endian) + first;
    }
  }
  [[nodiscard]] bool is_at(std::span<const char> bytes, std::size_t at) const {
    return word(bytes, at) == first && word(bytes, at + 4) == second;
  }
};

bool is_page_size(std::uint32_t n) {
  return n >= 512 && n <= 65536 && (n & (n - 1)) == 0;
}

} // namespace

expected<log_condition> examine_log(const std::filesystem::path& store_file) {
  auto file = store_file;
  file += "-wal";
  log_condition found;
  std::error_code failed;
  if (!std::filesystem::exists(file, failed))
    return found;
  std::ifstream in(file, std::ios::binary);
  std::array<char, header_size> header{};
  if (!in.read(header.data(), header.size())) {
    if (!in.eof())
      return fail(error_kind::io, fmt::format("{}: cannot be read: {}", file.string(),
                                              std::strerror(errno)));
    return found;
  }
  checksum sum{.big_endian = (word(header, 0) & 1) != 0};
  sum.add(std::span(header).first(24));
  bool whole = sum.is_at(header, 24) && (word(header, 0) & ~1U) == magic;
  auto salts = std::string(&header[16], 8);
  // If a header is not to be trusted, the usual size is a better guess.
  const auto page_size =
      whole && is_page_size(word(header, 8)) ? word(header, 8) : std::uint32_t{4096};
  std::vector<char> frame(frame_header_size + page_size);
  for (std::uint64_t number = 1;
       in.read(frame.data(), static_cast<std::streamsize>(frame.size())); ++number) {
    const std::string own(&frame[8], 8);
    if (number == 1 && !whole)
      salts = own;
    if (whole) {
      sum.add(std::span(frame).first(8));
      sum.add(std::span(frame).subspan(frame_header_size));
      whole = own == salts && sum.is_at(frame, 16);
      if (!whole)
        found.first_bad_frame = number;
    }
    const bool commits = word(frame, 4) != 0;
    if (whole)
      found.whole += commits ? 1 : 0;
    else if (own == salts)
      found.left_out += commits ? 1 : 0;
  }
  return found;
}

} // namespace clade
