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

tl::unexpected<error> wrong(std::string message) {
  return fail(error_kind::invalid_input, std::move(message));
}

tl::unexpected<error> damaged(const char* why) {
  return wrong(fmt::format("the zip data is damaged ({}); fetch the file again", why));
}

} // namespace

void zip_member::close::operator()(zip_file* file) const {
  zip_fclose(file);
}

expected<std::size_t> zip_member::read(std::span<char> into) {
  std::size_t got = 0;
  while (got < into.size()) {
    const zip_int64_t n = zip_fread(file_.get(), into.data() + got, into.size() - got);
    if (n < 0)
      return damaged(zip_file_strerror(file_.get()));
    if (n == 0)
      break;
    got += static_cast<std::size_t>(n);
    used_ += static_cast<std::uint64_t>(n);
    if (used_ > bytes_)
      return damaged("a member unzips to more than the directory says");
  }
  return got;
}

expected<zip_archive> zip_archive::open(std::string_view bytes, const zip_words& words) {
  zip_error_t why;
  zip_error_init(&why);
  zip_archive out;
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &why);
  if (source != nullptr) {
    if (zip* opened = zip_open_from_source(source, ZIP_RDONLY, &why))
      out.archive_ = {opened, &zip_discard};
    else
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

expected<zip_member> zip_archive::open_member(const std::string& name) const {
  zip_stat_t is;
  zip_stat_init(&is);
  if (zip_stat(archive_.get(), name.c_str(), 0, &is) != 0)
    return damaged(zip_strerror(archive_.get()));
  if ((is.valid & ZIP_STAT_COMP_METHOD) == 0
      || (is.comp_method != ZIP_CM_STORE && is.comp_method != ZIP_CM_DEFLATE))
    return wrong(fmt::format("zipped in a way that is not read; {}", words_.way));
  if ((is.valid & ZIP_STAT_SIZE) == 0 || is.size / most_inflated > bytes_)
    return damaged("a member's size is wrong");
  zip_member out;
  out.archive_ = archive_;
  out.bytes_ = is.size;
  out.file_.reset(zip_fopen(archive_.get(), name.c_str(), 0));
  if (!out.file_)
    return damaged(zip_strerror(archive_.get()));
  return out;
}

expected<void> zip_member::read_rest(std::uint64_t most, const zip_pieces& take) {
  constexpr std::size_t chunk = 1 << 20;
  if (bytes_ > most)
    return wrong(fmt::format("unzips to more than {}", binary_size(most)));
  std::string piece(chunk, '\0');
  for (;;) {
    const auto n = read(piece);
    if (!n)
      return tl::unexpected(n.error());
    if (auto taken = take({piece.data(), *n}); !taken)
      return taken;
    if (*n < chunk)
      return {};
  }
}

expected<void> zip_archive::read_pieces(const std::string& name, std::uint64_t most,
                                        const zip_pieces& take) const {
  return open_member(name).and_then(
      [&](zip_member&& member) { return member.read_rest(most, take); });
}

expected<std::string> zip_archive::read(const std::string& name,
                                        std::uint64_t most) const {
  auto member = open_member(name);
  if (!member)
    return tl::unexpected(std::move(member).error());
  std::string out;
  // Memory that is not written yet is not taken yet.
  if (member->bytes() <= most)
    out.reserve(member->bytes());
  return member
      ->read_rest(most,
                  [&](std::string_view piece) -> expected<void> {
                    out += piece;
                    return {};
                  })
      .map([&] { return std::move(out); });
}

} // namespace clade
