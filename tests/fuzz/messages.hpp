#pragma once

#include "actors/messages/protocol.hpp"

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace clade::fuzz {

/// An actor system with our messages and no network; it lives as long as the process.
inline caf::actor_system& host() {
  struct config : caf::actor_system_config {
    config() {
      clade::add_message_types(*this);
      set("scheduler.max-threads", std::size_t{1});
      set("scheduler.policy", caf::atom("sharing"));
    }
  };
  static config* const settings = new config;
  static caf::actor_system* const system = new caf::actor_system(*settings);
  return *system;
}

/// Makes a message of each kind that `add_message_types` names: "clade::results".
inline const auto& message_kinds() {
  static const auto kinds = [] {
    std::map<std::string, caf::actor_system_config::value_factory, std::less<>> ours;
    for (const auto& [name, make] : host().config().value_factories_by_name)
      if (name.starts_with("clade::"))
        ours.emplace(name, make);
    return ours;
  }();
  return kinds;
}

/// Returns the bytes that are sent of a message, whose type CAF has erased; none if it
/// cannot be sent.
template<class Message>
std::optional<std::string> save(const Message& m) {
  std::vector<char> out;
  caf::binary_serializer sink(host(), out);
  if (const auto failed = m.save(sink))
    return std::nullopt;
  return std::string(out.begin(), out.end());
}

/// Whether the bytes are that message.
template<class Message>
bool load(std::string_view bytes, Message& into) {
  caf::binary_deserializer source(host(), bytes.data(), bytes.size());
  return !into.load(source);
}

} // namespace clade::fuzz
