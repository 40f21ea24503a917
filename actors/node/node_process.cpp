#include "actors/node/node_process.hpp"

#include "actors/messages/protocol.hpp"
#include "actors/transport/link/door.hpp"
#include "actors/transport/link/link.hpp"
#include "actors/transport/link/network_address.hpp"
#include "actors/transport/link/network_config.hpp"
#include "actors/transport/tls/tls_guard.hpp"
#include "actors/transport/tls/tls_probe.hpp"
#include "genome/base/utf8.hpp"
#include "genome/base/wakeable_queue.hpp"

#include <caf/io/all.hpp>
#include <caf/openssl/all.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <thread>
#include <tuple>

// A node process has one actor system for life, without network, where its node, trainer
// and evaluator live, and one for each connection, with a link in it. Each has another
// identity, so that a head takes a node that comes back for a new peer, though it may not
// know yet that the former connection is dead. This thread makes one connection after the
// other.

namespace clade {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds first_pause = 100ms;
constexpr std::chrono::milliseconds longest_pause = 2s;
constexpr auto answer_time = 5s;

/// An event that this thread hears of: a node that ends, or a link that does.
struct node_event {
  std::optional<node_end> end;
  std::string words;
};

using node_events = wakeable_queue<node_event>;

caf::behavior listen(caf::event_based_actor*, const std::shared_ptr<node_events>& queue) {
  return {[queue](int why, const std::string& words) {
            queue->put({static_cast<node_end>(why), words});
          },
          [queue](const std::string& reason) {
            queue->put({std::nullopt, reason});
          }};
}

/// A connection to a head, and the actor system that it is in.
class connection {
public:
  explicit connection(const key_files& keys) : config_(keys, 1), system_(config_) {}

  ~connection() {
    // CAF would wait until the peer has closed its side too, which one that cannot be
    // reached never does.
    shut_connections(peer_);
  }

  expected<void> join(const endpoint& where, const std::string& build,
                      const node_actor& node, const caf::actor& watcher) {
    peer_ = where.port;
    return find_dispatcher(system_, where, build, answer_time)
        .map([&](const dispatcher_actor& dispatcher) {
          system_.spawn(
              link_behavior,
              link_params{.dispatcher = dispatcher, .node = node, .watcher = watcher});
        });
  }

private:
  network_config config_;
  caf::actor_system system_;
  std::uint16_t peer_ = 0;
};

/// One try with each head.
expected<std::unique_ptr<connection>> connect(const node_process_params& params,
                                              const node_actor& node,
                                              const caf::actor& watcher) {
  error last{error_kind::refused, "no head is named"};
  for (const auto& where : params.heads) {
    const auto failed = [&](error e) {
      last = {e.kind,
              fmt::format("cannot join the run at {}: {}", to_text(where), e.message)};
    };
    if (auto there = probe_tls(where.host, where.port, params.keys, answer_time);
        !there) {
      failed(std::move(there).error());
      continue;
    }
    auto made = std::make_unique<connection>(params.keys);
    auto joined = made->join(where, params.build, node, watcher);
    if (joined)
      return made;
    failed(std::move(joined).error());
  }
  return tl::unexpected(std::move(last));
}

/// Whether trying again could help.
bool may_pass(const error& e) {
  return e.kind == error_kind::refused || e.kind == error_kind::io;
}

expected<node_end> live(caf::actor_system& home, const node_process_params& params) {
  const auto queue = std::make_shared<node_events>();
  auto own = params.node;
  own.address = address_towards(params.heads.front());
  own.open_to_teams = [&params](bool open) {
    return make_entrance(params.keys, open).map([&](auto made) {
      made->worker = params.node.worker;
      made->head = params.heads.front().host;
      return std::shared_ptr<team_entrance>(std::move(made));
    });
  };
  const auto watcher = home.spawn<caf::detached>(listen, queue);
  // Detached, so that it never runs on a thread of the system of whoever sends to it,
  // which a connection takes along when it ends.
  const auto node = home.spawn<caf::detached>(node_behavior, own, watcher,
                                              make_executors(spawn_executors));
  std::thread([node] {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    int taken = 0;
    sigwait(&signals, &taken);
    caf::anon_send(node, drain{});
  }).detach();
  std::unique_ptr<connection> now;
  auto missed_since = clock::now();
  auto pause = first_pause;
  for (;;) {
    auto joined = connect(params, node, watcher);
    if (!joined && !may_pass(joined.error()))
      return tl::unexpected(std::move(joined).error());
    if (joined)
      now = std::move(*joined);
    else if (clock::now() - missed_since >= params.give_up)
      return tl::unexpected(std::move(joined).error());
    const auto heard = queue->pop(joined ? std::chrono::milliseconds(24h) : pause);
    if (heard && heard->end) {
      if (*heard->end == node_end::refused)
        return fail(error_kind::conflict, heard->words);
      std::fprintf(stderr, "clade node %s: %s\n", params.node.slot.c_str(),
                   plain_line(heard->words).c_str());
      return *heard->end;
    }
    if (!joined) {
      pause = std::min(2 * pause, longest_pause);
      continue;
    }
    if (!heard)
      continue;
    std::fprintf(stderr, "clade node %s: %s\n", params.node.slot.c_str(),
                 plain_line(heard->words).c_str());
    now.reset();
    pause = first_pause;
    missed_since = clock::now();
    if (params.give_up.count() == 0)
      return node_end::connection;
  }
}

} // namespace

expected<node_end> run_node(const node_process_params& params) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  // Before there are other threads, which inherit it: one of them takes it by `sigwait`.
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  auto config = std::make_unique<caf::actor_system_config>();
  config->set("scheduler.policy", caf::atom("sharing"));
  config->set("scheduler.max-threads", 1);
  auto home = std::make_unique<caf::actor_system>(*config);
  auto result = live(*home, params);
  // The destructor would wait for a trainer that may be stuck; the process ends anyway.
  std::ignore = home.release();
  std::ignore = config.release();
  return result;
}

} // namespace clade
