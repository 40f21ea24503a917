// An address is written such that it parses to the same.
#include "actors/transport/link/endpoint.hpp"
#include "tests/fuzz/law.hpp"

using namespace clade;
using namespace clade::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = parse_endpoint(std::string(text_of(data, size)));
  if (!parsed)
    return refused(parsed);
  hold(!parsed->host.empty(), "an address has a host");
  const auto again = parse_endpoint(parsed->host + ":" + std::to_string(parsed->port));
  hold(again && again->host == parsed->host && again->port == parsed->port,
       "an address is what it was");
  return 0;
}
