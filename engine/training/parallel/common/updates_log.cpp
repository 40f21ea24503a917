#include "engine/training/parallel/common/updates_log.hpp"

#include "engine/training/weights/sealed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

// Grammar (msgpack):
//
//     log    = [ "clade-updates", 1, payload, checksum ]       sealed.hpp
//     payload = [ workers, [ epoch... ] ]
//     epoch  = [ holder: binary... ]
//     holder = natural..., each of worker + workers * staleness, in bytes of 7 bits, the
//              lowest first, with the highest bit set in all but the last

namespace clade {
namespace {

constexpr sealed_format format{.name = "clade-updates",
                               .version = 1,
                               .place = "log of updates",
                               .one = "a log of updates"};

constexpr std::uint64_t most_workers = 1 << 16;

bytes packed(const std::vector<applied_gradient>& updates, std::uint64_t workers) {
  bytes out;
  for (const auto& u : updates) {
    auto n = u.worker + workers * u.staleness;
    for (; n > 127; n >>= 7)
      out.push_back(static_cast<char>(0x80 | (n & 0x7F)));
    out.push_back(static_cast<char>(n));
  }
  return out;
}

std::vector<applied_gradient> unpacked(decoder& in, std::uint64_t workers) {
  std::vector<applied_gradient> updates;
  std::uint64_t n = 0;
  unsigned shift = 0;
  for (const char c : in.binary()) {
    const auto byte = static_cast<unsigned char>(c);
    n |= std::uint64_t{byte & 0x7FU} << shift;
    shift += 7;
    if ((byte & 0x80U) != 0 && shift < 56)
      continue;
    if (shift >= 56 || n / workers > std::numeric_limits<std::uint32_t>::max()) {
      in.fail("a staleness that is too large");
      return {};
    }
    updates.push_back({.worker = static_cast<std::uint32_t>(n % workers),
                       .staleness = static_cast<std::uint32_t>(n / workers)});
    n = 0;
    shift = 0;
  }
  if (shift != 0)
    in.fail("half a gradient");
  return updates;
}

} // namespace

bytes encode(const updates_log& log) {
  if (log.epochs.empty())
    return {};
  encoder out;
  out.array(2).natural(log.workers).array(log.epochs.size());
  for (const auto& holders : log.epochs) {
    out.array(holders.size());
    for (const auto& updates : holders)
      out.binary(packed(updates, log.workers));
  }
  return seal(format, out.take());
}

expected<updates_log> decode_updates_log(std::span<const char> data) {
  updates_log log;
  if (data.empty())
    return log;
  const auto payload = unseal(format, data);
  if (!payload)
    return tl::unexpected(payload.error());
  decoder in(*payload);
  in.array(2);
  const auto workers = in.natural();
  if (workers == 0 || workers > most_workers)
    in.fail(fmt::format("a log of {} workers", workers));
  if (!in.failed()) {
    log.workers = static_cast<std::uint32_t>(workers);
    log.epochs = decode_list(in, [&](decoder& d) {
      return decode_list(d, [&](decoder& of) { return unpacked(of, workers); });
    });
  }
  if (auto whole = in.finish(); !whole)
    return fail_in("log of updates", whole.error());
  return log;
}

std::vector<left_out_gradients> late_workers(const updates_log& log,
                                             std::uint32_t taken) {
  constexpr double clear = 0.2;
  std::vector<std::uint64_t> counts(log.workers);
  std::uint64_t entries = 0;
  for (const auto& epoch : log.epochs)
    for (const auto& u : epoch.empty() ? std::vector<applied_gradient>() : epoch.front())
      if (u.worker < counts.size()) {
        ++counts[u.worker];
        ++entries;
      }
  std::vector<left_out_gradients> late;
  if (taken == 0 || entries == 0 || log.workers < 2)
    return late;
  const auto steps = entries / taken;
  for (std::uint32_t w = 0; w < log.workers; ++w) {
    const auto left_out = steps - std::min(steps, counts[w]);
    // The samples of all others together.
    const auto theirs =
        static_cast<double>(steps * (log.workers - 1) - (entries - counts[w]))
        / static_cast<double>(log.workers - 1);
    if (static_cast<double>(left_out) - theirs >= clear * static_cast<double>(steps))
      late.push_back({.worker = w, .left_out = left_out, .of = steps});
  }
  return late;
}

} // namespace clade
