#include "tests/support/raw_http.hpp"
#include "tests/tools/views/made_up_feed.hpp"
#include "tools/views/web/web_page.hpp"
#include "tools/views/web/web_server.hpp"
#include "tools/views/web/web_stream.hpp"

#include <catch2/catch.hpp>
#include <httplib.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <future>
#include <stdexcept>

using namespace clade;
using clade::test::made_up_feed;
using nlohmann::json;

namespace {

/// A page that is served by a thread of its own until the end of the test.
class served {
public:
  explicit served(made_up_feed& f, web_hooks hooks = {}) {
    std::promise<std::string> address;
    auto ready = address.get_future();
    REQUIRE(f.wait(std::chrono::milliseconds(0))); // A record from before is no news.
    server_ = std::async(std::launch::async, [this, &f, &address, hooks] {
      return serve_web(f, {.port = 0,
                           .ready = [&](const std::string& a) { address.set_value(a); },
                           .stop = stop_.get_token(),
                           .hooks = hooks});
    });
    const auto whole = ready.get();
    token = whole.substr(whole.find("token=") + 6);
    port = std::stoi(whole.substr(whole.rfind(':') + 1));
  }
  ~served() { stop_.request_stop(); }

  [[nodiscard]] httplib::Client client() const {
    httplib::Client c("127.0.0.1", port);
    c.set_read_timeout(60);
    c.set_default_headers({{"Cookie", "clade-" + std::to_string(port) + "=" + token}});
    return c;
  }
  [[nodiscard]] json get(const std::string& path) const {
    const auto answer = client().Get(path);
    REQUIRE(answer);
    CHECK(answer->status == 200);
    return json::parse(answer->body);
  }
  /// The status and the answer.
  [[nodiscard]] std::pair<int, json>
  post(const std::string& body, const std::string& type = "application/json") const {
    const auto answer = client().Post("/api/control", body, type);
    REQUIRE(answer);
    return {answer->status, json::parse(answer->body)};
  }
  [[nodiscard]] int status(const std::string& path) const {
    const auto answer = client().Get(path);
    REQUIRE(answer);
    return answer->status;
  }

  std::string token;
  int port = 0;

private:
  std::stop_source stop_;
  std::future<expected<void>> server_;
};

/// Reads events until `enough` says so of one of them, and returns them all.
template<class Enough>
std::vector<json> events_of(const served& s, Enough enough) {
  std::vector<json> found;
  std::string unread;
  auto reader = s.client();
  const auto got = reader.Get("/api/events", [&](const char* data, std::size_t size) {
    unread.append(data, size);
    for (auto end = unread.find("\n\n"); end != std::string::npos;
         end = unread.find("\n\n")) {
      const auto event = unread.substr(0, end);
      unread.erase(0, end + 2);
      const auto start = event.find("data: ");
      if (start == std::string::npos)
        continue;
      found.push_back(json::parse(event.substr(start + 6)));
      if (enough(found.back()))
        return false;
    }
    return true;
  });
  // By us, and by nobody else. Assertions are for the test's own thread.
  if (got.error() != httplib::Error::Canceled)
    throw std::runtime_error(httplib::to_string(got.error()));
  return found;
}

} // namespace

TEST_CASE("web: only whoever has the token gets anything") {
  made_up_feed f;
  const served s(f);
  httplib::Client stranger("127.0.0.1", s.port);
  for (const auto* path :
       {"/", "/?token=no", "/api/picture", "/api/events", "/nothing"}) {
    const auto answer = stranger.Get(path);
    REQUIRE(answer);
    CHECK(answer->status == 403);
    CHECK(json::parse(answer->body).contains("error"));
    CHECK_FALSE(answer->has_header("Set-Cookie"));
  }
  const auto answer = stranger.Get("/?token=" + s.token);
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(answer->get_header_value("Set-Cookie").starts_with("clade-"));
  CHECK(answer->get_header_value("Cache-Control") == "no-store");
  CHECK(answer->get_header_value("Content-Security-Policy")
            .starts_with("default-src 'none';"));
  CHECK(answer->body.find("<!doctype html>") == 0);
}

TEST_CASE("web: a Range reads nothing but the answer, whatever its status") {
  made_up_feed f;
  const served s(f);
  const auto port = static_cast<std::uint16_t>(s.port);
  const auto host = "Host: 127.0.0.1:" + std::to_string(port) + "\r\n";
  const auto cookie = "Cookie: clade-" + std::to_string(port) + "=" + s.token + "\r\n";
  for (const auto* line : {"GET /api/picture", "POST /api/picture", "GET /nothing",
                           "GET /api/curves?ids=x", "GET /api/model/1"})
    for (const auto& who : {cookie, std::string()})
      for (const auto& range : test::all_kinds_of_ranges()) {
        const test::raw_answer a(test::exchange_raw(
            port, std::string(line) + " HTTP/1.1\r\n" + host + who + "Range: " + range
                      + "\r\nConnection: close\r\n\r\n"));
        CAPTURE(line, range, a.headers, a.body);
        CHECK(a.status != 0);
        CHECK(a.status != 206);
        // The library refuses without a word a text that is no Range.
        CHECK((json::accept(a.body) || (a.status == 416 && a.body.empty())));
      }
}

TEST_CASE("web: a request under another name is refused, token or not") {
  made_up_feed f;
  const served s(f);
  const auto answer = s.client().Get("/api/picture", {{"Host", "evil.example"}});
  REQUIRE(answer);
  CHECK(answer->status == 403);
}

TEST_CASE("web: nothing but questions is answered") {
  made_up_feed f;
  const served s(f);
  auto c = s.client();
  const auto answer = c.Post("/api/picture", "", "text/plain");
  REQUIRE(answer);
  CHECK(answer->status == 405);
}

TEST_CASE("web: the picture, rows and single candidates are what the feed says") {
  made_up_feed f;
  f.evolve(3);
  const served s(f);
  const auto picture = s.get("/api/picture");
  CHECK(picture["name"] == "made up");
  CHECK(picture["showing"] == "live");
  CHECK(picture["generations"].size() == 3);
  CHECK(s.get("/api/candidates")["rows"].size() == 12);
  const auto rows = s.get("/api/candidates?after=4&count=3")["rows"];
  REQUIRE(rows.size() == 3);
  CHECK(rows[0][0] == 5);
  CHECK(s.get("/api/candidate/5")["parents"] == json::array({1, 2}));
  CHECK(s.status("/api/candidate/13") == 404);
  CHECK(s.status("/api/candidate/99999999999999999999") == 404);
  CHECK(s.status("/api/candidates?after=-1") == 400);
  CHECK(s.status("/api/candidates?count=many") == 400);
  CHECK(s.status("/nothing") == 404);
}

TEST_CASE("web: curves of several are answered at once, and nonsense is refused") {
  made_up_feed f;
  f.evolve(3);
  const served s(f);
  const auto curves = s.get("/api/curves?ids=1,5,12")["curves"];
  REQUIRE(curves.size() == 3);
  CHECK(curves[1]["id"] == 5);
  CHECK(curves[1]["curve"].size() == 2);
  CHECK(curves[1]["curve"][1]["metrics"] == curves[1]["metrics"]);
  CHECK(s.get("/api/curves?ids=")["curves"].empty());
  std::string many = "1";
  for (int i = 0; i < 50; ++i)
    many += ",1";
  for (const auto& ids : {std::string("1,,2"), std::string("x"), many})
    CHECK(s.status("/api/curves?ids=" + ids) == 400);
  CHECK(s.status("/api/curves?ids=99") == 404);
}

TEST_CASE("web: an order reaches the run with who gave it, and its refusal the page") {
  made_up_feed f;
  f.evolve(1);
  {
    web_hooks hooks{.user = "ada", .host = "box"};
    hooks.add = [](const std::string& run, candidate_id id) {
      return expected<instruction>({.kind = instruction_kind::add,
                                    .text = "#" + std::to_string(id) + " of " + run});
    };
    const served s(f, hooks);
    CHECK(s.get("/api/session")["orders"] == true);
    CHECK(s.get("/api/session")["notes"] == true);
    CHECK(s.post(R"({"order": "hold"})") == std::pair(200, json{{"recorded", "hold"}}));
    CHECK(s.post(R"({"order": "drop", "number": 3})").second["recorded"] == "drop #3");
    CHECK(s.post(R"({"order": "add", "run": "old", "id": 4})").second["recorded"]
          == "add #4 of old");
    CHECK(s.post(R"({"order": "extend", "number": 5})")
          == std::pair(400, json{{"error", "it is long enough"}}));
    for (const auto* nonsense :
         {"", "[]", R"({"order": 1})", R"({"order": "dance"})", R"({"order": "drop"})",
          R"({"order": "extend", "number": 0})", R"({"order": "extend", "number": -1})",
          R"({"order": "slots"})", R"({"order": "note"})",
          R"({"order": "tag", "text": 1})",
          R"({"order": "tag", "number": "3", "text": "good"})",
          R"({"order": "add", "run": 1, "id": 2})"}) {
      INFO(nonsense);
      CHECK(s.post(nonsense).first == 400);
    }
    CHECK(s.post(R"({"order": "tag", "number": 3, "text": "good"})").second["recorded"]
          == "tag #3 good");
    CHECK(s.post(R"({"order": "note", "text": "<b>"})").second["recorded"]
          == "note on the run");
    const auto huge = s.client().Post("/api/control",
                                      R"({"order": "note", "text": ")"
                                          + std::string(1 << 20, 'x') + R"("})",
                                      "application/json");
    REQUIRE(huge);
    CHECK(huge->status == 413);
    // The request is one that a form of another page could send.
    CHECK(s.post(R"({"order": "stop"})", "text/plain").first == 415);
  }
  REQUIRE(f.told().size() == 5);
  CHECK(f.told()[0].who == "ada");
  CHECK(to_text(f.told()[1].order) == "drop #3");
}

TEST_CASE("web: what is to be known of the champion is handed on") {
  made_up_feed f;
  f.evolve(1);
  web_hooks hooks;
  hooks.verdict = [] { return expected<std::string>(R"(["it is behind"])"); };
  const served s(f, hooks);
  CHECK(s.get("/api/verdict") == json{"it is behind"});
}

TEST_CASE("web: without a user no order is taken, and what is not at hand is said") {
  made_up_feed f;
  f.evolve(1);
  const served s(f);
  CHECK(s.get("/api/session")["orders"] == false);
  CHECK(s.get("/api/session")["notes"] == false);
  CHECK(s.get("/api/verdict").empty());
  CHECK(s.post(R"({"order": "stop"})").first == 403);
  CHECK(s.get("/api/runs").empty());
  CHECK(s.get("/api/candidate/1/costs")["problem"]
        == "the run's data are not at hand here");
  for (const auto* path : {"/api/run/digits", "/api/model/1"})
    CHECK(s.status(path) == 404);
}

TEST_CASE("web: costs, models and other runs are what the hooks say") {
  made_up_feed f;
  f.evolve(1);
  web_hooks hooks;
  hooks.costs = [](const genome& g) {
    return expected<std::string>("{\"nodes\":" + std::to_string(g.nodes.size()) + "}");
  };
  hooks.model = [](candidate_id id, const std::string& format) -> expected<web_file> {
    if (format != "onnx")
      return fail(error_kind::invalid_input, "no such format");
    return web_file{.name = std::to_string(id) + ".onnx", .bytes = std::string("\0x", 2)};
  };
  hooks.runs = [] { return expected<std::string>("[1]"); };
  hooks.run = [](const std::string& folder) {
    return expected<std::string>("\"" + folder + "\"");
  };
  const served s(f, hooks);
  CHECK(s.get("/api/candidate/2/costs")["nodes"] > 2);
  CHECK(s.status("/api/candidate/99/costs") == 404);
  CHECK(s.get("/api/runs") == json::array({1}));
  CHECK(s.get("/api/run/digits-1") == "digits-1");
  CHECK(s.status("/api/model/1?format=exe") == 400);
  const auto model = s.client().Get("/api/model/1?format=onnx");
  REQUIRE(model);
  CHECK(model->body == std::string("\0x", 2));
  CHECK(model->get_header_value("Content-Disposition")
        == "attachment; filename=\"1.onnx\"");
}

TEST_CASE("web: a reader gets the picture and then all news in their order") {
  made_up_feed f;
  f.evolve(1);
  const served s(f);
  bool asked = false;
  const auto events = events_of(s, [&](const json& e) {
    if (!std::exchange(asked, true)) {
      f.evolve(1);
      f.announce(restarted{});
    }
    return e["event"] == "restarted";
  });
  REQUIRE(events.size() > 3);
  CHECK(events[0]["event"] == "picture");
  CHECK(events[1]["event"] == "slots");
  auto sequence = events[0]["sequence"].get<std::uint64_t>();
  for (const auto& e : events)
    if (e.contains("sequence") && e["event"] != "picture") {
      CHECK(e["sequence"].get<std::uint64_t>() == ++sequence);
    }
  CHECK(sequence == 19); // Started; 4 born, 4 evaluated and closed, twice.
}

TEST_CASE("web: epochs of what is in training reach readers who come later") {
  made_up_feed f;
  const served s(f);
  f.happen(candidate_born{{.id = 1, .genome = std::make_shared<const genome>()}});
  for (std::uint32_t n = 1; n <= 3; ++n)
    f.announce(epoch_event{
        .slot = "cpu:0", .id = 1, .number = n, .of = 9, .metrics = {{"loss", 1.0 / n}}});
  const auto is_last = [](const json& e) {
    return e["event"] == "epoch" && e["epoch"] == 3;
  };
  events_of(s, is_last);
  const auto later = events_of(s, is_last);
  REQUIRE(later.size() == 5);
  CHECK(later[2]["epoch"] == 1);
  CHECK(later[4]["metrics"]["loss"] == Approx(1.0 / 3));
}

TEST_CASE("web: what it shows is told again when that changes") {
  made_up_feed f;
  const served s(f);
  bool asked = false;
  const auto events = events_of(s, [&](const json& e) {
    if (!std::exchange(asked, true))
      f.show(feed_state::finished);
    return e["event"] == "picture" && e["showing"] == "finished";
  });
  CHECK(events.front()["showing"] == "live");
}

TEST_CASE("web: many readers have their questions answered beside them") {
  made_up_feed f;
  const served s(f);
  std::vector<std::future<std::vector<json>>> readers;
  std::atomic<std::size_t> begun = 0;
  // One after the other: connections that nobody accepts yet have five places.
  for (std::size_t i = 0; i < web_streams::most; ++i) {
    readers.push_back(std::async(std::launch::async, [&] {
      return events_of(s, [&](const json& e) {
        if (e["event"] == "picture") {
          ++begun;
          begun.notify_one();
        }
        return e["event"] == "generation";
      });
    }));
    begun.wait(i);
  }
  CHECK(s.status("/api/picture") == 200);
  CHECK(s.status("/api/events") == 503);
  f.evolve(1);
  for (auto& reader : readers)
    CHECK(reader.get().back()["event"] == "generation");
}

TEST_CASE("web: a port in use is refused in a sentence") {
  made_up_feed f, other;
  const served s(f);
  const auto second = serve_web(other, {.port = static_cast<std::uint16_t>(s.port)});
  REQUIRE_FALSE(second);
  CHECK(second.error().kind == error_kind::conflict);
  CHECK(
      second.error().message
      == "port " + std::to_string(s.port)
             + " of 127.0.0.1 cannot be had: it is in use, or needs root; take another, "
               "or none for any that is free");
}

TEST_CASE("web stream: a reader that is too slow is cut, and others are not") {
  web_streams all;
  const auto slow = std::make_shared<web_stream>(),
             quick = std::make_shared<web_stream>();
  REQUIRE(all.add(slow));
  REQUIRE(all.add(quick));
  const std::string text(web_stream::most_bytes / 2, 'x');
  for (int i = 0; i < 3; ++i) {
    all.push(text);
    const auto got = quick->next(std::chrono::milliseconds(0));
    REQUIRE(got);
    CHECK(got->size() == text.size());
  }
  CHECK_FALSE(slow->next(std::chrono::milliseconds(0)));
  CHECK(slow->closed());
  CHECK_FALSE(quick->closed());
}

TEST_CASE("web stream: one text that is longer than the bound passes") {
  web_stream s;
  const std::string text(web_stream::most_bytes + 1, 'x');
  s.push(text);
  const auto got = s.next(std::chrono::milliseconds(0));
  REQUIRE(got);
  CHECK(got->size() == text.size());
}
