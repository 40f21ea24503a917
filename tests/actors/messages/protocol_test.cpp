#include "actors/messages/protocol.hpp"
#include "tests/support/golden.hpp"

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

#include <set>

using namespace clade;

namespace {

/// Writes each message, reads it and writes it again.
struct wire {
  caf::actor_system_config config;
  caf::actor_system system{config};
  std::vector<std::string> lines{};

  template<class Message>
  void add(const char* name, Message message) {
    const auto sent = bytes_of(message);
    caf::binary_deserializer source(system, sent);
    Message there;
    REQUIRE_FALSE(source(there));
    CHECK(bytes_of(there) == sent);
    std::string line = name;
    for (const unsigned char byte : sent)
      line += {' ', "0123456789abcdef"[byte / 16], "0123456789abcdef"[byte % 16]};
    lines.push_back(line);
  }

  template<class Message>
  std::vector<char> bytes_of(Message& message) {
    std::vector<char> sent;
    caf::binary_serializer sink(system, sent);
    REQUIRE_FALSE(sink(message));
    return sent;
  }
};

} // namespace

TEST_CASE("protocol: these messages cross processes in version 20") {
  caf::actor_system_config config;
  add_message_types(config);
  std::set<std::string> names;
  for (const auto& [name, factory] : config.value_factories_by_name)
    if (name.starts_with("clade::"))
      names.insert(name);
  // Whoever changes the list, or a message in it, raises protocol_version.
  CHECK(protocol_version == 20);
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

TEST_CASE("protocol: the bytes of a message are its members in their order") {
  wire w;
  const held_lease lease{.id = {3, task_type::test}, .lease = 4, .generation = 5};
  const team_address address{.host = "rome", .port = 6};
  const blob small(bytes("weights"));
  const network_training network{
      .genome = "g",
      .epochs = 7,
      .start = 8,
      .start_epoch = 9,
      .before = {{.id = 1, .genome = "h", .epochs = 2, .start = 3, .start_epoch = 4}},
      .checkpoint = small};
  w.add("node_hello",
        node_hello{.slot = "cpu:0",
                   .label = "a CPU",
                   .worker = 1,
                   .session = 2,
                   .run = 3,
                   .ready = true,
                   .memory_bytes = 4,
                   .measured = false,
                   .has = {lease},
                   .former = {{.session = 5, .own_doing = true, .how = "k"}},
                   .team = address,
                   .rounding = 7,
                   .clock_ms = 8});
  w.add("node_welcome", node_welcome{.refusal = "no",
                                     .over = true,
                                     .node = 1,
                                     .run = 2,
                                     .ready = true,
                                     .heartbeat_ms = 3,
                                     .experiment = "e",
                                     .files = {{.path = "p", .size = 4, .checksum = "c"}},
                                     .keep = {lease}});
  w.add("node_ready",
        node_ready{.node = 1, .failure = "f", .team = address, .rounding = 2});
  w.add(
      "assignments",
      assignments{.batch = {{.id = 1,
                             .lease = 2,
                             .what = training_task{.network = network,
                                                   .keep_weights_above = 3,
                                                   .fold = 4,
                                                   .folds = 5,
                                                   .time_ms = 6,
                                                   .keep_checkpoint = 1,
                                                   .shares = 7}},
                            {.what = test_task{.weights = small, .network = network}},
                            {.what = linear_model_task{}},
                            {.what = composition_task{.members = small, .time_ms = 8}}}});
  w.add("results",
        results{.node = 1,
                .batch = {{.id = 2, .lease = 3, .what = task_failure{.why = "w"}},
                          {.what = training_result{.evaluated = "e",
                                                   .peak_bytes = 4,
                                                   .weights = small,
                                                   .checkpoint = blob::absent(5, 6)}},
                          {.what = test_result{.examined = "x"}},
                          {.what = composition_result{.composed = "c"}}}});
  w.add("taken", taken{.ids = {{1, task_type::test}, 2}});
  w.add("epoch_passed", epoch_passed{.node = 1, .id = 2, .of = 3, .passed = "p"});
  w.add("team_passed",
        team_passed{
            .node = 1, .exchanges = 2, .bytes_sent = 3, .waited_us = 4, .time_us = 5});
  w.add("heartbeat", heartbeat{.node = 1});
  w.add("heartbeat_answer", heartbeat_answer{.known = true});
  w.add("leaving", leaving{.node = 1, .not_done = {2}});
  w.add("may_leave", may_leave{});
  w.add("fetch_chunk", fetch_chunk{.path = "p", .offset = 1});
  w.add("chunk", chunk{.failure = "f", .data = "d"});
  w.add("fetch_piece",
        fetch_piece{.node = 1, .lease = 2, .part = blob_part::members, .offset = 3});
  w.add("piece", piece{.node = 1,
                       .lease = 2,
                       .part = blob_part::checkpoint,
                       .size = 3,
                       .checksum = 4,
                       .offset = 5,
                       .data = "d"});
  w.add("piece_taken", piece_taken{.failure = "f", .next = 1});
  w.add("team_formed", team_formed{.id = 1,
                                   .generation = 2,
                                   .own = 3,
                                   .members = {{.worker = 4, .address = address}}});
  w.add("leave", leave{.reason = "r"});
  test::check_golden(std::filesystem::path(CLADE_ROOT)
                         / "tests/actors/messages/protocol_golden.txt",
                     w.lines);
}
