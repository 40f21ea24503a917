#include "actors/transport/link/network_address.hpp"

#include <catch2/catch.hpp>
#include <unistd.h>

using namespace clade;

TEST_CASE("network address: others reach it by the name that is given") {
  CHECK(*reachable_address("0.0.0.0:7411", "login1") == "login1:7411");
  CHECK(*reachable_address("10.0.0.1:7411", "login1") == "login1:7411");
  CHECK(*reachable_address("[::]:7411", "login1") == "login1:7411");
}

TEST_CASE("network address: without a name it is the address or the machine's name") {
  char own[256] = {};
  REQUIRE(::gethostname(own, sizeof(own) - 1) == 0);
  CHECK(*reachable_address("10.0.0.1:7411", "") == "10.0.0.1:7411");
  CHECK(*reachable_address("[fe80::1]:7411", "") == "[fe80::1]:7411");
  for (const char* everywhere : {"0.0.0.0:7411", "[::]:7411", "*:7411"})
    CHECK(*reachable_address(everywhere, "") == std::string(own) + ":7411");
}

TEST_CASE("network address: port 0 becomes one that is free and others stay") {
  CHECK(*with_free_port("10.0.0.1:7411") == "10.0.0.1:7411");
  const auto chosen = with_free_port("0.0.0.0:0");
  REQUIRE(chosen);
  CHECK(chosen->starts_with("0.0.0.0:"));
  const auto port = std::stoi(chosen->substr(8));
  CHECK(port >= 20'000);
  CHECK(port <= 31'999);
}

TEST_CASE("network address: what is none is refused with an example") {
  for (const char* wrong : {"", "7411", ":7411", "login1", "login1:", "login1:x",
                            "login1:70000", "login1:1 ", "login1:-1"}) {
    const auto refused = with_free_port(wrong);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message
          == "\"" + std::string(wrong) + "\" is no address; write it as in 0.0.0.0:7411");
  }
}

TEST_CASE("network address: a name is told in the numbers of IPv4") {
  CHECK(in_numbers("localhost") == "127.0.0.1");
  CHECK(in_numbers("0.0.0.0") == "0.0.0.0");
  CHECK(in_numbers("::1").error().message
        == "\"::1\" is no IPv4 address and no name of one");
}
