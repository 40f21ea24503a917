#include "engine/queue/queue_event.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

const std::vector<queue_event>& one_of_each() {
  static const std::vector<queue_event> all{
      entry_submitted{.id = 3,
                      .what = {.user = "ann",
                               .kind = entry_kind::run,
                               .words = {"digits.toml", "--seed", "2"},
                               .directory = "/home/ann",
                               .name = "digits",
                               .priority = -2,
                               .slots = 2,
                               .device = "cuda",
                               .time = std::chrono::seconds(60),
                               .after = {1, 2},
                               .requeue = true,
                               .ranks = 2}},
      entry_started{.id = 3, .slots = {"cuda:0", "cuda:1"}},
      entry_stopping{.id = 3, .cause = stop_cause::preempted, .who = "#4"},
      entry_ended{.id = 3, .state = entry_state::failed, .reason = "ended with status 3"},
      entry_lost{.id = 3, .own_doing = true}};
  return all;
}

} // namespace

TEST_CASE("queue event: each is read as it was written") {
  CHECK(one_of_each().size() == std::variant_size_v<queue_event>);
  for (const auto& e : one_of_each()) {
    const auto read = decode_queue_event(encode(e));
    REQUIRE(read);
    CHECK(encode(*read) == encode(e));
    CHECK(to_text(*read) == to_text(e));
  }
}

TEST_CASE("queue event: the numbers of kinds and the fields stay what they are") {
  CHECK(encode(entry_lost{.id = 3}) == bytes("\x92\x05\x03"));
  CHECK(encode(entry_started{.id = 1, .slots = {"a"}})
        == bytes("\x93\x02\x01\x91\xa1"
                 "a"));
  CHECK(encode(entry_ended{.id = 1, .state = entry_state::succeeded})
        == bytes("\x94\x04\x01\x04\xa0"));
  CHECK(encode(entry_stopping{.id = 1, .cause = stop_cause::server_stopped})
        == bytes("\x94\x03\x01\x03\xa0"));
}

TEST_CASE("queue event: a start on another machine says who asks for it") {
  const auto stored = encode(entry_started{.id = 1, .slots = {"a@b"}, .worker = "lab"});
  CHECK(stored
        == bytes("\x94\x02\x01\x91\xa3"
                 "a@b\xa3lab"));
  const auto read = decode_queue_event(stored);
  REQUIRE(read);
  CHECK(std::get<entry_started>(*read).worker == "lab");
}

TEST_CASE("queue event: a loss from before its cause was recorded is read") {
  const auto read = decode_queue_event(bytes("\x92\x05\x03"));
  REQUIRE(read);
  CHECK_FALSE(std::get<entry_lost>(*read).own_doing);
}

TEST_CASE("queue event: a submission without ranks is stored as before there were any") {
  const auto before = encode(entry_submitted{.id = 1, .what = {.user = "ann"}});
  CHECK(before[3] == '\x9c'); // An array of 12.
  const auto with = encode(entry_submitted{.id = 1, .what = {.user = "ann", .ranks = 2}});
  CHECK(with[3] == '\x9d');
  CHECK(with.substr(4) == before.substr(4) + "\x02");
}

TEST_CASE("queue event: bytes that are none are refused") {
  for (const auto& e : one_of_each()) {
    const auto whole = encode(e);
    for (std::size_t size = 0; size < whole.size(); ++size)
      CHECK_FALSE(decode_queue_event({whole.data(), size}));
    CHECK_FALSE(decode_queue_event(whole + "x"));
  }
  CHECK_FALSE(decode_queue_event(bytes("\x92\x06\x03")));
  CHECK_FALSE(decode_queue_event(bytes("\x94\x03\x01\x05\xa0"))); // No such cause.
}

TEST_CASE("queue event: it is said in a sentence") {
  std::string said;
  for (const auto& e : one_of_each())
    said += to_text(e) + "\n";
  CHECK(said
        == "#3 is submitted by ann\n#3 starts on cuda:0, cuda:1\n#3 makes room for #4\n"
           "#3 failed: ended with status 3\n#3 is lost with its machine\n");
}
