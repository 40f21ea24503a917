#include "engine/training/weights/sealed.hpp"

#include "genome/genes/hash.hpp"

#include <fmt/format.h>

namespace clade {

bytes seal(const sealed_format& format, std::span<const char> payload) {
  encoder out;
  out.array(4)
      .text(format.name)
      .natural(format.version)
      .binary(payload)
      .natural(hash64(payload));
  return out.take();
}

expected<bytes> unseal(const sealed_format& format, std::span<const char> data) {
  decoder outer(data);
  outer.array(4);
  if (outer.text() != format.name)
    outer.fail("not " + std::string(format.one));
  if (const auto version = outer.natural(); version != format.version)
    outer.fail(fmt::format("{} of version {}", format.one, version));
  auto payload = outer.binary();
  const auto checksum = outer.natural();
  const std::string place(format.place);
  if (auto whole = outer.finish(); !whole)
    return fail_in(place, whole.error());
  if (checksum != hash64(payload))
    return fail(error_kind::corrupt, place + ": the checksum does not match");
  return payload;
}

} // namespace clade
