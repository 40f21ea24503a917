#include "engine/training/asked/private_network.hpp"

#include <catch2/catch.hpp>

using namespace clade;

TEST_CASE("private network: an address is in it by its first bits") {
  const auto n = parse_ipv4_network("10.1.0.0/16");
  REQUIRE(n);
  CHECK(n->has(0x0A01'0000));
  CHECK(n->has(0x0A01'FFFF));
  CHECK_FALSE(n->has(0x0A02'0000));
  CHECK(parse_ipv4_network("192.168.7.1/32")->mask == 0xFFFF'FFFF);
  for (const auto* wrong : {"", "/", "10.1.0.0", "10.1.0.0/", "10.1.0.0/7", "10.1.0.0/33",
                            "10.1.0.0/16 ", "10.1/16", "fd00::/8", "10.1.0.1/16"})
    CHECK_FALSE(parse_ipv4_network(wrong));
}

TEST_CASE("private network: this machine's address in it is found, or it is named") {
  CHECK(own_address_in("127.0.0.0/8").value() == "127.0.0.1");
  const auto none = own_address_in("203.0.113.0/24"); // For documentation, nobody's.
  REQUIRE_FALSE(none);
  CHECK_THAT(none.error().message,
             Catch::Contains("has no address in the network 203.0.113.0/24, but ")
                 && Catch::Contains("127.0.0.1"));
}
