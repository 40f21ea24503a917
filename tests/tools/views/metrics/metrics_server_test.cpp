#include "tests/tools/views/still_feed.hpp"
#include "tests/tools/views/terminal/made_up_run.hpp"
#include "tools/views/metrics/metrics_server.hpp"

#include <catch2/catch.hpp>
#include <httplib.h>

#include <future>
#include <thread>

using namespace clade;
using namespace clade::test;

namespace {

/// A server of its own thread, as long as this lives.
class served {
public:
  served() {
    std::promise<std::string> ready;
    auto address = ready.get_future();
    thread_ = std::jthread([&](const std::stop_token& stop) {
      result_ = serve_metrics(
          feed_,
          {.ready = [&](const std::string& at) { ready.set_value(at); }, .stop = stop});
    });
    address_ = address.get();
  }

  [[nodiscard]] int port() const {
    const auto colon = address_.rfind(':');
    return std::stoi(address_.substr(colon + 1));
  }
  [[nodiscard]] const std::string& address() const { return address_; }
  httplib::Result get(const httplib::Headers& headers = {}) const {
    return httplib::Client("127.0.0.1", port()).Get("/metrics", headers);
  }
  expected<void> end() {
    thread_.request_stop();
    thread_.join();
    return result_;
  }

private:
  still_feed feed_{a_picture(), some_slots()};
  expected<void> result_;
  std::string address_;
  std::jthread thread_;
};

} // namespace

TEST_CASE("metrics server: it answers with the metrics, until it is stopped") {
  served s;
  CHECK(s.address() == "http://127.0.0.1:" + std::to_string(s.port()) + "/metrics");
  const auto answer = s.get();
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(answer->get_header_value("Content-Type")
        == "text/plain; version=0.0.4; charset=utf-8");
  CHECK_THAT(answer->body, Catch::Contains("clade_candidates_total 77\n"));
  CHECK(s.end());
  CHECK_FALSE(s.get());
}

TEST_CASE("metrics server: a page that reaches it under another name is refused") {
  served s;
  const auto answer = s.get({{"Host", "rebound.example:80"}});
  REQUIRE(answer);
  CHECK(answer->status == 403);
  CHECK(answer->body == R"({"error":"ask 127.0.0.1"})");
  const auto named = s.get({{"Host", "localhost:" + std::to_string(s.port())}});
  REQUIRE(named);
  CHECK(named->status == 200);
  CHECK(s.end());
}

TEST_CASE("metrics server: a port in use is named in a sentence") {
  served s;
  still_feed other{run_picture{}};
  const auto refused =
      serve_metrics(other, {.port = static_cast<std::uint16_t>(s.port())});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == error_kind::conflict);
  CHECK(refused.error().message
        == "port " + std::to_string(s.port())
               + " of 127.0.0.1 cannot be had; --metrics 0 takes any that is free");
  CHECK(s.end());
}
