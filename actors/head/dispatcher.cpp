#include "actors/head/dispatcher.hpp"

#include "engine/report/base/format.hpp"
#include "genome/codec/codec.hpp"

#include <algorithm>
#include <bit>

namespace clade {

namespace {

using namespace std::chrono_literals;

constexpr auto tick_interval = 250ms;

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
  stragglers_seen_at = now();
  for (auto& e : std::exchange(early, {}))
    e.answer.deliver(welcome(e.hello, e.link));
  self->delayed_send(self, tick_interval, tick{});
}

void dispatcher_state::take(const submission& message) {
  keep_weights_above = message.keep_weights_above;
  // The lightest of the first candidates goes first, so that there is soon a model to use.
  const auto lightest =
      std::ranges::min_element(message.candidates, {}, &candidate::work);
  const auto first =
      lightest == message.candidates.end() || std::exchange(has_begun, true)
          ? candidate_id(0)
          : lightest->id;
  for (const auto& c : message.candidates) {
    schedule.submit({.id = c.id,
                     .work = c.work * std::max(1U, c.epochs - c.start_epoch),
                     .needs = params.needs_of ? params.needs_of(c) : task_needs{},
                     .first = c.id == first,
                     .alone = params.alone});
    open.emplace(c.id, c);
  }
  serve();
}

// A test is offered to every slot: a slot that could train a candidate can test it.
void dispatcher_state::take(const assignment& test,
                            caf::typed_response_promise<test_answer> answer) {
  schedule.submit({.id = test.id, .alone = true});
  tests.emplace(test.id, open_test{test, std::move(answer)});
  serve();
}

taken dispatcher_state::take(const results& message) {
  auto node = nodes.find(message.node);
  if (node == nodes.end())
    return {}; // Its leases have ended. It keeps them and comes back as another node.
  schedule.hear(message.node, now());
  taken answer;
  evaluations accepted;
  for (const auto& r : message.batch)
    if (r.id.type == task_type::train ? take_training(message.node, r, accepted)
                                      : take_test(message.node, r))
      answer.ids.push_back(r.id);
  node->second.view.epoch = 0;
  node->second.at_work = now();
  if (!accepted.batch.empty())
    self->send(selector, std::move(accepted));
  serve();
  return answer;
}

// False, here and below: the result is not of our making. Its lease runs on, and ends.
bool dispatcher_state::take_training(node_id id, const result& r, evaluations& accepted) {
  if (!r.failure.empty()) {
    take_decline(id, r);
    return true;
  }
  auto decoded = decode_record(r.done);
  auto* evaluated = decoded ? std::get_if<candidate_evaluated>(&*decoded) : nullptr;
  if (evaluated == nullptr || evaluated->evaluated.id != r.id.candidate)
    return false;
  auto& e = evaluated->evaluated;
  const auto members =
      params.by_team ? schedule.members_of(r.id) : std::vector<node_id>();
  auto others = members;
  std::erase(others, id); // It hears by the answer.
  e.tries = schedule.accept(id, r.id, r.lease, e.seconds, r.peak_bytes);
  if (e.tries == 0)
    return true;
  auto& node = nodes.at(id);
  e.slot = node.view.name;
  open.erase(r.id.candidate);
  forget(others, r.id);
  record_stragglers(e, members);
  accepted.batch.push_back({std::move(e), whole_of(node, r, blob_part::weights),
                            whole_of(node, r, blob_part::checkpoint)});
  return true;
}

bool dispatcher_state::take_test(node_id id, const result& r) {
  test_answer answer{.measured = std::nullopt};
  if (!r.failure.empty()) {
    answer.measured = fail(error_kind::internal, r.failure);
  } else if (r.id.type == task_type::compose) {
    auto composed = decode_composition(r.done);
    if (!composed)
      return false;
    answer.composed = std::make_shared<const composition>(std::move(*composed));
  } else if (!r.done.empty()) {
    decoder d(r.done);
    answer.measured = decode_examination(d);
    if (!d.finish())
      return false;
  }
  // How long it took tells nothing of the trainings to come.
  if (schedule.accept(id, r.id, r.lease, -1) != 0)
    answer_test(r.id, std::move(answer));
  return true;
}

void dispatcher_state::answer_test(const task_id& id, test_answer answer) {
  if (auto test = tests.extract(id))
    test.mapped().answer.deliver(std::move(answer));
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

withdrawn dispatcher_state::take_back(const withdraw& message) {
  hands_back = hands_back || message.hands_back;
  auto answer = hands_back ? left_to_others() : withdrawn();
  for (const auto& id : schedule.withdraw()) {
    if (id.type != task_type::train) {
      answer_test(id, {fail(error_kind::refused, "the run stops")});
      continue;
    }
    open.erase(id.candidate);
    answer.ids.push_back(id.candidate);
  }
  left_out.insert(answer.ids.begin(), answer.ids.end());
  return answer;
}

/// Returns the candidates that only nodes of other machines have, which keep them for the
/// next head.
withdrawn dispatcher_state::left_to_others() const {
  withdrawn others;
  for (const auto& [id, c] : open) {
    const auto members = schedule.members_of({id, task_type::train});
    if (!members.empty() && !left_out.contains(id)
        && std::ranges::none_of(members, [&](node_id n) {
             return nodes.at(n).worker == params.local_worker;
           }))
      others.ids.push_back(id);
  }
  return others;
}

void dispatcher_state::hand_back() {
  if (auto back = take_back({.hands_back = true}); !back.ids.empty())
    self->send(selector, std::move(back));
}

void dispatcher_state::drop(const drop_candidate& message) {
  if (open.erase(message.id) == 0)
    return; // Its result is on its way to the selector.
  forget(schedule.drop(message.id), message.id);
  evaluation e{.id = message.id, .outcome = outcome::dropped};
  e.reason = "dropped by " + message.who;
  evaluations dropped;
  dropped.batch.push_back({std::move(e), {}});
  self->send(selector, std::move(dropped));
  serve();
}

void dispatcher_state::refuse_too_large() {
  evaluations refused;
  for (const auto& t : schedule.too_large()) {
    open.erase(t.id.candidate);
    evaluation e{.id = t.id.candidate, .outcome = outcome::out_of_memory};
    e.reason = "it needs about " + size_text(t.needs.memory_bytes)
               + ", more than any slot has; it was not tried";
    refused.batch.push_back({std::move(e), {}});
  }
  if (!refused.batch.empty())
    self->send(selector, std::move(refused));
}

void dispatcher_state::serve() {
  if (now() < serves_from)
    return;
  if (params.needs_of)
    refuse_too_large();
  if (hands_back)
    return hand_back();
  if (held)
    return;
  for (auto& out : schedule.hand_out(now()))
    give(out.node, out.leases);
  form_teams();
}

// The weights that a training starts from lie on the disk, so the archive is asked first.
// A lease that ended meanwhile is another's now.
void dispatcher_state::give(node_id id, const std::vector<lease>& leases) {
  fetch_lineages request;
  for (const auto& l : leases)
    if (l.id.type == task_type::train && open.at(l.id.candidate).start != 0)
      request.ids.push_back(l.id.candidate);
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
  forget_ended(id, found->second);
  assignments message;
  for (const auto& l : leases) {
    auto& a = message.batch.emplace_back(assign(l, std::move(starts[l.id.candidate])));
    for (const auto part : blob_parts)
      if (const auto& b = blob_of(a, part); !travels_whole(b))
        found->second.lent.emplace(part_key{l.number, part}, b);
  }
  found->second.at_work = now();
  self->send(found->second.link, std::move(message));
}

assignment dispatcher_state::assign(const lease& l, lineage start) const {
  if (l.id.type != task_type::train) {
    auto test = tests.at(l.id).what;
    test.lease = l.number;
    return test;
  }
  const auto& c = open.at(l.id.candidate);
  const bool at_end = c.fold.of != 0;
  const auto keep = !params.keep_checkpoints || at_end ? checkpointing::none
                    : c.epochs != 0                    ? checkpointing::whole
                                                       : checkpointing::weights;
  return {.id = l.id,
          .lease = l.number,
          .keep_weights_above = std::bit_cast<std::uint64_t>(
              at_end ? -std::numeric_limits<double>::infinity() : keep_weights_above),
          .genome = encode(*c.genome),
          .epochs = c.epochs,
          .start = c.start,
          .start_epoch = c.start_epoch,
          .fold = c.fold.index,
          .folds = c.fold.of,
          .time_ms = static_cast<std::uint64_t>(c.time.count()),
          .keep_checkpoint = static_cast<std::uint8_t>(keep),
          .before = ancestors_of(start),
          .checkpoint = std::move(start.checkpoint),
          .shares = params.by_team ? schedule.shares_of(l.id) : 0};
}

slots_view dispatcher_state::view() const {
  slots_view answer{
      .slots = {}, .failures = {}, .waiting = schedule.waiting(), .held = held};
  const auto resting = schedule.held();
  for (const auto& [id, node] : nodes) {
    auto& v = answer.slots.emplace_back(node.view);
    const auto leases = schedule.leases_of(id);
    if (!leases.empty() && leases.front().id.type == task_type::train)
      v.training = leases.front().id.candidate;
    if (const auto leader = resting.find(id); leader != resting.end())
      v.training = schedule.leases_of(leader->second).front().id.candidate;
    v.joined = rounded(now() - node.joined);
    v.heard = rounded(now() - schedule.heard(id));
    if (v.training == 0)
      v.team = {};
    v.at_work = v.training == 0 ? 0ms : rounded(now() - node.at_work);
    if (const auto until = schedule.quarantined(v.name, now()))
      v.quarantined = rounded(*until - now());
  }
  for (const auto& [slot, f] : failures)
    answer.failures.push_back(f);
  if (params.waits_for_all)
    find_awaited(answer, params.slots_with_servers, params.servers);
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
      [self](const team_passed& message) { self->state.show(message); },
      [self](const heartbeat& message) {
        self->state.schedule.hear(message.node, self->clock().now());
        return heartbeat_answer{self->state.nodes.contains(message.node)};
      },
      [self](const leaving& message) { return self->state.let_go(message); },
      [self](const fetch_chunk& request) {
        return self->delegate(self->state.params.source, request);
      },
      [self](const fetch_piece& request) { return self->state.lend(request); },
      [self](piece& part) { return self->state.take(std::move(part)); },
      [self](tick) {
        self->state.lose_silent();
        self->state.look_for_stragglers();
        self->state.serve();
        self->delayed_send(self, tick_interval, tick{});
      },
      [self](serve_nodes) { self->state.serve(); },
      [self](const selector_actor& selector) { self->state.begin(selector); },
      [self](const submission& message) { self->state.take(message); },
      [self](const withdraw& message) { return self->state.take_back(message); },
      [self](const hold_back& message) {
        self->state.held = message.on;
        self->state.serve();
      },
      [self](const drop_candidate& message) { self->state.drop(message); },
      [self](const test_request& request) {
        auto promise = self->make_response_promise<test_answer>();
        self->state.take(request.what, promise);
        return promise;
      },
      [self](const slots_query&) { return self->state.view(); },
      [self](const leave& message) { self->state.dismiss(message.reason); },
  };
}

} // namespace clade
