// A machine of a queue whose server the test plays: what the machine makes of its orders,
// and what it tells.
#include "tests/support/scratch.hpp"
#include "tools/queue/client/client_folder.hpp"
#include "tools/queue/client/queue_tokens.hpp"
#include "tools/queue/node/queue_node.hpp"
#include "tools/queue/processes/entry_command.hpp"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <httplib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <thread>

using namespace clade;
using namespace std::chrono_literals;

namespace {

node_orders::order order_of(entry_id id, const std::string& script) {
  return {.entry = {.id = id, .start = 1},
          .what = {.user = "ann", .words = {"/bin/sh", "-c", script}, .directory = "/"},
          .slots = {"cpu:0"},
          .token = "entry-" + std::to_string(id) + "-abc"};
}

/// A queue's server as its machines know it.
class played_server {
public:
  /// The reports that were told and the orders that are answered. Changes under the lock
  /// of `with`.
  struct state {
    node_orders orders{.server = "x", .change = 1};
    std::optional<node_orders> late{}; ///< The answer in place of `orders`.
    int refuses_with = 0; ///< The status that every question is answered with; 0: none.
    std::vector<node_report> reports{};
    std::size_t questions = 0; ///< Reports that asked to wait for a change.
    bool refuses_logs = false;
    std::size_t refused_logs = 0;
    std::map<entry_id, std::string> logs{};
    std::vector<node_report::end> ends{};
    std::vector<std::string> logs_at_ends{}; ///< The part of their logs that was there.
    bool over = false;
  };

  played_server() {
    server_.Post("/v1/nodes", [this](const auto& req, auto& res) { report(req, res); });
    server_.Post("/v1/nodes/log", [this](const auto& req, auto& res) { log(req, res); });
    port_ = server_.bind_to_any_port("127.0.0.1");
    serves_ = std::async(std::launch::async, [this] { server_.listen_after_bind(); });
    while (!server_.is_running())
      std::this_thread::yield();
  }
  ~played_server() {
    change([](state& s) { s.over = true; });
    server_.stop();
    serves_.wait();
  }

  [[nodiscard]] int port() const { return port_; }

  void change(const std::function<void(state&)>& how) {
    const std::lock_guard lock(mutex_);
    how(state_);
    changed_.notify_all();
  }

  /// Orders these, and nothing else any more.
  void order(std::vector<node_orders::order> all) {
    change([&](state& s) {
      s.orders.orders = std::move(all);
      ++s.orders.change;
    });
  }

  /// Waits until it is so, and returns what is there then.
  state await(const std::function<bool(const state&)>& is) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is(state_); });
    return state_;
  }

  node_report::end await_end(entry_id id) {
    const auto s = await([&](const state& now) {
      return std::ranges::any_of(now.ends,
                                 [&](const auto& e) { return e.entry.id == id; });
    });
    return *std::ranges::find_if(s.ends, [&](const auto& e) { return e.entry.id == id; });
  }

  void await_log(entry_id id, const std::string& text) {
    await([&](const state& s) {
      const auto found = s.logs.find(id);
      return found != s.logs.end() && found->second == text;
    });
  }

private:
  void report(const httplib::Request& req, httplib::Response& res) {
    const auto r = decode_node_report(req.body);
    if (!r) {
      res.status = 400;
      return;
    }
    const bool asks = req.get_param_value("wait") != "0";
    std::unique_lock lock(mutex_);
    if (state_.refuses_with == 0) {
      state_.reports.push_back(*r);
      state_.questions += asks ? 1 : 0;
      for (const auto& e : r->ended)
        take_end(e);
      changed_.notify_all();
    }
    if (asks)
      changed_.wait_for(
          lock, std::chrono::milliseconds(std::stoi(req.get_param_value("wait"))), [&] {
            return state_.over || state_.refuses_with != 0 || state_.late
                   || r->seen != state_.orders.change;
          });
    if (state_.refuses_with != 0) {
      res.status = state_.refuses_with;
      res.set_content(R"({"error":"the test says no"})", "application/json");
      return;
    }
    const auto body = encode(state_.late.value_or(state_.orders));
    res.set_content(std::string(body.data(), body.size()), "application/msgpack");
  }

  /// An entry that has ended is ordered no more. The lock is held.
  void take_end(const node_report::end& e) {
    state_.ends.push_back(e);
    state_.logs_at_ends.push_back(state_.logs[e.entry.id]);
    std::erase_if(state_.orders.orders,
                  [&](const auto& o) { return o.entry == e.entry; });
    ++state_.orders.change;
  }

  void log(const httplib::Request& req, httplib::Response& res) {
    const std::lock_guard lock(mutex_);
    auto& all = state_.logs[std::stoull(req.get_param_value("entry"))];
    if (state_.refuses_logs || state_.refuses_with != 0) {
      ++state_.refused_logs;
      res.status = 500;
    } else if (std::stoull(req.get_param_value("offset")) != all.size()) {
      res.status = 400;
    } else {
      all += req.body;
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  state state_;
  httplib::Server server_;
  int port_ = 0;
  std::future<void> serves_;
};

/// A pipe in the file system for which a script waits: `read line <$PIPE`.
class gate {
public:
  explicit gate(const scratch_folder& folder) : path_(folder.path() / "gate") {
    REQUIRE(::mkfifo(path_.c_str(), 0600) == 0);
  }
  [[nodiscard]] std::string waits() const { return "read line <" + path_.string(); }
  /// Blocks until the script is there.
  void open() const { write_text(path_, "\n"); }

private:
  std::filesystem::path path_;
};

/// A machine with two slots, and the thread that serves it.
class running_node {
public:
  explicit running_node(played_server& server,
                        std::optional<std::chrono::milliseconds> idle = {})
      : server_(server) {
    REQUIRE(write_private(folder_.path() / address_file_name,
                          "http://127.0.0.1:" + std::to_string(server.port()) + "\n"));
    REQUIRE(write_private(folder_.path() / token_file_name, std::string(64, 'a') + "\n"));
    auto made =
        queue_node::open({.queue = folder_.path(),
                          .name = "rome",
                          .processes = {.folder = folder_.path(),
                                        .program = "/bin/false",
                                        .slots = {{.name = "cpu:0", .device = "cpu"},
                                                  {.name = "cpu:1", .device = "cpu"}},
                                        .grace = 1h},
                          .version = "0.1.0",
                          .idle = idle});
    REQUIRE(made);
    node_ = std::move(*made);
    ended_ = std::async(std::launch::async, [this] {
      return node_->serve([this] { return stop_.load(); },
                          {.joined = [this] { joined_.set_value(); },
                           .troubled = [this](const auto& why) { trouble_.put(why); }});
    });
  }
  ~running_node() {
    if (ended_.valid()) {
      stop();
      server_.order({});
      ended_.wait();
    }
  }

  /// Tells it to leave. It hears of it with the next orders.
  void stop() {
    stop_ = true;
    server_.change([](auto& s) { ++s.orders.change; });
  }
  void await_joined() { joined_.get_future().wait(); }
  /// Returns what is wrong, once it is told.
  std::string await_trouble() { return trouble_.pop(24h).value(); }
  expected<void> await_end() { return ended_.get(); }
  /// Ends its processes, as the end of its own process would.
  void destroy() { node_.reset(); }

  [[nodiscard]] std::filesystem::path folder_of(entry_id id) const {
    return entry_folder(folder_.path(), id);
  }

private:
  played_server& server_;
  scratch_folder folder_;
  std::unique_ptr<queue_node> node_;
  std::atomic<bool> stop_ = false;
  std::promise<void> joined_;
  wakeable_queue<std::string> trouble_;
  std::future<expected<void>> ended_;
};

} // namespace

TEST_CASE("queue node: it says who it is, and that once what is first") {
  played_server server;
  running_node node(server);
  node.await_joined();
  const auto s = server.await([](const auto& now) { return now.questions >= 2; });
  const auto& first = s.reports.front();
  CHECK(first.first);
  CHECK(first.node == "rome");
  CHECK(first.program.value().version == "0.1.0");
  CHECK(first.slots == std::vector<queue_slot>{{"cpu:0", "cpu"}, {"cpu:1", "cpu"}});
  CHECK_FALSE(first.session.empty());
  CHECK_FALSE(s.reports.back().first);
  CHECK(s.reports.back().session == first.session);
}

TEST_CASE("queue node: all of a log is with the server before the end is told") {
  played_server server;
  running_node node(server);
  std::string all;
  for (int i = 0; i < 20'000; ++i)
    all += std::to_string(i) + "\n";
  server.change([](auto& s) { s.refuses_logs = true; });
  server.order({order_of(3, "i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done; "
                            "exit 5")});
  server.await([](const auto& s) { return s.refused_logs >= 3; });
  server.change([](auto& s) { s.refuses_logs = false; });
  const auto end = server.await_end(3);
  CHECK(end.entry == held_entry{.id = 3, .start = 1});
  CHECK(end.wait_status == W_EXITCODE(5, 0));
  const auto s = server.await([](const auto&) { return true; });
  REQUIRE(s.ends.size() == 1);
  CHECK((s.logs_at_ends[0] == all));
}

TEST_CASE("queue node: what is no longer ordered is ended, and what else runs goes on") {
  played_server server;
  running_node node(server);
  const scratch_folder folder;
  const gate g(folder);
  server.order({order_of(1, "echo one; exec sleep 100000"),
                order_of(2, "echo two; " + g.waits() + "; exit 4")});
  server.await_log(1, "one\n");
  server.await_log(2, "two\n");
  server.order({order_of(2, "")});
  CHECK(WTERMSIG(server.await_end(1).wait_status) == SIGKILL);
  g.open();
  CHECK(server.await_end(2).wait_status == W_EXITCODE(4, 0));
}

TEST_CASE("queue node: what is told to end may end by itself, or does not begin") {
  played_server server;
  running_node node(server);
  auto runs = order_of(1, "trap 'exit 7' TERM; echo ready; sleep 100000 & wait");
  server.order({runs});
  server.await_log(1, "ready\n");
  auto waits = order_of(2, "exit 0");
  runs.stopping = waits.stopping = true;
  server.order({runs, waits});
  CHECK(server.await_end(1).wait_status == W_EXITCODE(7, 0));
  CHECK(server.await_end(2).reason == "it had not begun");
}

TEST_CASE("queue node: what cannot be started has ended, with the reason") {
  played_server server;
  running_node node(server);
  auto nothing = order_of(1, "");
  nothing.what.words = {"/there/is/no/such/program"};
  server.order({nothing});
  CHECK(server.await_end(1).reason
        == "/there/is/no/such/program is no program that may be run");
}

TEST_CASE(
    "queue node: what runs outlasts a server that fails, and its end is told later") {
  played_server server;
  running_node node(server);
  const scratch_folder folder;
  const gate g(folder);
  server.order({order_of(1, "echo begun; " + g.waits() + "; echo ended; exit 6")});
  server.await_log(1, "begun\n");
  server.change([](auto& s) { s.refuses_with = 500; });
  CHECK_THAT(node.await_trouble(), Catch::Contains("the test says no"));
  g.open();
  server.change([](auto& s) { s.refuses_with = 0; });
  CHECK(server.await_end(1).wait_status == W_EXITCODE(6, 0));
  server.await_log(1, "begun\nended\n");
}

TEST_CASE("queue node: orders that are older than those it has are not obeyed") {
  played_server server;
  running_node node(server);
  const scratch_folder folder;
  const gate g(folder);
  const auto runs = order_of(1, "echo begun; " + g.waits() + "; exit 6");
  server.order({runs});
  server.await_log(1, "begun\n");
  server.change([](auto& s) { s.late = node_orders{.server = "x", .change = 1}; });
  // It has an answer before it asks again.
  const auto asked = server.await([](const auto&) { return true; }).questions;
  server.await([&](const auto& now) { return now.questions >= asked + 3; });
  server.change([](auto& s) { s.late.reset(); });
  g.open();
  CHECK(server.await_end(1).wait_status == W_EXITCODE(6, 0));
}

TEST_CASE("queue node: one for whose machine another process has come leaves at once") {
  played_server server;
  running_node node(server);
  server.order({order_of(1, "echo $$; exec sleep 100000")});
  const auto s = server.await([](const auto& now) { return now.logs.contains(1); });
  server.change([](auto& now) { now.refuses_with = 409; });
  const auto ended = node.await_end();
  REQUIRE_FALSE(ended);
  CHECK(ended.error().kind == error_kind::conflict);
  const auto process = std::stoi(s.logs.at(1));
  const unique_fd running(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  REQUIRE(running);
  node.destroy();
  pollfd end{.fd = running.get(), .events = POLLIN, .revents = 0};
  CHECK(::poll(&end, 1, -1) == 1);
}

TEST_CASE("queue node: one that is told to leave stays until what it has has ended") {
  played_server server;
  running_node node(server);
  auto runs = order_of(1, "trap 'exit 7' TERM; echo ready; sleep 100000 & wait");
  server.order({runs});
  server.await_log(1, "ready\n");
  node.stop();
  const auto leaving =
      server.await([](const auto& s) { return s.reports.back().leaves; });
  CHECK(leaving.ends.empty());
  runs.stopping = true;
  server.order({runs});
  CHECK(server.await_end(1).wait_status == W_EXITCODE(7, 0));
  server.order({});
  CHECK(node.await_end());
  // Nobody wants the folder of a command that has ended.
  CHECK_FALSE(std::filesystem::exists(node.folder_of(1)));
}

TEST_CASE("queue node: one that has had nothing to run for so long leaves by itself") {
  played_server server;
  running_node node(server, 0ms);
  CHECK(node.await_end());
  CHECK(server.await([](const auto&) { return true; }).reports.back().leaves);
}
