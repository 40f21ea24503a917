// A hello, in network order:
//
//    0  "CladTeam"
//    8  protocol    32 bits
//   12  own         32 bits, less than
//   16  members     32 bits, at most `most_team_members`
//   20  0           32 bits
//   24  task        64 bits
//   32  generation  64 bits
//   40  checksum    64 bits
#include "actors/transport/team/team_hello.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace clade {
namespace {

constexpr std::string_view hello_magic = "CladTeam";
constexpr std::uint32_t team_protocol = 1;

template<class T>
void put_number(std::span<std::byte> to, T number) {
  for (std::size_t i = sizeof(T); i-- > 0; number >>= 8)
    to[i] = static_cast<std::byte>(number & 0xFF);
}

template<class T>
T number_in(std::span<const std::byte> from) {
  T number = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    number = static_cast<T>(number << 8) | std::to_integer<T>(from[i]);
  return number;
}

} // namespace

encoded_team_hello encode(const team_hello& hello) {
  encoded_team_hello made{};
  const std::span<std::byte> to(made);
  std::ranges::copy(std::as_bytes(std::span(hello_magic)), made.begin());
  put_number(to.subspan(8), team_protocol);
  put_number(to.subspan(12), hello.own);
  put_number(to.subspan(16), hello.members);
  put_number(to.subspan(24), hello.task);
  put_number(to.subspan(32), hello.generation);
  put_number(to.subspan(40), hello.checksum);
  return made;
}

expected<team_hello> decode_team_hello(std::span<const std::byte> bytes) {
  if (bytes.size() != team_hello_bytes
      || !std::ranges::equal(bytes.first(hello_magic.size()),
                             std::as_bytes(std::span(hello_magic))))
    return fail(error_kind::corrupt, "it is no member of a team");
  if (const auto theirs = number_in<std::uint32_t>(bytes.subspan(8));
      theirs != team_protocol)
    return fail(
        error_kind::conflict,
        fmt::format(
            "it is another version of Clade, with teams of protocol {} instead of {}",
            theirs, team_protocol));
  const team_hello hello{.task = number_in<std::uint64_t>(bytes.subspan(24)),
                         .generation = number_in<std::uint64_t>(bytes.subspan(32)),
                         .checksum = number_in<std::uint64_t>(bytes.subspan(40)),
                         .own = number_in<std::uint32_t>(bytes.subspan(12)),
                         .members = number_in<std::uint32_t>(bytes.subspan(16))};
  if (hello.members > most_team_members || hello.own >= hello.members
      || number_in<std::uint32_t>(bytes.subspan(20)) != 0)
    return fail(error_kind::corrupt, "it says what no member of a team says");
  return hello;
}

team_match match(const team_hello& a, const team_hello& b) {
  if (a.task != b.task || a.generation != b.generation || a.members != b.members)
    return team_match::other_team;
  return a.checksum == b.checksum ? team_match::same : team_match::other_contents;
}

} // namespace clade
