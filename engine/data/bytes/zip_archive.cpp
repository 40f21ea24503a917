// libzip reads the directory at the archive's end and checks each member's CRC when its
// end is reached. NumPy and Excel write no other compression than deflate, which unzips to
// at most 1,032 times as much as there was; others, which libzip may know, are refused, so
// that the work is bounded by the file.

#include "engine/data/bytes/zip_archive.hpp"

#include "genome/base/whole_file.hpp"

#include <fmt/format.h>
#include <zip.h>

namespace clade {
namespace {

constexpr std::uint64_t most_inflated = 1032;

struct close_member {
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};
using open_member = std::unique_ptr<zip_file_t, close_member>;

tl::unexpected<error> wrong(std::string message) {
  return fail(error_kind::invalid_input, std::move(message));
}

tl::unexpected<error> damaged(const char* why) {
  return wrong(fmt::format("the zip data is damaged ({}); fetch the file again", why));
}

} // namespace

void zip_archive::discard::operator()(zip* archive) const {
  zip_discard(archive);
}

expected<zip_archive> zip_archive::open(std::string_view bytes, const zip_words& words) {
  zip_error_t why;
  zip_error_init(&why);
  zip_archive out;
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &why);
  if (source != nullptr) {
    out.archive_.reset(zip_open_from_source(source, ZIP_RDONLY, &why));
    if (!out.archive_)
      zip_source_free(source);
  }
  const std::string reason = out.archive_ ? "" : zip_error_strerror(&why);
  zip_error_fini(&why);
  if (!out.archive_)
    return wrong(fmt::format(
        "no {} that ends where it must ({}); if it was cut off, fetch it again",
        words.kind, reason));
  out.bytes_ = bytes.size();
  out.words_ = words;
  return out;
}

std::vector<std::string> zip_archive::names() const {
  std::vector<std::string> out;
  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i)
    if (const char* name = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(i), 0))
      out.emplace_back(name);
  return out;
}

bool zip_archive::has(const std::string& name) const {
  return zip_name_locate(archive_.get(), name.c_str(), 0) >= 0;
}

expected<void> zip_archive::read_pieces(const std::string& name, std::uint64_t most,
                                        const zip_pieces& take) const {
  constexpr std::size_t chunk = 1 << 20;
  zip_stat_t is;
  zip_stat_init(&is);
  if (zip_stat(archive_.get(), name.c_str(), 0, &is) != 0)
    return damaged(zip_strerror(archive_.get()));
  if ((is.valid & ZIP_STAT_COMP_METHOD) == 0
      || (is.comp_method != ZIP_CM_STORE && is.comp_method != ZIP_CM_DEFLATE))
    return wrong(fmt::format("zipped in a way that is not read; {}", words_.way));
  const open_member member(zip_fopen(archive_.get(), name.c_str(), 0));
  if (!member)
    return damaged(zip_strerror(archive_.get()));
  std::string piece(chunk, '\0');
  for (std::uint64_t used = 0;;) {
    const zip_int64_t n = zip_fread(member.get(), piece.data(), chunk);
    if (n < 0)
      return damaged(zip_file_strerror(member.get()));
    if (n == 0)
      return {};
    used += static_cast<std::uint64_t>(n);
    if (used > most)
      return wrong(fmt::format("unzips to more than {}", binary_size(most)));
    if (auto taken = take({piece.data(), static_cast<std::size_t>(n)}); !taken)
      return taken;
  }
}

expected<std::string> zip_archive::read(const std::string& name,
                                        std::uint64_t most) const {
  std::string out;
  zip_stat_t is;
  zip_stat_init(&is);
  if (zip_stat(archive_.get(), name.c_str(), 0, &is) == 0
      && (is.valid & ZIP_STAT_SIZE) != 0 && is.size / most_inflated <= bytes_
      && is.size <= most)
    out.reserve(is.size);
  return read_pieces(name, most,
                     [&](std::string_view piece) -> expected<void> {
                       out += piece;
                       return {};
                     })
      .map([&] { return std::move(out); });
}

} // namespace clade
