#include "tools/run/publishing.hpp"

#include "actors/transport/link/network_address.hpp"
#include "engine/telemetry/socket/publisher.hpp"
#include "engine/telemetry/socket/viewer_keys.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace clade {

expected<std::optional<endpoint>> publishing_at(const std::string& address,
                                                const std::filesystem::path& keys) {
  if (address.empty())
    return std::optional<endpoint>();
  if (keys.empty())
    return fail(error_kind::invalid_input,
                "--publish needs --keys, the folder of clade keys new that knows the "
                "viewers");
  auto wanted = parse_endpoint(address);
  if (!wanted)
    return tl::unexpected(wanted.error());
  if (wanted->port == 0 || wanted->port > 65'536 - ports_of_a_publisher)
    return fail(error_kind::invalid_input,
                fmt::format("--publish {}: write a port between 1 and 65533; it and the "
                            "next two are used",
                            address));
  if (auto known = publisher_keys(keys); !known)
    return tl::unexpected(known.error());
  auto host = in_numbers(wanted->host);
  if (!host)
    return tl::unexpected(host.error());
  wanted->host = std::move(*host);
  for (std::uint16_t i = 0; i < ports_of_a_publisher; ++i)
    if (auto free = check_listening(
            {.host = wanted->host, .port = static_cast<std::uint16_t>(wanted->port + i)});
        !free)
      return tl::unexpected(free.error());
  return std::optional(std::move(*wanted));
}

} // namespace clade
