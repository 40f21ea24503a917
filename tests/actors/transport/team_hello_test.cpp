#include "actors/transport/team/team_hello.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

constexpr team_hello a_hello{
    .task = 1, .generation = 2, .checksum = 0xfedcba9876543210, .own = 3, .members = 8};

std::string refusal_with(std::size_t place, int value) {
  auto bytes = encode(a_hello);
  bytes[place] = static_cast<std::byte>(value);
  const auto decoded = decode_team_hello(bytes);
  return decoded ? "" : decoded.error().message;
}

} // namespace

TEST_CASE("team hello: it is read as it was written") {
  CHECK(decode_team_hello(encode(a_hello)) == a_hello);
}

TEST_CASE("team hello: what is none is refused") {
  CHECK(refusal_with(0, 'c') == "it is no member of a team");
  CHECK(refusal_with(11, 2)
        == "it is another version of Clade, with teams of protocol 2 instead of 1");
  for (const auto& [place, value] :
       {std::pair(15, 8), std::pair(16, 1), std::pair(19, 0), std::pair(20, 1)})
    CHECK(refusal_with(static_cast<std::size_t>(place), value)
          == "it says what no member of a team says");
  const auto bytes = encode(a_hello);
  CHECK_FALSE(decode_team_hello(std::span(bytes).first(47)));
  CHECK_FALSE(decode_team_hello({}));
}

TEST_CASE("team hello: it matches that of the same formation") {
  const auto matched = [](auto change) {
    auto other = a_hello;
    other.own = 5;
    change(other);
    return match(a_hello, other);
  };
  CHECK(matched([](team_hello&) {}) == team_match::same);
  CHECK(matched([](team_hello& h) { ++h.task; }) == team_match::other_team);
  CHECK(matched([](team_hello& h) { --h.generation; }) == team_match::other_team);
  CHECK(matched([](team_hello& h) { ++h.members; }) == team_match::other_team);
  CHECK(matched([](team_hello& h) { ++h.checksum; }) == team_match::other_contents);
}
