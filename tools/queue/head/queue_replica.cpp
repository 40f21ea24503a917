// One question after another: the events behind ours, for which the server waits a moment
// where there are none, and then the tokens. Events are stored before the next question, so
// what it asks for says what it has.
#include "tools/queue/head/queue_replica.hpp"

#include "tools/queue/client/queue_tokens.hpp"
#include "tools/queue/head/event_batch.hpp"

#include <fmt/format.h>

#include <thread>

namespace clade {

namespace {

constexpr auto pause = std::chrono::milliseconds(500);

/// Whether the server may answer again, and then as if nothing had been.
bool is_silence(const error& e) {
  return e.kind == error_kind::not_found || e.kind == error_kind::io;
}

} // namespace

queue_replica::queue_replica(queue_replica_params params, queue_store store,
                             queue_client client, queue_state state)
    : params_(std::move(params)),
      store_(std::move(store)),
      client_(std::move(client)),
      state_(std::move(state)) {}

expected<queue_replica> queue_replica::open(queue_replica_params params,
                                            queue_store store) {
  auto client = queue_client::open(params.source, {.impatient = true});
  if (!client)
    return tl::unexpected(client.error());
  auto state = store.load(params.half_life);
  if (!state)
    return tl::unexpected(state.error());
  const auto token = read_token(params.source);
  if (!token)
    return tl::unexpected(token.error());
  queue_replica made(std::move(params), std::move(store), std::move(*client),
                     std::move(*state));
  // Who does not let us in says so here, and one that never answered is not taken over.
  const auto introduced =
      made.client_.post("/v1/servers", {{"address", made.params_.address}}, any_answer)
          .and_then([&](const ordered_json&) { return made.ask(); })
          .and_then([&](const std::optional<error>& silent) {
            return silent ? tl::unexpected(*silent) : expected<void>();
          })
          .and_then([&] {
            return write_private(made.params_.folder / token_file_name, *token + "\n");
          });
  if (introduced)
    return made;
  auto why = introduced.error();
  if (is_silence(why))
    why.message +=
        "; to serve what the replica has: clade serve " + made.params_.folder.string();
  return tl::unexpected(why);
}

expected<void> queue_replica::check_same(std::uint64_t last,
                                         std::uint64_t checksum) const {
  if (last > store_.size() || (last == store_.size() && checksum == store_.checksum()))
    return {};
  return fail(
      error_kind::corrupt,
      fmt::format(
          "they differ in event {}; if that is the queue, follow it in another folder",
          last));
}

expected<std::optional<error>> queue_replica::ask() {
  const auto text =
      client_
          .get_bytes(fmt::format("/v1/events?after={}&wait={}", store_.size(),
                                 client_.longest_wait_ms()))
          .and_then([](const std::string& t) { return decode_event_batch(t); });
  const auto tokens = client_.get_bytes("/v1/tokens");
  if (!text || !tokens) {
    const auto& why = text ? tokens.error() : text.error();
    return is_silence(why) ? expected<std::optional<error>>(why) : tl::unexpected(why);
  }
  last_ = text->last;
  return check_same(text->last, text->checksum)
      .and_then([&] { return store_.append_copies(text->events, state_); })
      .and_then([&] { return keep_tokens(*tokens); })
      .map([] { return std::optional<error>(); });
}

/// Only where they have changed.
expected<void> queue_replica::keep_tokens(const std::string& text) {
  if (text == tokens_)
    return {};
  return write_private(params_.folder / tokens_file_name, text).map([&] {
    tokens_ = text;
  });
}

ordered_json queue_replica::answer() const {
  const auto ago =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - answered_);
  return {{"error", "this is a replica, which follows " + client_.address()},
          {"role", "follows"},
          {"of", client_.address()},
          {"events", store_.size()},
          {"behind", last_ - store_.size()},
          {"answered_ms_ago", ago.count()}};
}

std::string queue_replica::line() const {
  const auto has = fmt::format("{} of {}", store_.size(), last_);
  return silent_ ? fmt::format("{}; the replica has {} events", silent_->message, has)
                 : fmt::format("follows {}: has {} events", client_.address(), has);
}

expected<bool> queue_replica::follow(const std::function<bool()>& stop,
                                     const listener& told) {
  answered_ = clock::now();
  bool has_all = false;
  told(answer(), line());
  while (!stop()) {
    auto silent = ask();
    if (!silent)
      return fail(silent.error().kind,
                  fmt::format("{} does not follow {} any more: {}",
                              params_.folder.string(), client_.address(),
                              silent.error().message));
    const bool was_silent = silent_.has_value(), had_all = has_all;
    silent_ = std::move(*silent);
    if (!silent_) {
      answered_ = clock::now();
      has_all = last_ == store_.size();
    }
    const bool is_news = was_silent != silent_.has_value() || (has_all && !had_all);
    told(answer(), is_news ? line() : "");
    if (!silent_)
      continue;
    if (params_.take_over.count() > 0 && clock::now() - answered_ >= params_.take_over)
      return true;
    std::this_thread::sleep_for(pause);
  }
  return false;
}

} // namespace clade
