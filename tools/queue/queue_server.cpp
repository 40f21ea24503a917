#include "tools/queue/queue_server.hpp"

#include "tools/queue/entry_command.hpp"
#include "tools/queue/queue_json.hpp"
#include "tools/queue/queue_listener.hpp"
#include "tools/queue/replica_routes.hpp"
#include "tools/views/web/web_answers.hpp"

#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <fstream>
#include <optional>

// Threads of the library take requests. A request that waits for a change keeps one, so
// only some may wait at a time; the others are answered at once.

namespace clade {

namespace {

constexpr std::size_t most_waiting = 64;
constexpr std::size_t threads = most_waiting + 32;
constexpr time_t patience_s = 5; ///< With one who sends nothing more.
constexpr std::size_t most_posted_bytes = 64 << 20;
constexpr std::uint64_t longest_wait_ms = 20'000;
constexpr std::size_t log_piece_bytes = 1 << 20;

/// What a request asks the list for.
struct list_query {
  std::string state;
  std::vector<entry_id> ids{};
  entry_id after = 0;
  std::uint64_t count = 0;
};

expected<std::vector<entry_id>> parse_ids(const std::string& text) {
  std::vector<entry_id> ids;
  for (const char *at = text.data(), *end = at + text.size(); at != end;) {
    entry_id id = 0;
    const auto [next, problem] = std::from_chars(at, end, id);
    if (problem != std::errc{} || (next != end && *next != ',') || next + 1 == end)
      return fail(error_kind::invalid_input, "ids are numbers with commas between them");
    ids.push_back(id);
    at = next == end ? end : next + 1;
  }
  return ids;
}

class http_queue_server final : public queue_server {
public:
  http_queue_server(const queue_server_params& params, queue_head& head,
                    queue_tokens& tokens, std::unique_ptr<httplib::Server> server)
      : params_(params),
        head_(head),
        tokens_(tokens),
        server_(std::move(server)) {
    route();
  }

  ~http_queue_server() override { stop(); }

  [[nodiscard]] std::string address() const override { return address_of(params_); }
  void start() override { answers_.emplace(*server_); }
  void stop() override { answers_.reset(); }

private:
  using request = httplib::Request;
  using response = httplib::Response;

  void route();
  void submit(const queue_user& u, const request& req, response& res);
  void list(const queue_user& u, const request& req, response& res);
  void one(const queue_user& u, entry_id id, response& res);
  void cancel(const queue_user& u, entry_id id, response& res);
  void log(const queue_user& u, entry_id id, const request& req, response& res);
  void machine(response& res);
  [[nodiscard]] expected<void> check_theirs(const queue_user& u, entry_id id) const;
  [[nodiscard]] std::string reason_of(const queue_state& state, entry_id id) const;
  [[nodiscard]] std::string listed(const queue_user& u, const list_query& q) const;
  [[nodiscard]] std::uint64_t await(std::uint64_t seen, std::uint64_t wait_ms);

  /// A handler that knows who asks.
  template<class Handler>
  auto known(Handler handler) {
    return [this, handler](const request& req, response& res) {
      if (const auto u = let_in(tokens_, req, res))
        handler(*u, req, res);
    };
  }

  queue_server_params params_;
  queue_head& head_;
  queue_tokens& tokens_;
  std::unique_ptr<httplib::Server> server_;
  std::atomic<std::size_t> waiting_ = 0;
  std::optional<answering> answers_;
};

entry_id id_of(const httplib::Request& req) {
  return std::stoull(req.matches[1].str());
}

void http_queue_server::route() {
  server_->new_task_queue = [] { return new httplib::ThreadPool(threads); };
  server_->set_keep_alive_timeout(1);
  server_->set_read_timeout(patience_s);
  server_->set_write_timeout(patience_s);
  server_->set_payload_max_length(most_posted_bytes);
  server_->set_tcp_nodelay(true);
  server_->set_default_headers(headers_of_all());
  server_->set_post_routing_handler(refuse_range_beyond);
  // Before anything of it is looked at, so that nobody learns which addresses there are.
  server_->set_pre_routing_handler([this](const request& req, response& res) {
    return let_in(tokens_, req, res) ? httplib::Server::HandlerResponse::Unhandled
                                     : httplib::Server::HandlerResponse::Handled;
  });
  server_->Post("/v1/entries", known([this](const auto& u, const auto& req, auto& res) {
                  submit(u, req, res);
                }));
  server_->Get("/v1/entries", known([this](const auto& u, const auto& req, auto& res) {
                 list(u, req, res);
               }));
  server_->Get(R"(/v1/entries/(\d{1,18}))",
               known([this](const auto& u, const auto& req, auto& res) {
                 one(u, id_of(req), res);
               }));
  server_->Delete(R"(/v1/entries/(\d{1,18}))",
                  known([this](const auto& u, const auto& req, auto& res) {
                    cancel(u, id_of(req), res);
                  }));
  server_->Get(R"(/v1/entries/(\d{1,18})/log)",
               known([this](const auto& u, const auto& req, auto& res) {
                 log(u, id_of(req), req, res);
               }));
  server_->Get("/v1/machine",
               known([this](const auto&, const auto&, auto& res) { machine(res); }));
  add_replica_routes(*server_, head_, tokens_);
  server_->set_error_handler([](const request& req, response& res) {
    if (res.body.empty() && !res.content_provider_)
      give_error(res, res.status, "there is no " + req.method + " " + req.path);
  });
}

void http_queue_server::submit(const queue_user& u, const request& req, response& res) {
  if (u.role == queue_role::viewer)
    return give_error(res, 403, u.name + " may look, and not submit");
  if (!req.get_header_value("Content-Type").starts_with("application/json"))
    return give_error(res, 415, "entries are sent as application/json");
  give_json(res, parse_submissions(req.body, u.name)
                     .and_then([this](std::vector<queue_submission> all) {
                       return head_.submit(std::move(all));
                     })
                     .map([](const std::vector<entry_id>& ids) {
                       return text_of({{"ids", ids}});
                     }));
}

std::string http_queue_server::reason_of(const queue_state& state, entry_id id) const {
  const auto& e = state.entries.at(id);
  if (!is_waiting(e.state))
    return e.reason;
  return (e.reason.empty() ? "" : e.reason + "; ")
         + why_waiting(state, head_.params().rules, head_.slots(), id);
}

// Text at once: one value of all entries takes several times as long.
std::string http_queue_server::listed(const queue_user& u, const list_query& q) const {
  return head_.look([&](const queue_state& state) {
    std::string all;
    std::uint64_t count = 0;
    const auto add = [&](entry_id id, const queue_entry& e) {
      all += (count++ == 0 ? "" : ",")
             + text_of(entry_json(id, e, reason_of(state, id),
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
  const auto seen = number_of(req, "seen", UINT64_MAX), wait = number_of(req, "wait", 0),
             after = number_of(req, "after", 0),
             count = number_of(req, "count", UINT64_MAX);
  const auto ids = parse_ids(req.get_param_value("ids"));
  for (const auto* number : {&seen, &wait, &after, &count})
    if (!*number)
      return give_error(res, 400, number->error().message);
  if (!ids)
    return give_error(res, 400, ids.error().message);
  const auto change = await(*seen, *wait);
  const auto entries = listed(u, {.state = req.get_param_value("state"),
                                  .ids = *ids,
                                  .after = *after,
                                  .count = *count});
  give_json(res,
            "{\"change\":" + std::to_string(change) + ",\"entries\":[" + entries + "]}");
}

expected<void> http_queue_server::check_theirs(const queue_user& u, entry_id id) const {
  return head_.look([&](const queue_state& state) -> expected<void> {
    const auto found = state.entries.find(id);
    if (found == state.entries.end())
      return fail(error_kind::not_found, "there is no #" + std::to_string(id));
    if (!is_theirs(u, found->second))
      return fail(error_kind::refused,
                  "#" + std::to_string(id) + " is " + found->second.what.user + "'s");
    return {};
  });
}

/// The status of `check_theirs`.
void give_refusal(httplib::Response& res, const error& e) {
  give_error(res, e.kind == error_kind::refused ? 403 : 404, e.message);
}

void http_queue_server::one(const queue_user& u, entry_id id, response& res) {
  auto found = head_.look([&](const queue_state& state) {
    const auto e = state.entries.find(id);
    return e == state.entries.end() ? ordered_json()
                                    : entry_json(id, e->second, reason_of(state, id),
                                                 {.readable = is_theirs(u, e->second)});
  });
  if (found.is_null())
    return give_error(res, 404, "there is no #" + std::to_string(id));
  if (!found["command"].is_null()) {
    const auto folder = entry_folder(head_.params().folder, id);
    found["folder"] = folder.string();
    found["run"] = some(run_of_entry(folder).string());
  }
  give_json(res, text_of(found));
}

void http_queue_server::cancel(const queue_user& u, entry_id id, response& res) {
  if (const auto theirs = check_theirs(u, id); !theirs)
    return give_refusal(res, theirs.error());
  give_json(res, head_.cancel(id, u.name).map([&] {
    return text_of({{"cancelled", id}});
  }));
}

void http_queue_server::log(const queue_user& u, entry_id id, const request& req,
                            response& res) {
  if (const auto theirs = check_theirs(u, id); !theirs)
    return give_refusal(res, theirs.error());
  const auto offset = number_of(req, "offset", 0);
  if (!offset)
    return give_error(res, 400, offset.error().message);
  std::ifstream in(entry_folder(head_.params().folder, id) / entry_log_name,
                   std::ios::binary);
  std::string text(log_piece_bytes, '\0');
  in.seekg(static_cast<std::streamoff>(*offset));
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  give(res, "application/octet-stream", std::move(text));
}

void http_queue_server::machine(response& res) {
  give_json(res, head_.look([&](const queue_state& state) {
    return expected<std::string>(
        text_of(machine_json(state, head_.params().rules, head_.slots())));
  }));
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
