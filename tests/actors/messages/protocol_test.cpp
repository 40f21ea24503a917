#include "actors/messages/protocol.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace clade;

TEST_CASE("protocol: these messages cross processes in version 16") {
  caf::actor_system_config config;
  add_message_types(config);
  std::set<std::string> names;
  for (const auto& [name, factory] : config.value_factories_by_name)
    if (name.starts_with("clade::"))
      names.insert(name);
  // Whoever changes the list, or a message in it, raises protocol_version.
  CHECK(protocol_version == 16);
  CHECK(names
        == std::set<std::string>{"clade::assignments",
                                 "clade::chunk",
                                 "clade::dispatcher_actor",
                                 "clade::epoch_passed",
                                 "clade::fetch_chunk",
                                 "clade::fetch_piece",
                                 "clade::heartbeat",
                                 "clade::heartbeat_answer",
                                 "clade::leave",
                                 "clade::leaving",
                                 "clade::link_actor",
                                 "clade::may_leave",
                                 "clade::node_hello",
                                 "clade::node_ready",
                                 "clade::node_welcome",
                                 "clade::piece",
                                 "clade::piece_taken",
                                 "clade::results",
                                 "clade::taken",
                                 "clade::team_formed",
                                 "clade::team_passed"});
}
