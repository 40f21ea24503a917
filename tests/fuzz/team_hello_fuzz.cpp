// The first messages of members of a team to each other are refused, or are written with
// the bytes that were read. Two inputs in one: a hello, and what it is compared with.
#include "actors/transport/team/team_hello.hpp"
#include "tests/fuzz/law.hpp"

#include <algorithm>

using namespace clade;
using namespace clade::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto first = bytes.first(std::min(size, team_hello_bytes));
  const auto hello = decode_team_hello(first);
  if (!hello)
    return refused(hello);
  hold(hello->own < hello->members, "a member is one of its team");
  hold(std::ranges::equal(encode(*hello), first), "a hello is what it was");
  hold(match(*hello, *hello) == team_match::same, "a hello matches itself");
  if (const auto other = decode_team_hello(bytes.subspan(first.size())))
    hold(match(*hello, *other) == match(*other, *hello), "both sides see the same");
  return 0;
}
