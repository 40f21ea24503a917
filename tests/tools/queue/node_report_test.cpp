#include "tools/queue/machine/node_report.hpp"

#include <catch2/catch.hpp>

using namespace clade;

namespace {

node_report report_of(const std::string& name) {
  return {.node = name,
          .folder = "/work",
          .session = "0123456789abcdef",
          .first = true,
          .slots = {{"cpu:0", "cpu"}, {"cuda:1/0", "cuda"}},
          .holds = {{{.id = 3, .start = 2},
                     {{.pid = 7,
                       .parent = 6,
                       .cpu_seconds = 1.5,
                       .resident_bytes = 4096,
                       .command = "sleep 3"}}}},
          .ended = {{.entry = {.id = 4, .start = 1}, .wait_status = 256},
                    {.entry = {.id = 5, .start = 1}, .reason = "no such program"}},
          .server = "x",
          .seen = 9,
          .program = node_program{.version = "0.1.0", .unix_ms = 12}};
}

} // namespace

TEST_CASE("node report: it is read as it was written") {
  const auto r = report_of("rome");
  CHECK(decode_node_report(encode(r)) == r);
}

TEST_CASE("node report: orders are read as they were written") {
  const node_orders o{.server = "x",
                      .change = 12,
                      .orders = {{.entry = {.id = 3, .start = 2},
                                  .what = {.user = "ann",
                                           .words = {"python3", "train.py"},
                                           .directory = "/home/ann",
                                           .slots = 2,
                                           .once = "train 3"},
                                  .slots = {"cpu:0", "cpu:1"},
                                  .stopping = true,
                                  .token = "entry-3-abc",
                                  .log_bytes = 77}}};
  CHECK(decode_node_orders(encode(o)) == o);
}

TEST_CASE("node report: names that would be something else are refused") {
  for (const char* name : {"", "a b", "../x", "rome@bonn", ".x"}) {
    const auto read = decode_node_report(encode(report_of(name)));
    REQUIRE_FALSE(read);
    CHECK(read.error().kind == error_kind::invalid_input);
  }
  auto r = report_of("rome");
  r.slots.front().name = "cpu:0@bonn";
  CHECK_FALSE(decode_node_report(encode(r)));
  r.slots = {{"cpu:0", "cpu"}, {"cpu:0", "cpu"}};
  CHECK_FALSE(decode_node_report(encode(r)));
}

TEST_CASE("node report: any cut leaves an error") {
  const auto whole = encode(report_of("rome"));
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(decode_node_report({whole.data(), size}));
}
