// KEPT = [format, PICTURE]      msgpack; PICTURE: picture_codec.cpp
#include "engine/telemetry/picture/stored_picture.hpp"

#include "engine/telemetry/picture/wire.hpp"

namespace clade {

namespace {

// Raised whenever kept pictures would be read otherwise than they were meant.
constexpr std::uint64_t format = 6;

/// Nothing where it is of no use.
std::optional<run_picture> decode_kept(const kept_picture& kept) {
  decoder d(kept.data);
  d.array(2);
  if (d.natural() != format)
    return std::nullopt;
  auto p = decode_picture(d);
  if (!d.finish() || p.sequence != kept.sequence)
    return std::nullopt;
  return p;
}

expected<run_picture> fold_on(const store& s, run_picture p) {
  return s
      .for_each([&](std::uint64_t, std::int64_t unix_ms,
                    const record& r) { return apply(p, unix_ms, r); },
                p.sequence)
      .map([&] { return std::move(p); });
}

} // namespace

expected<run_picture> read_picture(const store& s) {
  auto kept = s.find_picture();
  if (!kept)
    return tl::unexpected(kept.error());
  if (*kept)
    if (auto p = decode_kept(**kept))
      return fold_on(s, std::move(*p));
  return fold_records(s);
}

expected<run_picture> fold_records(const store& s) {
  return fold_on(s, {});
}

kept_picture to_keep(const run_picture& p) {
  encoder out;
  out.array(2).natural(format);
  encode(out, p);
  return {.sequence = p.sequence, .data = out.take()};
}

} // namespace clade
