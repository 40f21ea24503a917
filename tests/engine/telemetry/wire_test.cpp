#include "engine/telemetry/picture/wire.hpp"
#include "tests/engine/telemetry/watched_run.hpp"

#include <rapidcheck.h>

using namespace clade;

TEST_CASE("wire: what is published is read as it was") {
  const auto run = test::watched_run("generational", 1);
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    const auto parts = encode(published{record_event{i + 1, 77, run.records[i]}});
    const auto read = decode_published(parts);
    REQUIRE(read);
    const auto& h = std::get<record_event>(*read);
    CHECK(h.sequence == i + 1);
    CHECK(h.unix_ms == 77);
    CHECK(encode(h.record) == encode(run.records[i]));
  }
  slots_view v;
  v.waiting = 3;
  v.slots.push_back({.name = "a/cpu:0", .label = "core", .ready = true, .training = 9});
  v.slots.back().at_work = std::chrono::milliseconds(1234);
  const auto slots = decode_published(encode(published{v}));
  REQUIRE(slots);
  CHECK(std::get<slots_view>(*slots).slots.at(0).at_work.count() == 1234);
  const auto epoch =
      decode_published(encode(published{epoch_event{"s", 4, 2, 15, {{"loss", 0.5}}}}));
  REQUIRE(epoch);
  CHECK(std::get<epoch_event>(*epoch).metrics.at(0).value == 0.5);
}

TEST_CASE("wire: any bytes are a message or an error") {
  rc::check("published", [](const std::vector<std::string>& parts) {
    std::ignore = decode_published(parts);
  });
  rc::check("requests and answers", [](const std::string& data) {
    std::ignore = decode_request(data);
    std::ignore = decode_snapshot(data);
    std::ignore = decode_candidate_answer(data);
    std::ignore = decode_rows_answer(data);
  });
}

TEST_CASE("wire: requests are read as they were") {
  for (const request& r : {request{snapshot_request{}}, request{candidate_request{7}},
                           request{rows_request{3, 100}}})
    CHECK(encode(*decode_request(encode(r))) == encode(r));
  CHECK_FALSE(decode_request(""));
  CHECK_FALSE(decode_request("snapshot"));
}
