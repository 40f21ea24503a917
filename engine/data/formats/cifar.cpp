// CIFAR-10  := (label pixel{3072})*            label 0 to 9
// CIFAR-100 := (coarse fine pixel{3072})*      0 to 19 and 0 to 99
//
// Nothing in a file says which it is: one whose length is a whole number of records of
// the first kind, with labels that are in range, is that, else it is tried as the second.

#include "engine/data/formats/cifar.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>

namespace clade {
namespace {

constexpr std::size_t pixels = 3072;
constexpr std::array<unsigned char, 1> ten{10};
constexpr std::array<unsigned char, 2> hundred{20, 100};

tl::unexpected<error> wrong(std::string_view origin, std::string message) {
  return fail_in(origin, {error_kind::invalid_input, std::move(message)});
}

unsigned char at(std::string_view bytes, std::size_t i) {
  return static_cast<unsigned char>(bytes[i]);
}

// The byte of the first label that is out of range.
std::optional<std::size_t> first_wrong(std::string_view bytes,
                                       std::span<const unsigned char> limits) {
  for (std::size_t i = 0; i < bytes.size(); i += limits.size() + pixels)
    for (std::size_t l = 0; l < limits.size(); ++l)
      if (at(bytes, i + l) >= limits[l])
        return i + l;
  return std::nullopt;
}

// Labels of a record: how many, and the most each may be.
expected<std::span<const unsigned char>> labels_of(std::string_view bytes,
                                                   std::string_view origin) {
  std::optional<std::size_t> bad;
  bool fits = false;
  for (const std::span<const unsigned char> kind :
       {std::span<const unsigned char>(ten), std::span<const unsigned char>(hundred)}) {
    if (bytes.empty() || bytes.size() % (kind.size() + pixels) != 0)
      continue;
    fits = true;
    const auto found = first_wrong(bytes, kind);
    if (!found)
      return kind;
    bad = bad ? bad : found;
  }
  if (fits)
    return wrong(origin,
                 fmt::format("byte {}: label {} is neither of CIFAR-10 nor of CIFAR-100",
                             *bad, at(bytes, *bad)));
  return wrong(origin, fmt::format("{} bytes are no whole number of CIFAR's records of "
                                   "3073 or 3074; if it was cut off, fetch it again",
                                   bytes.size()));
}

} // namespace

expected<examples> parse_cifar(std::string_view bytes, std::string_view origin,
                               const data_params& params) {
  if (!params.task.has_classes())
    return wrong(origin, "CIFAR's labels are classes; say task = \"classification\"");
  const auto labels = labels_of(bytes, origin);
  if (!labels)
    return tl::unexpected(labels.error());
  std::size_t target = labels->size() - 1;
  if (params.target == "1")
    target = 0;
  else if (params.target != "last" && params.target != std::to_string(labels->size()))
    return wrong(
        origin,
        fmt::format(
            "no label is the target \"{}\"; use a number from 1 to {}, or \"last\"",
            params.target, labels->size()));
  examples out;
  out.origin = std::string(origin);
  out.shape.sizes = {3, 32, 32};
  const std::size_t record = labels->size() + pixels;
  out.count = bytes.size() / record;
  out.features.reserve(out.count * pixels);
  std::array<std::optional<std::uint32_t>, 256> known;
  for (std::size_t i = 0; i < bytes.size(); i += record) {
    auto& label = known[at(bytes, i + target)];
    if (!label) {
      label = static_cast<std::uint32_t>(out.classes.size());
      out.classes.push_back(std::to_string(at(bytes, i + target)));
    }
    out.labels.push_back(*label);
    out.places.push_back(i + target);
    for (std::size_t p = i + labels->size(); p < i + record; ++p)
      out.features.push_back(at(bytes, p));
  }
  return out;
}

} // namespace clade
