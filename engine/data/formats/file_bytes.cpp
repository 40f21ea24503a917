// gzip (RFC 1952) is a series of members, each a header, deflate data and a trailer with
// a CRC; zlib checks all three. The bytes after unzipping are at most 1,032 times as many
// as before, and never more than `max_unzipped_bytes`, so that the work is bounded by the
// file.

#include "engine/data/formats/file_bytes.hpp"

#include "engine/data/columns/csv_form.hpp"
#include "engine/data/formats/data_format.hpp"
#include "engine/data/formats/npy_header.hpp"
#include "engine/data/formats/numeric_array.hpp"
#include "engine/data/formats/text_array.hpp"
#include "engine/data/formats/text_kinds.hpp"
#include "engine/data/formats/unread_kinds.hpp"
#include "engine/data/memory/cache_folder.hpp"
#include "genome/base/unique_fd.hpp"
#include "genome/genes/hash.hpp"
#include "genome/genes/running_hash128.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

namespace clade {
namespace {

constexpr std::string_view gzip_magic = "\x1f\x8b";

std::string at_byte(std::size_t offset) {
  return fmt::format("byte {}", offset);
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
  return fail_in(at_byte(offset),
                 {error_kind::invalid_input,
                  fmt::format("the gzip data is damaged ({}); fetch the file again",
                              why != nullptr ? why : "unknown reason")});
}

expected<file_bytes> read_as_it_lies(const std::filesystem::path& file,
                                     const file_limits& limits) {
  return read_whole_file(file, limits).map([](std::string&& all) {
    file_bytes read{.bytes = std::move(all), .checksum = {}};
    read.checksum = hash128(read.bytes);
    return read;
  });
}

} // namespace

expected<std::string> gunzip(std::string_view zipped, std::uint64_t most_bytes,
                             const unzipped_check& check) {
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
    const std::size_t fresh = chunk.size() - z.stream.avail_out;
    out.append(chunk.data(), fresh);
    if (check)
      if (auto fine = check(out, fresh); !fine)
        return tl::unexpected(std::move(fine).error());
    if (out.size() > most_bytes)
      return fail(error_kind::invalid_input,
                  "unzips to more than " + binary_size(most_bytes));
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

expected<std::string> read_front(const std::filesystem::path& file, std::size_t most) {
  if (auto fine = check_readable_kind(file); !fine)
    return tl::unexpected(std::move(fine).error());
  // zlib's file reader takes what is no gzip as it is.
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return fail_in(file.string(),
                   {error_kind::not_found, "cannot be opened; may you read it?"});
  const auto in =
      std::unique_ptr<gzFile_s, decltype(&gzclose)>(gzdopen(descriptor, "rb"), &gzclose);
  if (!in) {
    ::close(descriptor);
    return fail_in(file.string(), {error_kind::io, "no memory to unzip"});
  }
  std::string front(most, '\0');
  const int got = gzread(in.get(), front.data(), static_cast<unsigned>(most));
  if (got < 0)
    return fail_in(file.string(), {error_kind::invalid_input, "cannot be unzipped"});
  front.resize(static_cast<std::size_t>(got));
  return front;
}

namespace {

/// Reads a large file for its checksum alone.
expected<genome_hash> checksum_in_pieces(const std::filesystem::path& file) {
  const unique_fd in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!in)
    return fail_in(file.string(),
                   {error_kind::not_found, "cannot be opened; may you read it?"});
  std::string piece(std::size_t{4} << 20, '\0');
  running_hash128 sum;
  for (;;) {
    const auto got = ::read(in.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return fail_in(file.string(), {error_kind::io, std::strerror(errno)});
    if (got == 0)
      return sum.value();
    sum.add(std::span(piece).first(static_cast<std::size_t>(got)));
  }
}

} // namespace

expected<genome_hash> checksum_of_file(const std::filesystem::path& file) {
  const auto is = state_of_file(file);
  if (!is || is->bytes < least_remembered_bytes)
    return read_as_it_lies(file, data_limits()).map([](const file_bytes& read) {
      return read.checksum;
    });
  const known_checksums known;
  if (const auto found = known.find(*is))
    return *found;
  auto sum = checksum_in_pieces(file);
  if (sum && state_of_file(file) == is)
    known.keep(*is, *sum);
  return sum;
}

file_limits data_limits(bool streams) {
  const auto pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
  const auto memory = pages > 0 && bytes > 0 ? static_cast<std::uint64_t>(pages)
                                                   * static_cast<std::uint64_t>(bytes)
                                             : max_unzipped_bytes;
  // How long a stream is, is known when it is held in memory.
  return {.most_bytes = streams ? std::min(memory / 2, max_unzipped_bytes) : memory,
          .streams = streams};
}

namespace {

/// Refuses a line of a table that has no end, however little it is zipped.
class line_check {
public:
  explicit line_check(std::string_view begin)
      : lines_(!begin.substr(0, begin.find_first_not_of(" \t\r\n") + 1).ends_with('[')) {}

  /// `fresh` bytes at the end of `all` are new.
  expected<void> operator()(std::string_view all, std::size_t fresh) {
    constexpr std::size_t longest = std::size_t{64} << 20;
    const auto end = all.substr(all.size() - fresh).find_last_of("\n\r");
    if (end != all.npos)
      begin_ = all.size() - fresh + end + 1;
    if (!lines_ || all.size() - begin_ <= longest)
      return {};
    return fail_in(at_byte(begin_), {error_kind::invalid_input,
                                     fmt::format("a line of more than {} MiB begins, as "
                                                 "no table has",
                                                 longest >> 20)});
  }

private:
  bool lines_; ///< Whether it is no array of JSON, which may be a line.
  std::size_t begin_ = 0;
};

/// Refuses an array that cannot be read by what it says before its values, and more bytes
/// than it says.
class array_check {
public:
  explicit array_check(data_format format) : format_(format) {}

  expected<void> operator()(std::string_view all) {
    if (!end_) {
      // A shorter file is judged where it is read.
      if (all.size() < array_front_bytes)
        return {};
      const auto end = end_by(all);
      if (!end)
        return tl::unexpected(end.error());
      end_ = *end;
    }
    if (all.size() <= *end_)
      return {};
    return fail_in(at_byte(*end_),
                   {error_kind::invalid_input, "more follows than the array has values"});
  }

private:
  expected<std::uint64_t> end_by(std::string_view front) const {
    if (format_ == data_format::idx)
      return idx_file_bytes(front);
    return holds_texts(front) ? npy_text_file_bytes(front) : npy_file_bytes(front);
  }

  data_format format_;
  std::optional<std::uint64_t> end_; ///< The size of the file by its header.
};

bool is_of_lines(table_kind kind) {
  return kind == table_kind::json || kind == table_kind::arff
         || kind == table_kind::libsvm;
}

/// Refuses a zero byte in what is neither an array nor UTF-16, a line without an end in
/// what has lines, and an array that is not as its header says, as all that is known of the
/// kinds of files says.
unzipped_check fits_its_kind(const std::filesystem::path& file) {
  return [file, text = std::optional<bool>(), lines = std::optional<line_check>(),
          array = std::optional<array_check>()](
             std::string_view all, std::size_t fresh) mutable -> expected<void> {
    if (!text) {
      const auto format = format_of(file, all);
      const auto kind = table_kind_of(all);
      const bool plain = !is_utf16(all) && refuse_unread_kind(file, all);
      text = format == data_format::csv && !kind && plain;
      if (plain
          && (*text || format == data_format::series || (kind && is_of_lines(*kind))))
        lines.emplace(all);
      if (format == data_format::npy || format == data_format::idx)
        array.emplace(format);
    }
    if (array)
      return (*array)(all);
    if (lines)
      if (auto ends = (*lines)(all, fresh); !ends)
        return ends;
    const auto zero = *text ? all.find('\0', all.size() - fresh) : all.npos;
    if (zero == all.npos)
      return {};
    return fail_in(at_byte(zero), {error_kind::invalid_input, std::string(zero_byte)});
  };
}

} // namespace

expected<file_bytes> read_file(const std::filesystem::path& file,
                               const file_limits& limits) {
  auto read = read_as_it_lies(file, limits);
  if (!read || !read->bytes.starts_with(gzip_magic))
    return read;
  // All that unzips is held in memory, so the limit of a stream holds for it, too.
  auto unzipped =
      gunzip(read->bytes, std::min(limits.most_bytes, data_limits(true).most_bytes),
             fits_its_kind(file));
  if (!unzipped)
    return fail_in(file.string(), std::move(unzipped).error());
  read->bytes = std::move(*unzipped);
  return read;
}

} // namespace clade
