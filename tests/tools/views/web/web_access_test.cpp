#include "tools/views/web/web_access.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

const web_access gate(4711, "0123456789abcdef");

web_knock access_request() {
  return {.host = "127.0.0.1:4711", .token = "0123456789abcdef"};
}

} // namespace

TEST_CASE("web gate: whoever has the token is let in, and with the cookie after it") {
  CHECK(gate.address() == "http://127.0.0.1:4711/?token=0123456789abcdef");
  CHECK(gate.refusal(access_request()).empty());
  CHECK(gate.cookie()
        == "clade-4711=0123456789abcdef; HttpOnly; SameSite=Strict; Path=/");
  for (const auto* cookies :
       {"clade-4711=0123456789abcdef", "a=b; clade-4711=0123456789abcdef; c"}) {
    auto k = access_request();
    k.token.clear();
    k.cookies = cookies;
    CHECK(gate.refusal(k).empty());
    k.fetch_site = "same-origin";
    CHECK(gate.refusal(k).empty());
  }
}

TEST_CASE("web gate: another token or another server's cookie is refused") {
  auto k = access_request();
  k.token = GENERATE("", "0123456789abcdee", "0123456789abcdef0");
  k.cookies = GENERATE("", "clade-4711=", "clade-4712=0123456789abcdef",
                       "xclade-4711=0123456789abcdef", "clade-4711=0123456789abcdee");
  CHECK(gate.refusal(k) == "open the whole address that clade printed, with its token");
}

TEST_CASE("web gate: a name that resolves to loopback is refused") {
  auto k = access_request();
  k.host = GENERATE("", "evil.example:4711", "127.0.0.1", "127.0.0.1:4712",
                    "127.0.0.1:4711.evil.example");
  CHECK(gate.refusal(k) == "this is not 127.0.0.1:4711");
}

TEST_CASE("web gate: a page of another origin may not ask with the browser's cookie") {
  auto k = access_request();
  k.token.clear();
  k.cookies = "clade-4711=0123456789abcdef";
  k.fetch_site = GENERATE("same-site", "cross-site");
  CHECK(gate.refusal(k) == "another page may not ask here");
}

TEST_CASE("web gate: tokens are of 128 bits and differ") {
  const auto a = random_token(), b = random_token();
  REQUIRE(a);
  REQUIRE(b);
  CHECK(a->size() == 32);
  CHECK(*a != *b);
}
