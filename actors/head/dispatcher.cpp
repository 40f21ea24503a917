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
  const auto& born = message.candidates;
  const bool first = !born.empty() && !std::exchange(has_begun, true);
  for (const auto& t : tasks_of(born, params.tasks, /*lightest_first=*/first))
    schedule.submit(t);
  for (const auto& c : born) {
    open.emplace(c.id, c);
    if (c.fold.of != 0 && c.time.count() > 0 && !params.by_team)
      finals.submit(c.id, c.time, now());
  }
  serve();
}

// A test is offered to every slot: a slot that could train a candidate can test it. Models
// that are put together on the way would else wait until no candidate does.
void dispatcher_state::take(const assignment& test,
                            caf::typed_response_promise<test_answer> answer) {
  schedule.submit(
      {.id = test.id, .first = test.id.type == task_type::compose, .alone = true});
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
    if (take(message.node, r, accepted))
      answer.ids.push_back(r.id);
  node->second.view.epoch = 0;
  node->second.at_work = now();
  if (!accepted.batch.empty())
    self->send(selector, std::move(accepted));
  serve();
  return answer;
}

// False, here and below: the result is not of our making. Its lease runs on, and ends.
bool dispatcher_state::take(node_id id, const result& r, evaluations& accepted) {
  const bool training = r.id.type == task_type::train;
  if (const auto* failure = std::get_if<task_failure>(&r.what)) {
    if (training)
      take_decline(id, r, failure->why);
    else
      take_answer(id, r, {.measured = fail(error_kind::internal, failure->why)});
    return true;
  }
  if (const auto* trained = std::get_if<training_result>(&r.what))
    return training && take_training(id, r, *trained, accepted);
  test_answer answer{.measured = std::nullopt};
  if (const auto* made = std::get_if<composition_result>(&r.what)) {
    auto composed = decode_composition(made->composed);
    if (r.id.type != task_type::compose || !composed)
      return false;
    answer.composed = std::make_shared<const composition>(std::move(*composed));
  } else if (const auto& examined = std::get<test_result>(r.what).examined;
             r.id.type != task_type::test) {
    return false;
  } else if (!examined.empty()) {
    decoder d(examined);
    answer.measured = decode_examination(d);
    if (!d.finish())
      return false;
  }
  take_answer(id, r, std::move(answer));
  return true;
}

bool dispatcher_state::take_training(node_id id, const result& r,
                                     const training_result& trained,
                                     evaluations& accepted) {
  auto decoded = decode_record(trained.evaluated);
  auto* evaluated = decoded ? std::get_if<candidate_evaluated>(&*decoded) : nullptr;
  if (evaluated == nullptr || evaluated->evaluated.id != r.id.candidate)
    return false;
  auto& e = evaluated->evaluated;
  const auto members =
      params.by_team ? schedule.members_of(r.id) : std::vector<node_id>();
  auto others = members;
  std::erase(others, id); // It hears by the answer.
  e.tries = schedule.accept(id, r.id, r.lease, e.seconds, trained.peak_bytes);
  if (e.tries == 0)
    return true;
  auto& node = nodes.at(id);
  e.slot = node.view.name;
  end(r.id.candidate);
  forget(others, r.id);
  record_stragglers(e, members);
  accepted.batch.push_back({std::move(e), whole_of(node, r, blob_part::weights),
                            whole_of(node, r, blob_part::checkpoint)});
  return true;
}

void dispatcher_state::take_answer(node_id id, const result& r, test_answer answer) {
  // How long it took tells nothing of the trainings to come.
  if (schedule.accept(id, r.id, r.lease, -1) != 0)
    answer_test(r.id, std::move(answer));
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
    end(id.candidate);
    answer.ids.push_back(id.candidate);
  }
  left_out.insert(answer.ids.begin(), answer.ids.end());
  return answer;
}

/// Returns the candidates that only nodes of other machines have, which keep them for the
/// next head.
withdrawn dispatcher_state::left_to_others() const {
  std::vector<candidate_id> ids;
  for (const auto& [id, c] : open)
    if (!left_out.contains(id))
      ids.push_back(id);
  return {only_elsewhere(ids, schedule, [&](node_id n) {
    return nodes.at(n).worker == params.local_worker;
  })};
}

void dispatcher_state::hand_back() {
  if (auto back = take_back({.hands_back = true}); !back.ids.empty())
    self->send(selector, std::move(back));
}

bool dispatcher_state::end(candidate_id id) {
  finals.end(id);
  return open.erase(id) != 0;
}

void dispatcher_state::drop(const drop_candidate& message) {
  if (!end(message.id))
    return; // Its result is on its way to the selector.
  forget(schedule.drop(message.id), message.id);
  evaluations dropped;
  dropped.batch.push_back({dropped_evaluation(message.id, message.who), {}});
  self->send(selector, std::move(dropped));
  serve();
}

void dispatcher_state::refuse_too_large() {
  evaluations refused;
  for (const auto& t : schedule.too_large()) {
    end(t.id.candidate);
    refused.batch.push_back(
        {refused_evaluation(t.id.candidate, size_text(t.needs.memory_bytes)), {}});
  }
  if (!refused.batch.empty())
    self->send(selector, std::move(refused));
}

void dispatcher_state::serve() {
  if (now() < serves_from)
    return;
  if (params.tasks.needs_of)
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
      if (const auto* b = blob_of(a, part); b != nullptr && !travels_whole(*b))
        found->second.lent.emplace(part_key{l.number, part}, *b);
  }
  found->second.at_work = now();
  self->send(found->second.link, std::move(message));
}

std::chrono::milliseconds dispatcher_state::time_for(const candidate& c) {
  return finals.has(c.id) ? finals.hand_out(c.id, nodes.size(), now()) : c.time;
}

assignment dispatcher_state::assign(const lease& l, lineage start) {
  if (l.id.type != task_type::train) {
    auto test = tests.at(l.id).what;
    test.lease = l.number;
    return test;
  }
  const auto& c = open.at(l.id.candidate);
  return {.id = l.id,
          .lease = l.number,
          .what =
              training_task{.network = {.genome = encode(*c.genome),
                                        .epochs = c.epochs,
                                        .start = c.start,
                                        .start_epoch = c.start_epoch,
                                        .before = ancestors_of(start),
                                        .checkpoint = std::move(start.checkpoint)},
                            .keep_weights_above = std::bit_cast<std::uint64_t>(
                                weights_wanted_above(c, keep_weights_above)),
                            .fold = c.fold.index,
                            .folds = c.fold.of,
                            .time_ms = static_cast<std::uint64_t>(time_for(c).count()),
                            .threads = c.threads,
                            .keep_checkpoint = static_cast<std::uint8_t>(
                                checkpoint_left_by(c, params.keep_checkpoints)),
                            .shares = params.by_team ? schedule.shares_of(l.id) : 0}};
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
