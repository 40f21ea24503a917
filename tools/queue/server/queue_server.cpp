#include "tools/queue/server/queue_server.hpp"

#include "engine/report/base/json_fields.hpp"
#include "genome/base/text.hpp"
#include "genome/base/wall_clock.hpp"
#include "tools/http/answers.hpp"
#include "tools/queue/client/queue_addresses.hpp"
#include "tools/queue/head/queue_json.hpp"
#include "tools/queue/processes/entry_command.hpp"
#include "tools/queue/server/node_routes.hpp"
#include "tools/queue/server/openapi.hpp"
#include "tools/queue/server/queue_listener.hpp"
#include "tools/queue/server/queue_requests.hpp"
#include "tools/queue/server/replica_routes.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <mutex>

// Threads of the library take requests. A request that waits for a change keeps one, so
// only some may wait at a time; the others are answered at once.

namespace clade {

namespace {

constexpr std::size_t most_waiting = 64;
constexpr std::uint64_t longest_wait_ms = 20'000;

class http_queue_server final : public queue_server {
public:
  http_queue_server(const queue_server_params& params, queue_head& head,
                    queue_tokens& tokens, std::unique_ptr<http_server> server)
      : params_(params),
        head_(head),
        tokens_(tokens),
        server_(std::move(server)) {
    route();
  }

  ~http_queue_server() override { server_->stop(); }

  [[nodiscard]] std::string address() const override { return address_of(params_); }
  void start() override { server_->start(); }
  void stop() override { server_->stop(); }

private:
  using request = httplib::Request;
  using response = httplib::Response;

  void route();
  /// Whether it was answered without a look at the queue.
  bool answer_at_once(const request& req, response& res);
  static bool may_send(const queue_user& u, const request& req, response& res);
  void submit(const queue_user& u, const request& req, response& res);
  [[nodiscard]] std::vector<std::string> notes_on(const std::vector<entry_id>& ids,
                                                  const queue_user& u) const;
  void list(const queue_user& u, const request& req, response& res);
  void one(const queue_user& u, entry_id id, response& res);
  void cancel(const queue_user& u, entry_id id, response& res);
  void log(const queue_user& u, entry_id id, const request& req, response& res);
  void machine(response& res);
  void processes(const queue_user& u, entry_id id, response& res);
  [[nodiscard]] expected<void> check_theirs(const queue_user& u, entry_id id) const;
  [[nodiscard]] std::string reason_of(const queue_state& state, const queue_slots& slots,
                                      entry_id id) const;
  [[nodiscard]] std::string listed(const queue_user& u, const list_query& q) const;
  [[nodiscard]] std::uint64_t await(std::uint64_t seen, std::uint64_t wait_ms);

  /// A handler that knows who asks.
  template<class Handler>
  auto known(Handler handler) {
    return [this, handler](const request& req, response& res) {
      if (const auto u = let_in(tokens_, req, res, &head_))
        handler(*u, req, res);
    };
  }

  queue_server_params params_;
  documented_paths documented_;
  queue_head& head_;
  queue_tokens& tokens_;
  std::unique_ptr<http_server> server_;
  std::atomic<std::size_t> waiting_ = 0;
  std::mutex parsing_;
};

entry_id id_of(const httplib::Request& req) {
  return std::stoull(req.matches[1].str());
}

void http_queue_server::route() {
  server_->look_first(
      [this](const auto& req, auto& res) { return answer_at_once(req, res); });
  auto& server = server_->routes();
  server.Post("/v1/entries", known([this](const auto& u, const auto& req, auto& res) {
                submit(u, req, res);
              }));
  server.Get("/v1/entries", known([this](const auto& u, const auto& req, auto& res) {
               list(u, req, res);
             }));
  server.Get(R"(/v1/entries/(\d{1,18}))",
             known([this](const auto& u, const auto& req, auto& res) {
               one(u, id_of(req), res);
             }));
  server.Delete(R"(/v1/entries/(\d{1,18}))",
                known([this](const auto& u, const auto& req, auto& res) {
                  cancel(u, id_of(req), res);
                }));
  server.Get(R"(/v1/entries/(\d{1,18})/log)",
             known([this](const auto& u, const auto& req, auto& res) {
               log(u, id_of(req), req, res);
             }));
  server.Get("/v1/machine",
             known([this](const auto&, const auto&, auto& res) { machine(res); }));
  server.Get(R"(/v1/entries/(\d{1,18})/processes)",
             known([this](const auto& u, const auto& req, auto& res) {
               processes(u, id_of(req), res);
             }));
  add_node_routes(server, head_, [this](const request& req, response& res) {
    return let_in(tokens_, req, res, &head_);
  });
  server.Get("/v1/user", known([](const auto& u, const auto&, auto& res) {
               give_json(res, text_of({{"user", u.name}, {"role", to_text(u.role)}}));
             }));
  server.Get("/v1/openapi.json", known([](const auto&, const auto&, auto& res) {
               give_json(res, std::string(openapi_text()));
             }));
  add_replica_routes(server, head_, tokens_);
}

std::string joined_addresses(const std::filesystem::path& folder) {
  return joined(read_addresses(folder), " ");
}

// The page says nothing of the queue, so it is answered to everybody. For all else nobody
// learns without a token which addresses there are.
bool http_queue_server::answer_at_once(const request& req, response& res) {
  const bool reads = req.method == "GET" || req.method == "HEAD";
  if (reads && give_queue_page(req, res))
    return true;
  const auto known_user = let_in(tokens_, req, res, &head_);
  if (!known_user)
    return true;
  res.set_header(servers_header, joined_addresses(head_.folder()));
  const auto methods = documented_.methods_of(req.path);
  if (!methods.empty() && methods.find(reads ? "GET" : req.method) == std::string::npos) {
    res.set_header("Allow", methods);
    give_error(res, 405,
               fmt::format("{} has {} and no {}", req.path, methods, req.method));
    return true;
  }
  return req.method == "POST" && !may_send(*known_user, req, res);
}

/// Whether the user may send what is posted there, asked before it is read; else it is
/// answered.
bool http_queue_server::may_send(const queue_user& u, const request& req, response& res) {
  if (req.path == "/v1/servers")
    return may_follow(u, res);
  if (req.path.starts_with("/v1/nodes"))
    return may_report(u, res);
  if (req.path != "/v1/entries")
    return true;
  if (u.role != queue_role::user && u.role != queue_role::admin)
    give_error(res, 403, u.name + " may look, and not submit");
  else if (!req.get_header_value("Content-Type").starts_with("application/json"))
    give_error(res, 415, "entries are sent as application/json");
  else
    return true;
  return false;
}

void http_queue_server::submit(const queue_user& u, const request& req, response& res) {
  auto sent = [&] {
    // Values of JSON take many times the memory of their text.
    const std::lock_guard one_at_a_time(parsing_);
    return parse_submissions(req.body, u.name);
  }();
  const auto ids = std::move(sent).and_then(
      [this](std::vector<queue_submission> all) { return head_.submit(std::move(all)); });
  // The disk is full, or does not answer.
  if (!ids && ids.error().kind == error_kind::io)
    return give_error(res, 507, ids.error().message);
  give_json(res, ids.map([&](const std::vector<entry_id>& all) {
    ordered_json answer{{"ids", all}};
    if (const auto notes = notes_on(all, u); !notes.empty())
      answer["notes"] = notes;
    return text_of(answer);
  }));
}

std::vector<std::string> http_queue_server::notes_on(const std::vector<entry_id>& ids,
                                                     const queue_user& u) const {
  return head_.look([&](const queue_state& state, const queue_slots& slots) {
    std::vector<std::string> notes;
    for (const auto id : ids)
      if (auto note = note_on(state, head_.rules(), slots, id, u.entry); !note.empty())
        notes.push_back(std::move(note));
    return notes;
  });
}

std::string http_queue_server::reason_of(const queue_state& state,
                                         const queue_slots& slots, entry_id id) const {
  const auto& e = state.entries.at(id);
  if (const auto paused = slots.paused.find(id); paused != slots.paused.end())
    return paused->second;
  if (!is_waiting(e.state))
    return e.reason;
  return (e.reason.empty() ? "" : e.reason + "; ")
         + why_waiting(state, head_.rules(), slots, id);
}

// Text at once: one value of all entries takes several times as long.
std::string http_queue_server::listed(const queue_user& u, const list_query& q) const {
  return head_.look([&](const queue_state& state, const queue_slots& slots) {
    std::string all;
    std::uint64_t count = 0;
    const auto add = [&](entry_id id, const queue_entry& e) {
      all += (count++ == 0 ? "" : ",")
             + text_of(entry_json(id, e, reason_of(state, slots, id),
                                  {.readable = is_theirs(u, e), .brief = true}));
    };
    const auto wanted = [&](const queue_entry& e) {
      return q.state == "all" || q.state == to_text(e.state)
             || (q.state.empty() && e.state < entry_state::succeeded);
    };
    for (const auto id : q.ids)
      if (const auto found = state.entries.find(id); found != state.entries.end())
        add(id, found->second);
    if (!q.ids.empty())
      return all;
    for (auto at = state.entries.upper_bound(q.after);
         at != state.entries.end() && count < q.count; ++at)
      if (wanted(at->second))
        add(at->first, at->second);
    return all;
  });
}

std::uint64_t http_queue_server::await(std::uint64_t seen, std::uint64_t wait_ms) {
  const bool may = waiting_.fetch_add(1) < most_waiting;
  const auto change = head_.await_change(
      seen, std::chrono::milliseconds(may ? std::min(wait_ms, longest_wait_ms) : 0));
  waiting_.fetch_sub(1);
  return change;
}

void http_queue_server::list(const queue_user& u, const request& req, response& res) {
  const auto q = parse_list_query(req);
  if (!q)
    return give_error(res, 400, q.error().message);
  const auto change = await(q->seen, q->wait_ms);
  give_json(res,
            fmt::format("{{\"change\":{},\"entries\":[{}]}}", change, listed(u, *q)));
}

expected<void> http_queue_server::check_theirs(const queue_user& u, entry_id id) const {
  return head_.look([&](const queue_state& state) -> expected<void> {
    const auto found = state.entries.find(id);
    if (found == state.entries.end())
      return fail(error_kind::not_found, fmt::format("there is no #{}", id));
    if (!is_theirs(u, found->second))
      return fail(error_kind::refused,
                  fmt::format("{} is {}'s", numbered(id), found->second.what.user));
    return {};
  });
}

/// The status of `check_theirs`.
void give_not_theirs(httplib::Response& res, const error& e) {
  give_error(res, e.kind == error_kind::refused ? 403 : 404, e.message);
}

void http_queue_server::one(const queue_user& u, entry_id id, response& res) {
  auto found = head_.look([&](const queue_state& state, const queue_slots& slots) {
    const auto e = state.entries.find(id);
    return e == state.entries.end()
               ? ordered_json()
               : entry_json(id, e->second, reason_of(state, slots, id),
                            {.readable = is_theirs(u, e->second)});
  });
  if (found.is_null())
    return give_error(res, 404, fmt::format("there is no #{}", id));
  if (!found["command"].is_null()) {
    const auto folder = entry_folder(head_.folder(), id);
    found["folder"] = folder.string();
    found["run"] = some(run_of_entry(folder).string());
    // A run is where it has begun.
    const auto on =
        found["on"].empty() ? std::string() : found["on"][0].get<std::string>();
    if (const std::string machine(machine_of(on)); !machine.empty()) {
      const auto its = head_.folder_of_node(machine);
      found["folder"] = some(
          its.empty() ? its
                      : fmt::format("{}:{}", machine, entry_folder(its, id).string()));
      found["run"] = nullptr;
    }
  }
  give_json(res, text_of(found));
}

void http_queue_server::cancel(const queue_user& u, entry_id id, response& res) {
  if (const auto theirs = check_theirs(u, id); !theirs)
    return give_not_theirs(res, theirs.error());
  give_json(res, head_.cancel(id, u.name).map([&] {
    return text_of({{"cancelled", id}});
  }));
}

void http_queue_server::log(const queue_user& u, entry_id id, const request& req,
                            response& res) {
  if (const auto theirs = check_theirs(u, id); !theirs)
    return give_not_theirs(res, theirs.error());
  give_log(req, res, entry_folder(head_.folder(), id) / entry_log_name);
}

void http_queue_server::processes(const queue_user& u, entry_id id, response& res) {
  if (const auto theirs = check_theirs(u, id); !theirs)
    return give_not_theirs(res, theirs.error());
  const auto machine = head_.look([&](const queue_state& state) {
    const auto& slots = state.entries.at(id).slots;
    return slots.empty() ? std::string() : std::string(machine_of(slots.front()));
  });
  give_json(res, text_of({{"machine", some(machine)},
                          {"processes", json_of(head_.processes_of(id))}}));
}

void http_queue_server::machine(response& res) {
  auto all = head_.look([&](const queue_state& state, const queue_slots& slots) {
    auto seen = machine_json(state, head_.rules(), slots.all, unix_ms());
    seen["trouble"] = some(slots.trouble);
    return seen;
  });
  all["machines"] = queue_machines_json(head_.machines());
  all["version"] = head_.version();
  give_json(res, text_of(all));
}

} // namespace

expected<std::unique_ptr<queue_server>>
queue_server::listen(const queue_server_params& params, queue_head& head,
                     queue_tokens& tokens) {
  return listen_for(params).map([&](queue_listener l) -> std::unique_ptr<queue_server> {
    return std::make_unique<http_queue_server>(l.params, head, tokens,
                                               std::move(l.server));
  });
}

} // namespace clade
