#include "actors/head/selector.hpp"

#include "engine/search/core/selection.hpp"
#include "genome/base/text.hpp"

#include <algorithm>
#include <utility>

namespace clade {

namespace {

// Orders that a generator gets at once: enough that a message costs little beside them,
// few enough that the generators share a generation.
constexpr std::size_t orders_at_once = 16;

} // namespace

void selector_state::start() {
  ordered = run.born;
  std::vector<candidate_id> ids;
  for (const auto& [id, c] : run.open)
    ids.push_back(id);
  submit(ids);
  advance();
}

void selector_state::advance() {
  if (over)
    return;
  if (!stopping && !planning && resolvable && !births_pending)
    resolve_arrived();
  if (!stopping || may_end) {
    auto next = next_step(run, ordered);
    if (!next.breed.empty() && !stopping && !planning)
      order(std::move(next.breed));
    for (const auto& step : next.copy)
      copy(step);
    if (next.close && !std::exchange(closing, true))
      note(std::move(*next.close));
    if (next.plan)
      plan_end({});
    for (auto& c : next.finals)
      if (!stopping) {
        ordered = c.id;
        note(candidate_born{std::move(c)});
      }
    if (next.finish && !std::exchange(finishing, true))
      finish();
  }
  flush();
  pause_if_idle();
}

void selector_state::order(std::vector<breeding> orders) {
  for (auto& o : orders)
    ordered = std::max(ordered, o.id);
  for (std::size_t i = 0; i < orders.size(); i += orders_at_once) {
    const auto last = std::min(orders.size(), i + orders_at_once);
    breeding_orders message;
    message.orders.assign(orders.begin() + static_cast<std::ptrdiff_t>(i),
                          orders.begin() + static_cast<std::ptrdiff_t>(last));
    const auto& generator =
        params.generators[next_generator++ % params.generators.size()];
    self->request(generator, caf::infinite, message)
        .then([this, message](const brood& made) {
          if (made.failure)
            return fail(*made.failure);
          for (std::size_t k = 0; k < made.candidates.size(); ++k)
            arrived.push_back({message.orders[k], made.candidates[k]});
          resolvable = true;
          advance();
        });
  }
}

void selector_state::resolve_arrived() {
  resolvable = false;
  auto resolved = resolve(run, std::exchange(arrived, {}));
  arrived = std::move(resolved.held);
  order(std::move(resolved.again));
  births_pending = !resolved.accepted.empty();
  for (auto& c : resolved.accepted)
    note(candidate_born{std::move(c)});
}

void selector_state::copy(const clade::copying& step) {
  if (!copying.insert(step.id).second)
    return;
  self->request(params.archive, caf::infinite, fetch_evaluation{step.original})
      .then([this, step](const fetched_evaluation& fetched) {
        if (!fetched.found)
          return fail(fetched.found.error());
        note(candidate_evaluated{copy_for(step.id, *fetched.found)});
        advance();
      });
}

void selector_state::take(const evaluations& message) {
  for (const auto& done : message.batch) {
    if (!done.checkpoint.empty())
      unrecorded_checkpoints[done.evaluation.id] = done.checkpoint;
    note(candidate_evaluated{done.evaluation}, done.weights);
  }
  advance();
}

void selector_state::observe(const observation& message) {
  note(message.record);
  advance();
}

void selector_state::note(record r, blob weights) {
  if (over)
    return;
  weights_recorded = weights_recorded || !weights.empty();
  unrecorded.push_back({std::move(r), std::move(weights)});
}

void selector_state::flush() {
  if (recording || unrecorded.empty() || over)
    return;
  recording = true;
  append message{.entries = std::make_shared<const std::vector<entry>>(
                     std::exchange(unrecorded, {}))};
  if (std::exchange(weights_recorded, false)) {
    for (const auto& i : run.best)
      message.keep.push_back(i.id);
    for (const auto& f : run.finals)
      message.keep.push_back(f.who.id);
    if (run.best_random)
      message.keep.push_back(run.best_random->id);
    // Candidates that come with these entries are judged once they are recorded.
    for (const auto& e : *message.entries)
      if (const auto* done = std::get_if<candidate_evaluated>(&e.record);
          done != nullptr && !e.weights.empty())
        message.keep.push_back(done->evaluated.id);
    message.keep.push_back(0); // The members of the final model that are no candidates.
  }
  if (!unrecorded_checkpoints.empty())
    message.checkpoints = std::make_shared<const std::map<candidate_id, blob>>(
        std::exchange(unrecorded_checkpoints, {}));
  if (std::exchange(checkpoints_due, false))
    message.tidy = needed_checkpoints();
  self->request(params.archive, caf::infinite, message)
      .then([this, entries = message.entries](const appended& answer) {
        recording = false;
        if (!answer.at)
          return fail(answer.at.error());
        applied({.first = answer.at->sequence,
                 .unix_ms = answer.at->unix_ms,
                 .entries = entries});
        advance();
      });
}

// When a generation has been closed, checkpoints stay of those that may breed, of those
// that open candidates start from, and of the last two generations' worth of candidates,
// among which are those that the strategy has not heard of. A strategy that starts from
// another one after all has that one trained again.
tidying selector_state::needed_checkpoints() const {
  if (run.search->finished())
    return {.keep = {}, .last = run.born};
  const auto recent = 2 * run.rules.evolution.population;
  tidying t{.keep = {}, .last = run.born > recent ? run.born - recent : 0};
  for (const auto& i : run.search->population())
    t.keep.push_back(i.trained != 0 ? i.trained : i.id);
  for (const auto& [id, c] : run.open)
    if (c.start != 0)
      t.keep.push_back(c.start);
  return t;
}

void selector_state::applied(const recorded& r) {
  std::vector<candidate_id> born;
  for (const auto& e : *r.entries) {
    if (auto done = apply(run, e.record); !done)
      return fail(done.error());
    if (const auto* b = std::get_if<candidate_born>(&e.record)) {
      born.push_back(b->born.id);
      births_pending = false;
      resolvable = !arrived.empty();
    } else if (const auto* evaluated = std::get_if<candidate_evaluated>(&e.record)) {
      copying.erase(evaluated->evaluated.id);
      if (end_wanted && !run.best.empty())
        plan_end(*std::exchange(end_wanted, std::nullopt));
    } else if (std::holds_alternative<generation_closed>(e.record)) {
      closing = false;
      checkpoints_due = true;
      if (!stop_after.empty())
        stop("stopped by " + stop_after + " after generation "
             + std::to_string(std::get<generation_closed>(e.record).generation));
      else if (run.hopeless())
        stop(run.failures.text());
    } else if (std::holds_alternative<final_planned>(e.record)) {
      ordered = run.born;
      arrived.clear();
      drop_open();
    } else if (const auto* order = std::get_if<operator_command>(&e.record)) {
      carry_out(*order);
    } else if (std::holds_alternative<run_finished>(e.record)
               || std::holds_alternative<run_paused>(e.record)) {
      end();
    }
  }
  if (params.show)
    params.show(r);
  if (!born.empty())
    submit(born);
}

void selector_state::submit(const std::vector<candidate_id>& ids) {
  submission message{.candidates = {},
                     .keep_weights_above =
                         weights_threshold(run.best, run_state::kept_best)};
  for (auto id : ids) {
    const auto& c = run.open.at(id);
    if (c.equal_to != 0)
      continue;
    if (stopping)
      withdrawn_ids.insert(id);
    else
      message.candidates.push_back(c);
  }
  if (!message.candidates.empty())
    self->send(params.dispatcher, std::move(message));
}

void selector_state::stop(const std::string& reason, bool ends_if_complete,
                          bool hands_back) {
  // A run that is at its end anyway is let end.
  if (over || (ends_if_complete && (stopping || finishing)))
    return;
  may_end = ends_if_complete;
  finishing = finishing && may_end;
  stop_reason = reason;
  if (std::exchange(stopping, true) && !hands_back)
    return advance();
  withdrawal_pending = true;
  self->request(params.dispatcher, caf::infinite, withdraw{hands_back})
      .then([this](const withdrawn& back) {
        withdrawal_pending = false;
        take(back);
      });
}

void selector_state::take(const withdrawn& back) {
  withdrawn_ids.insert(back.ids.begin(), back.ids.end());
  advance();
}

std::string selector_state::obey(const told& message) {
  const auto& order = message.order;
  if (annotates(order))
    return take_annotation(message);
  if (over || stopping || run.finished)
    return "the run is at its end";
  if (order.kind == instruction_kind::hold && held)
    return "the run is held already";
  if (order.kind == instruction_kind::go_on && !held)
    return "the run is not held";
  if (order.kind == instruction_kind::begin_with)
    return "the search has begun";
  if (order.kind == instruction_kind::drop) {
    const auto found = run.open.find(order.number);
    if (found == run.open.end() || found->second.equal_to != 0)
      return numbered(order.number) + " is not open";
  }
  if (order.kind == instruction_kind::extend && (order.number == 0 || finishing))
    return finishing ? "the search is over" : "extend it by at least one generation";
  if (order.kind == instruction_kind::add
      && run.search->generation() + 1 >= run.rules.evolution.generations)
    return "no generation is left that the genome could be in: extend the run first";
  if (order.kind == instruction_kind::slots || order.kind == instruction_kind::add)
    if (auto refusal = params.refuses ? params.refuses(order) : "nobody can look at it";
        !refusal.empty())
      return refusal;
  note(operator_command{.order = order, .who = message.who});
  advance();
  return {};
}

std::string selector_state::take_annotation(const told& message) {
  if (over)
    return "the run is at its end";
  if (const auto right = check_annotation(message.order, run.annotated, run.born); !right)
    return right.error().message;
  note(operator_command{.order = message.order, .who = message.who});
  advance();
  return {};
}

void selector_state::carry_out(const operator_command& told) {
  switch (told.order.kind) {
  case instruction_kind::hold:
  case instruction_kind::go_on:
    held = told.order.kind == instruction_kind::hold;
    self->send(params.dispatcher, hold_back{held});
    break;
  case instruction_kind::stop:
    stop("stopped by " + told.who);
    break;
  case instruction_kind::stop_after:
    stop_after = told.who;
    break;
  case instruction_kind::slots:
    params.change_slots(told.order.text);
    break;
  case instruction_kind::extend:
  case instruction_kind::add:
  case instruction_kind::begin_with:
  case instruction_kind::note:
  case instruction_kind::tag:
  case instruction_kind::untag:
    break; // The fold did it.
  case instruction_kind::drop:
    self->send(params.dispatcher,
               drop_candidate{.id = told.order.number, .who = told.who});
    break;
  }
}

// It waits for what nodes have in training; what waits for a node, or for a copy, stays
// open in the store, where resume finds it.
void selector_state::pause_if_idle() {
  if (!stopping || over || withdrawal_pending || recording)
    return;
  const bool in_training = std::ranges::any_of(run.open, [this](const auto& o) {
    return o.second.equal_to == 0 && !withdrawn_ids.contains(o.first);
  });
  if (in_training || closing || finishing)
    return;
  closing = true;
  note(run_paused{stop_reason});
  flush();
}

void selector_state::fail(error why) {
  if (over)
    return;
  failure = std::move(why);
  end();
}

void selector_state::end() {
  over = true;
  caf::anon_send(params.watcher, run_over{});
}

run_progress selector_state::progress(std::size_t from_generation) const {
  run_progress p{.generation = run.search->generation(),
                 .born = run.born,
                 .evaluated = run.evaluated,
                 .failed = run.failed,
                 .failures = run.failures.text(),
                 .training_seconds = run.training_seconds,
                 .best = {},
                 .generations = {},
                 .plan = run.plan,
                 .plan_open = 0,
                 .finished = run.finished,
                 .stopping = stopping,
                 .over = over,
                 .failure = failure};
  if (!run.best.empty())
    p.best = run.best.front();
  if (run.plan)
    p.plan_open = run.plan->trainings.size() - run.planned_born
                  + static_cast<std::size_t>(std::ranges::count_if(
                      run.open, [](const auto& o) { return o.second.fold.of != 0; }));
  if (from_generation < run.generations.size())
    p.generations.assign(run.generations.begin()
                             + static_cast<std::ptrdiff_t>(from_generation),
                         run.generations.end());
  return p;
}

selector_actor::behavior_type
selector_behavior(selector_actor::stateful_pointer<selector_state> self,
                  selector_params params) {
  auto& s = self->state;
  s.self = self;
  s.run = std::move(*params.run);
  s.planning = s.run.plan.has_value();
  s.params = std::move(params);
  s.start();
  // Only now: nodes that had a candidate from an earlier head find it submitted.
  self->send(s.params.dispatcher, selector_actor{self});
  return {
      [self](const evaluations& message) { self->state.take(message); },
      [self](const observation& message) { self->state.observe(message); },
      [self](const run_failure& message) { self->state.fail(message.why); },
      [self](const withdrawn& message) { self->state.take(message); },
      [self](const stop_run& message) {
        self->state.stop(message.reason, message.may_end, message.hands_back);
      },
      [self](const end_search& message) { self->state.take(message); },
      [self](const told& message) { return self->state.obey(message); },
      [self](const progress_query& q) { return self->state.progress(q.from_generation); },
  };
}

} // namespace clade
