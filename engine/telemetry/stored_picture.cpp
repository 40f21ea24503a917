#include "engine/telemetry/stored_picture.hpp"

#include "engine/telemetry/wire.hpp"
#include "genome/hash.hpp"

#include <fstream>
#include <iterator>

namespace clade {

namespace {

// Raised whenever older files would be read otherwise than they were meant.
constexpr std::uint64_t format = 2;

/// [format, identity, checksum of the picture, picture as bytes]; nothing where it is of
/// no use.
std::optional<run_picture> read_kept(const std::filesystem::path& file,
                                     std::uint64_t identity, std::uint64_t records) {
  std::ifstream in(file, std::ios::binary);
  const bytes data{std::istreambuf_iterator<char>(in), {}};
  decoder d(data);
  d.array(4);
  const auto written = d.natural(), of = d.natural(), checksum = d.natural();
  const auto inner = d.binary();
  if (!d.finish() || written != format || of != identity || checksum != hash64(inner))
    return std::nullopt;
  decoder within(inner);
  auto p = decode_picture(within);
  if (!within.finish() || p.sequence > records)
    return std::nullopt;
  return p;
}

} // namespace

std::filesystem::path picture_file(const std::filesystem::path& store_file) {
  return std::filesystem::path(store_file).replace_extension(".picture");
}

expected<run_picture> read_picture(const store& s, const std::filesystem::path& kept) {
  run_picture p;
  if (s.size() == 0)
    return p;
  const auto identity = s.identity();
  if (!identity)
    return tl::unexpected(identity.error());
  if (auto found = read_kept(kept, *identity, s.size()))
    p = std::move(*found);
  return s
      .for_each([&](std::uint64_t, std::int64_t unix_ms,
                    const record& r) { return apply(p, unix_ms, r); },
                p.sequence)
      .map([&] { return std::move(p); });
}

expected<void> keep_picture(const run_picture& p, std::uint64_t identity,
                            const std::filesystem::path& file) {
  encoder inner;
  encode(inner, p);
  const auto picture = inner.take();
  encoder out;
  out.array(4).natural(format).natural(identity).natural(hash64(picture)).binary(picture);
  const auto data = out.take();
  auto fresh = file;
  fresh += ".new";
  std::ofstream to(fresh, std::ios::binary);
  to.write(data.data(), static_cast<std::streamsize>(data.size()));
  to.close();
  std::error_code failed;
  if (to)
    std::filesystem::rename(fresh, file, failed);
  if (!to || failed)
    return fail(error_kind::io, "cannot write " + file.string());
  return {};
}

} // namespace clade
