#include "actors/head/dispatcher.hpp"

#include "engine/report/format.hpp"
#include "genome/codec.hpp"

#include <algorithm>
#include <bit>

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr auto tick_interval = 250ms;
constexpr int deadly_examinations = 3;

std::chrono::milliseconds rounded(caf::actor_clock::duration_type d) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(d);
}

} // namespace

void dispatcher_state::say(const std::string& words) const {
  if (params.say)
    params.say(words);
}

void dispatcher_state::begin(const selector_actor& told) {
  selector = told;
  serves_from = now() + params.wait_for_nodes;
  for (auto& e : std::exchange(early, {}))
    e.answer.deliver(welcome(e.hello, e.link));
  self->delayed_send(self, tick_interval, tick{});
}

void dispatcher_state::take(const submission& message) {
  keep_weights_above = message.keep_weights_above;
  for (const auto& c : message.candidates) {
    schedule.submit({.id = c.id,
                     .work = c.work * std::max(1U, c.epochs - c.start_epoch),
                     .memory_bytes = params.memory_of ? params.memory_of(c) : 0});
    open.emplace(c.id, c);
  }
  serve();
}

taken dispatcher_state::take(const results& message) {
  auto node = nodes.find(message.node);
  if (node == nodes.end())
    return {}; // Its leases have ended. It keeps them and comes back as another node.
  schedule.hear(message.node, now());
  taken answer;
  evaluations accepted;
  for (const auto& r : message.batch) {
    auto decoded = decode_record(r.evaluation);
    auto* evaluated = decoded ? std::get_if<candidate_evaluated>(&*decoded) : nullptr;
    if (evaluated == nullptr || evaluated->evaluated.id != r.id)
      continue; // Not of our making: the lease runs on, and ends.
    answer.ids.push_back(r.id);
    auto& e = evaluated->evaluated;
    e.tries = schedule.accept(message.node, r.id, r.lease, e.seconds, r.peak_bytes);
    if (e.tries == 0)
      continue;
    e.slot = node->second.view.name;
    open.erase(r.id);
    accepted.batch.push_back({std::move(e), r.weights, r.checkpoint});
  }
  node->second.view.epoch = 0;
  node->second.at_work = now();
  if (!accepted.batch.empty())
    self->send(selector, std::move(accepted));
  serve();
  return answer;
}

void dispatcher_state::show(const epoch_passed& message) {
  auto found = nodes.find(message.node);
  if (found == nodes.end())
    return;
  schedule.hear(message.node, now());
  decoder d(message.passed);
  auto passed = decode_epoch(d);
  if (!d.finish())
    return; // Not of our making, and of no consequence.
  auto& view = found->second.view;
  view.epoch = passed.number;
  view.epochs = message.of;
  if (params.show)
    params.show({.slot = view.name,
                 .id = message.id,
                 .number = passed.number,
                 .of = message.of,
                 .metrics = std::move(passed.metrics)});
}

withdrawn dispatcher_state::take_back() {
  withdrawn answer{schedule.withdraw()};
  for (auto id : answer.ids)
    open.erase(id);
  return answer;
}

void dispatcher_state::drop(const drop_candidate& message) {
  if (open.erase(message.id) == 0)
    return; // Its result is on its way to the selector.
  if (const auto node = schedule.drop(message.id))
    if (const auto& link = nodes.at(*node).link)
      self->send(link, taken{{message.id}});
  evaluation e{.id = message.id, .outcome = outcome::dropped};
  e.reason = "dropped by " + message.who;
  evaluations dropped;
  dropped.batch.push_back({std::move(e), {}});
  self->send(selector, std::move(dropped));
  serve();
}

void dispatcher_state::refuse_too_large() {
  evaluations refused;
  for (const auto& d : schedule.too_large()) {
    open.erase(d.id);
    evaluation e{.id = d.id, .outcome = outcome::out_of_memory};
    e.reason = "it needs about " + size_text(d.memory_bytes)
               + ", more than any slot has; it was not tried";
    refused.batch.push_back({std::move(e), {}});
  }
  if (!refused.batch.empty())
    self->send(selector, std::move(refused));
}

void dispatcher_state::serve() {
  if (now() < serves_from)
    return;
  if (params.memory_of)
    refuse_too_large();
  if (held)
    return;
  for (auto& out : schedule.hand_out(now()))
    give(out.node, out.leases);
  examine_next();
}

// What a training starts from lies on the disk, so the archive is asked first. A lease
// that ended meanwhile is another's now.
void dispatcher_state::give(node_id id, const std::vector<lease>& leases) {
  fetch_lineages request;
  for (const auto& l : leases)
    if (open.at(l.id).start != 0)
      request.ids.push_back(l.id);
  if (request.ids.empty() || !params.archive)
    return give(id, leases, {});
  self->request(params.archive, caf::infinite, request)
      .then([this, id, leases, ids = request.ids](fetched_lineages& fetched) {
        if (!fetched.found)
          return self->send(selector, run_failure{fetched.found.error()});
        std::map<candidate_id, lineage> starts;
        for (std::size_t i = 0; i < ids.size(); ++i)
          starts.emplace(ids[i], std::move((*fetched.found)[i]));
        auto held_still = leases;
        const auto holds = schedule.leases_of(id);
        std::erase_if(held_still, [&](const lease& l) {
          return std::ranges::find(holds, l) == holds.end();
        });
        give(id, held_still, std::move(starts));
      });
}

void dispatcher_state::give(node_id id, const std::vector<lease>& leases,
                            std::map<candidate_id, lineage> starts) {
  const auto found = nodes.find(id);
  if (found == nodes.end() || !found->second.link || leases.empty())
    return; // It comes back without them, and they are handed out again.
  assignments message;
  for (const auto& l : leases)
    message.batch.push_back(assign(l, std::move(starts[l.id])));
  found->second.at_work = now();
  self->send(found->second.link, std::move(message));
}

assignment dispatcher_state::assign(const lease& l, lineage start) const {
  const auto& c = open.at(l.id);
  const auto keep = !params.keep_checkpoints ? checkpointing::none
                    : c.epochs != 0          ? checkpointing::whole
                                             : checkpointing::weights;
  return {.id = l.id,
          .lease = l.number,
          .keep_weights_above = std::bit_cast<std::uint64_t>(keep_weights_above),
          .genome = encode(*c.genome),
          .epochs = c.epochs,
          .start = c.start,
          .start_epoch = c.start_epoch,
          .keep_checkpoint = static_cast<std::uint8_t>(keep),
          .before = ancestors_of(start),
          .checkpoint = std::move(start.checkpoint)};
}

void dispatcher_state::examine_next() {
  if (schedule.leased() != 0 || schedule.waiting() != 0)
    return;
  for (auto& [id, node] : nodes) {
    if (examinations.empty())
      return;
    if (!node.view.ready || !node.link || node.examining)
      continue;
    node.examining = std::move(examinations.front());
    examinations.pop_front();
    // An error is a lost connection, of which CAF tells by `close`, and only there for
    // certain.
    self->request(node.link, caf::infinite, node.examining->request)
        .then([this, id = id](const examined& e) { end_examination(id, e); },
              [](caf::error&) {});
  }
}

void dispatcher_state::end_examination(node_id id, const examined& answer) {
  const auto found = nodes.find(id);
  if (found == nodes.end() || !found->second.examining)
    return; // Another node has it meanwhile.
  auto done = std::exchange(found->second.examining, std::nullopt);
  done->answer.deliver(answer);
  serve();
}

// Of a node whose connection ended. Whether its process did, and by what, its worker may
// tell later.
void dispatcher_state::examine_elsewhere(node_entry& node) {
  auto lost = std::exchange(node.examining, std::nullopt);
  if (!lost)
    return;
  say(node.view.name + " lost an examination, which is made again");
  lost->lost_with.push_back(node.session);
  examinations.push_back(std::move(*lost));
}

template<class Visit>
void dispatcher_state::visit_examinations(Visit visit) {
  for (auto& waiting : examinations)
    visit(waiting);
  for (auto& [id, node] : nodes)
    if (node.examining)
      visit(*node.examining);
}

// The process of this session is there, or it is known how it ended.
void dispatcher_state::judge_examination(std::uint64_t session, bool own_doing) {
  visit_examinations([&](pending_examination& e) {
    if (std::erase(e.lost_with, session) != 0 && own_doing)
      ++e.deaths;
  });
  std::erase_if(examinations, [](pending_examination& e) {
    if (e.deaths < deadly_examinations)
      return false;
    e.answer.deliver(examined{
        "the node process ended in each of " + std::to_string(e.deaths) + " tries", {}});
    return true;
  });
}

slots_view dispatcher_state::view() const {
  slots_view answer{.slots = {}, .failures = {}, .waiting = schedule.waiting()};
  for (const auto& [id, node] : nodes) {
    auto& v = answer.slots.emplace_back(node.view);
    const auto leases = schedule.leases_of(id);
    v.training = leases.empty() ? 0 : leases.front().id;
    v.joined = rounded(now() - node.joined);
    v.heard = rounded(now() - schedule.heard(id));
    v.at_work = v.training == 0 ? 0ms : rounded(now() - node.at_work);
    if (const auto until = schedule.quarantined(v.name, now()))
      v.quarantined = rounded(*until - now());
  }
  for (const auto& [slot, f] : failures)
    answer.failures.push_back(f);
  return answer;
}

void dispatcher_state::dismiss(const std::string& reason) {
  over = true;
  for (auto& [id, node] : nodes)
    if (node.link)
      self->send(node.link, leave{reason});
}

dispatcher_actor::behavior_type
dispatcher_behavior(dispatcher_actor::stateful_pointer<dispatcher_state> self,
                    dispatcher_params params) {
  auto& s = self->state;
  s.self = self;
  s.schedule = schedule(params.schedule);
  s.params = std::move(params);
  self->set_down_handler([self](caf::down_msg& down) { self->state.close(down.source); });
  return {
      [self](const node_hello& hello, const link_actor& link) {
        return self->state.greet(hello, link);
      },
      [self](const node_ready& message) { self->state.ready(message); },
      [self](const results& message) { return self->state.take(message); },
      [self](const epoch_passed& message) { self->state.show(message); },
      [self](const heartbeat& message) {
        self->state.schedule.hear(message.node, self->clock().now());
        return heartbeat_answer{self->state.nodes.contains(message.node)};
      },
      [self](const leaving& message) { return self->state.let_go(message); },
      [self](const fetch_chunk& request) {
        return self->delegate(self->state.params.source, request);
      },
      [self](tick) {
        self->state.lose_silent();
        self->state.serve();
        self->delayed_send(self, tick_interval, tick{});
      },
      [self](serve_nodes) { self->state.serve(); },
      [self](const selector_actor& selector) { self->state.begin(selector); },
      [self](const submission& message) { self->state.take(message); },
      [self](const withdraw&) { return self->state.take_back(); },
      [self](const hold_back& message) {
        self->state.held = message.on;
        self->state.serve();
      },
      [self](const drop_candidate& message) { self->state.drop(message); },
      [self](const examine& request) {
        auto promise = self->make_response_promise<examined>();
        self->state.examinations.push_back({.request = request, .answer = promise});
        self->state.serve();
        return promise;
      },
      [self](const slots_query&) { return self->state.view(); },
      [self](const leave& message) { self->state.dismiss(message.reason); },
  };
}

} // namespace clade
