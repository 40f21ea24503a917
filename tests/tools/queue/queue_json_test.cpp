#include "tools/queue/head/queue_json.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

queue_submission a_submission() {
  return {.user = "ann",
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
          .once = "it",
          .ranks = 2};
}

} // namespace

TEST_CASE("queue JSON: a submission is read as it was written") {
  const auto read =
      parse_submissions(text_of({{"entries", {submission_json(a_submission())}}}), "ann");
  REQUIRE(read);
  CHECK(*read == std::vector{a_submission()});
}

TEST_CASE("queue JSON: a submission and an entry stay what programs read") {
  const auto full = a_submission();
  const queue_submission least{.user = "ann", .words = {"true"}, .directory = "/"};
  const auto sent = [](const queue_submission& s) {
    return nlohmann::json::parse(text_of(submission_json(s)));
  };
  CHECK(sent(full) == nlohmann::json::parse(R"({"command":["digits.toml","--seed","2"],
    "kind":"run","directory":"/home/ann","name":"digits","device":"cuda","priority":-2,
    "slots":2,"seconds":60,"requeue":true,"after":[1,2],"once":"it","ranks":2})"));
  CHECK(sent(least) == nlohmann::json::parse(R"({"command":["true"],"kind":"command",
    "directory":"/","name":"","device":"","priority":0,"slots":1,"seconds":0,
    "requeue":false,"after":[],"once":""})"));

  queue_entry e{.what = full};
  e.state = entry_state::running;
  e.slots = {"cuda:0@rome", "cuda:1@rome"};
  e.submitted_ms = 5;
  e.started_ms = 6;
  e.starts = 2;
  e.losses = 1;
  CHECK(text_of(entry_json(3, e, "late", {}))
        == R"({"id":3,"user":"ann","name":"digits","kind":"run","state":"running",)"
           R"("reason":"late","stopping":false,"priority":-2,"slots":2,"device":"cuda",)"
           R"("seconds":60,"after":[1,2],"requeue":true,"once":"it","ranks":2,)"
           R"("on":["cuda:0@rome","cuda:1@rome"],"submitted":5,"started":6,)"
           R"("ended":null,"starts":2,"losses":1,)"
           R"("command":["digits.toml","--seed","2"],"directory":"/home/ann"})");
  CHECK(text_of(entry_json(3, {.what = least}, "", {.readable = false}))
        == R"({"id":3,"user":"ann","name":null,"kind":"command","state":"waiting",)"
           R"("reason":null,"stopping":false,"priority":0,"slots":1,"device":null,)"
           R"("seconds":0,"after":[],"requeue":false,"once":null,"ranks":null,"on":[],)"
           R"("submitted":null,"started":null,"ended":null,"starts":0,"losses":0,)"
           R"("command":null,"directory":null})");
  CHECK(text_of(entry_json(3, e, "", {.readable = false, .brief = true}))
        == R"({"id":3,"user":"ann","name":"digits","kind":"run","state":"running",)"
           R"("priority":-2,"slots":2,"device":"cuda","seconds":60,"after":[1,2],)"
           R"("requeue":true,"once":"it","ranks":2,"on":["cuda:0@rome","cuda:1@rome"],)"
           R"("submitted":5,"started":6,"starts":2,"losses":1})");
}

TEST_CASE("queue JSON: what is wrong is named with its entry and key") {
  const auto refusal = [](const std::string& text) {
    const auto read = parse_submissions(text, "ann");
    REQUIRE_FALSE(read);
    CHECK(read.error().kind == error_kind::invalid_input);
    return read.error().message;
  };
  const std::string no_list =
      "what is sent is {\"entries\": [...]}, of 1 to 10000 entries, and nothing else";
  for (const char* none : {"", "{", "[]", "{}", "{\"entries\": []}", "{\"entries\": 3}",
                           R"({"entries": [{"command": ["a"]}], "user": "eve"})"})
    CHECK(refusal(none) == no_list);
  CHECK(refusal(R"({"entries": [3]})") == "entry 1: is no object");
  CHECK(refusal(R"({"entries": [{"command": ["a"]}, {}]})")
        == "entry 2: it has no \"command\"");
  CHECK(refusal(R"({"entries": [{"command": ["a"], "user": "eve"}]})")
        == "entry 1: there is no key \"user\"");
  for (const char* wrong :
       {R"("command": "a")", R"("command": [])", R"("command": [1])", R"("kind": "walk")",
        R"("kind": 1)", R"("slots": -1)", R"("slots": 4294967296)", R"("slots": 1.5)",
        R"("ranks": "2")", R"("priority": "high")", R"("priority": 1e3)",
        R"("priority": 18446744073709551615)", R"("seconds": -1)", R"("after": 1)",
        R"("after": ["1"])", R"("after": [-1])", R"("requeue": 1)", R"("name": 1)",
        R"("directory": null)"})
    CHECK_THAT(refusal(std::string("{\"entries\": [{") + wrong + "}]}"),
               Catch::Contains("has no value of its kind"));
}

TEST_CASE("queue JSON: a command is for those who may read its log") {
  queue_entry e{.what = a_submission()};
  const auto shown = [&](const queue_user& u) {
    return entry_json(3, e, "waits", {.readable = is_theirs(u, e)});
  };
  CHECK(shown({.name = "ann", .role = queue_role::user})["command"].is_array());
  CHECK(shown({.name = "bob", .role = queue_role::admin})["command"].is_array());
  for (const auto& other : {queue_user{.name = "bob", .role = queue_role::user},
                            queue_user{.name = "ann", .role = queue_role::viewer}}) {
    const auto j = shown(other);
    CHECK(j["command"].is_null());
    CHECK(j["directory"].is_null());
    CHECK(j["user"] == "ann");
  }
}

TEST_CASE("queue JSON: a list leaves out what has no value") {
  const queue_entry e{.what = {.user = "ann", .words = {"true"}, .directory = "/"},
                      .submitted_ms = 5};
  CHECK(text_of(entry_json(3, e, "", {.brief = true}))
        == R"({"id":3,"user":"ann","kind":"command","state":"waiting","slots":1,)"
           R"("submitted":5,"command":["true"],"directory":"/"})");
  CHECK(entry_json(3, e, "", {}).size() == 23);
}

TEST_CASE("queue JSON: who has what of the machine") {
  queue_state state;
  REQUIRE(apply(state, entry_submitted{.id = 1, .what = {.user = "ann"}}, 0));
  REQUIRE(apply(state, entry_submitted{.id = 2, .what = {.user = "bob"}}, 0));
  REQUIRE(apply(state, entry_started{.id = 1, .slots = {"cpu:1"}}, 0));
  CHECK(
      text_of(machine_json(
          state, {.quota = 4},
          {{.name = "cpu:0", .device = "cpu"}, {.name = "cpu:1", .device = "cpu"}}, 3000))
      == R"({"slots":[{"slot":"cpu:0","device":"cpu","entry":null,"user":null},)"
         R"({"slot":"cpu:1","device":"cpu","entry":1,"user":"ann"}],)"
         R"("users":[{"user":"ann","running":1,"waiting":0,"slots":1,"quota":4,"used":3},)"
         R"({"user":"bob","running":0,"waiting":1,"slots":0,"quota":4,"used":0}]})");
}

TEST_CASE("queue JSON: values are counted before they are made") {
  std::string many = R"({"entries":[{"after":[1)";
  while (many.size() < 1'500'000)
    many += ",1";
  CHECK(parse_submissions(many + "]}]}", "ann").error().message
        == "what is sent has more than 500000 values, or nests too deep; send fewer "
           "entries at a time");
}
