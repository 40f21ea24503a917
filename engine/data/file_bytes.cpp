// gzip (RFC 1952) is a series of members, each a header, deflate data and a trailer with
// a CRC; zlib checks all three. What is unzipped is at most 1,032 times as long as what
// was zipped, and never longer than `max_unzipped_bytes`, so that the work is bounded by
// the file.

#include "engine/data/file_bytes.hpp"

#include "genome/hash.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace clade {
namespace {

constexpr std::string_view gzip_magic = "\x1f\x8b";

std::string at_byte(std::size_t offset) {
  return "byte " + std::to_string(offset);
}

// The stream of zlib, ended whichever way the function is left.
struct inflater {
  z_stream stream{};
  bool open = inflateInit2(&stream, 15 + 16) == Z_OK;

  inflater() = default;
  inflater(const inflater&) = delete;
  inflater& operator=(const inflater&) = delete;
  ~inflater() {
    if (open)
      inflateEnd(&stream);
  }
};

tl::unexpected<error> ends_too_early(std::size_t offset) {
  return fail_in(at_byte(offset),
                 {error_kind::invalid_input,
                  "the gzip data ends too early; the file was cut off, fetch "
                  "it again"});
}

tl::unexpected<error> damaged(std::size_t offset, const char* why) {
  return fail_in(at_byte(offset), {error_kind::invalid_input,
                                   std::string("the gzip data is damaged (")
                                       + (why != nullptr ? why : "unknown reason")
                                       + "); fetch the file again"});
}

expected<file_bytes> read_as_it_lies(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    return fail_in(file.string(), {error_kind::invalid_input, "is a folder, not a file"});
  if (!std::filesystem::exists(file, ignored))
    return fail_in(file.string(), {error_kind::not_found, "no such file"});
  std::ifstream in(file, std::ios::binary);
  if (!in)
    return fail_in(file.string(),
                   {error_kind::not_found, "cannot be opened; may you read it?"});
  file_bytes read;
  std::array<char, 1 << 16> chunk;
  while (in.read(chunk.data(), chunk.size()), in.gcount() > 0)
    read.bytes.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
  if (in.bad())
    return fail_in(file.string(), {error_kind::io, "could not be read to its end"});
  read.checksum = hash128(read.bytes);
  return read;
}

} // namespace

expected<std::string> gunzip(std::string_view zipped) {
  inflater z;
  if (!z.open)
    return fail(error_kind::io, "no memory to unzip");
  std::string out;
  std::array<char, 1 << 16> chunk;
  std::size_t used = 0;
  for (;;) {
    const std::size_t given = std::min<std::size_t>(zipped.size() - used, 1 << 30);
    // zlib's interface is older than const; it does not write to its input.
    z.stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zipped.data() + used));
    z.stream.avail_in = static_cast<uInt>(given);
    z.stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    z.stream.avail_out = static_cast<uInt>(chunk.size());
    const int status = inflate(&z.stream, Z_NO_FLUSH);
    used += given - z.stream.avail_in;
    out.append(chunk.data(), chunk.size() - z.stream.avail_out);
    if (out.size() > max_unzipped_bytes)
      return fail(error_kind::invalid_input, "unzips to more than 16 GiB");
    if (status == Z_STREAM_END) {
      if (used == zipped.size())
        return out;
      if (!zipped.substr(used).starts_with(gzip_magic))
        return damaged(used, "something follows its end");
      inflateReset(&z.stream);
    } else if (status == Z_BUF_ERROR
               || (status == Z_OK && used == zipped.size() && z.stream.avail_out != 0)) {
      return ends_too_early(used);
    } else if (status != Z_OK) {
      return damaged(used, z.stream.msg);
    }
  }
}

expected<genome_hash> checksum_of_file(const std::filesystem::path& file) {
  return read_as_it_lies(file).map([](const file_bytes& read) { return read.checksum; });
}

expected<file_bytes> read_file(const std::filesystem::path& file) {
  auto read = read_as_it_lies(file);
  if (!read || !read->bytes.starts_with(gzip_magic))
    return read;
  auto unzipped = gunzip(read->bytes);
  if (!unzipped)
    return fail_in(file.string(), std::move(unzipped).error());
  read->bytes = std::move(*unzipped);
  return read;
}

} // namespace clade
