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
  course = course_of(run);
  present = nothing_under_way(run);
  tidied = run.generations.size();
  std::vector<candidate_id> ids;
  for (const auto& [id, c] : run.open)
    ids.push_back(id);
  submit(ids);
  advance();
}

void selector_state::advance() {
  if (course.over())
    return;
  if (!arrived.empty() && may_resolve(run, course, present))
    resolve_arrived();
  auto due = due_steps(run, course, present);
  if (!due.breed.empty())
    order(std::move(due.breed));
  for (const auto& step : due.copy)
    copy(step);
  if (due.close) {
    present.closed = run.generations.size() + 1;
    note(std::move(*due.close));
  }
  if (due.plan)
    plan_end({});
  for (auto& c : due.finals) {
    present.ordered = c.id;
    note(candidate_born{std::move(c)});
  }
  if (due.finish) {
    course.stage = run_stage::finishing;
    finish();
  }
  flush();
  pause_if_idle();
}

void selector_state::order(std::vector<breeding> orders) {
  for (auto& o : orders)
    present.ordered = std::max(present.ordered, o.id);
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
          advance();
        });
  }
}

void selector_state::take_back_held() {
  arrived.insert(arrived.end(), std::move_iterator(held_back.begin()),
                 std::move_iterator(held_back.end()));
  held_back.clear();
}

void selector_state::resolve_arrived() {
  take_back_held();
  auto resolved = resolve(run, std::exchange(arrived, {}));
  held_back = std::move(resolved.held);
  order(std::move(resolved.again));
  for (auto& c : resolved.accepted) {
    present.accepted = c.id;
    note(candidate_born{std::move(c)});
  }
}

void selector_state::copy(const clade::copying& step) {
  present.copying.insert(step.id);
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
  if (!course.over())
    unrecorded.push_back({std::move(r), std::move(weights)});
}

void selector_state::flush() {
  if (in_flight || unrecorded.empty() || course.over())
    return;
  in_flight = std::make_shared<const std::vector<entry>>(std::exchange(unrecorded, {}));
  append message{.entries = in_flight};
  const auto brings_weights = [](const entry& e) { return !e.weights.empty(); };
  if (std::ranges::any_of(*in_flight, brings_weights)) {
    message.keep = weights_to_keep(run);
    // Candidates that come with these entries are judged once they are recorded.
    for (const auto& e : *in_flight)
      if (const auto* done = std::get_if<candidate_evaluated>(&e.record);
          done != nullptr && brings_weights(e))
        message.keep.push_back(done->evaluated.id);
    message.keep.push_back(0); // The members of the final model that are no candidates.
    message.keep.insert(message.keep.end(), interim_members.begin(),
                        interim_members.end());
  }
  if (!unrecorded_checkpoints.empty())
    message.checkpoints = std::make_shared<const std::map<candidate_id, blob>>(
        std::exchange(unrecorded_checkpoints, {}));
  if (std::exchange(tidied, run.generations.size()) != run.generations.size())
    message.tidy = checkpoints_to_keep(run);
  self->request(params.archive, caf::infinite, message)
      .then([this](const appended& answer) {
        const auto entries = std::exchange(in_flight, nullptr);
        if (!answer.at)
          return fail(answer.at.error());
        applied({.first = answer.at->sequence,
                 .unix_ms = answer.at->unix_ms,
                 .entries = entries});
        advance();
      });
}

void selector_state::applied(const recorded& r) {
  std::vector<candidate_id> born;
  for (const auto& e : *r.entries) {
    if (auto done = apply(run, e.record); !done)
      return fail(done.error());
    if (const auto* b = std::get_if<candidate_born>(&e.record))
      born.push_back(b->born.id);
    apply_one(e.record);
  }
  if (params.show)
    params.show(r);
  if (!born.empty())
    submit(born);
}

// Acts on a record that is on the disk and in the fold.
void selector_state::apply_one(const record& r) {
  if (std::holds_alternative<candidate_born>(r)) {
    take_back_held();
  } else if (const auto* evaluated = std::get_if<candidate_evaluated>(&r)) {
    present.copying.erase(evaluated->evaluated.id);
    if (end_wanted && !run.best.empty())
      plan_end(*std::exchange(end_wanted, std::nullopt));
    compose_interim();
  } else if (const auto* closed = std::get_if<generation_closed>(&r)) {
    if (const auto why = why_stop_after(run, closed->generation, stop_after))
      stop(*why);
    compose_interim();
  } else if (std::holds_alternative<final_planned>(r)) {
    present.ordered = run.born;
    arrived.clear();
    held_back.clear();
    drop_open();
  } else if (std::holds_alternative<interim_composed>(r)) {
    interim.end();
    interim_members.clear();
    if (course.finishing())
      compose();
  } else if (const auto* order = std::get_if<operator_command>(&r)) {
    carry_out(*order);
  } else if (std::holds_alternative<run_finished>(r)
             || std::holds_alternative<run_paused>(r)) {
    end();
  }
}

void selector_state::submit(const std::vector<candidate_id>& ids) {
  submission message{.candidates = {},
                     .keep_weights_above =
                         weights_threshold(run.best, most_final_genomes)};
  for (auto id : ids) {
    const auto& c = run.open.at(id);
    if (c.equal_to != 0)
      continue;
    if (course.stopping())
      withdrawn_ids.insert(id);
    else
      message.candidates.push_back(c);
  }
  if (!message.candidates.empty())
    self->send(params.dispatcher, std::move(message));
}

void selector_state::stop(const std::string& reason, bool ends_if_complete,
                          bool hands_back) {
  const auto answer = told_to_stop(course, run, ends_if_complete, hands_back);
  if (answer == stop_answer::passed_over)
    return;
  stop_reason = reason;
  if (answer == stop_answer::noted)
    return advance();
  self->request(params.dispatcher, caf::infinite, withdraw{hands_back})
      .then([this](const withdrawn& back) {
        course.withdrawal = withdrawal::settled;
        take(back);
      });
}

void selector_state::take(const withdrawn& back) {
  withdrawn_ids.insert(back.ids.begin(), back.ids.end());
  advance();
}

std::string selector_state::obey(const told& message) {
  const auto& order = message.order;
  auto refusal = why_not(run, course, order);
  const bool by_machine =
      order.kind == instruction_kind::slots || order.kind == instruction_kind::add;
  if (refusal.empty() && by_machine)
    refusal = params.refuses ? params.refuses(order) : "nobody can look at it";
  if (!refusal.empty())
    return refusal;
  note(operator_command{.order = order, .who = message.who});
  advance();
  return {};
}

void selector_state::carry_out(const operator_command& told) {
  switch (told.order.kind) {
  case instruction_kind::hold:
  case instruction_kind::go_on: {
    const bool held = told.order.kind == instruction_kind::hold;
    course.handing_out = held ? handing_out::held : handing_out::on;
    self->send(params.dispatcher, hold_back{held});
    break;
  }
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

void selector_state::pause_if_idle() {
  if (in_flight || !may_pause(run, course, present, withdrawn_ids))
    return;
  course.stage = run_stage::pausing;
  note(run_paused{stop_reason});
  flush();
}

void selector_state::fail(error why) {
  if (course.over())
    return;
  failure = std::move(why);
  end();
}

void selector_state::end() {
  course.stage = run_stage::over;
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
                 .plan_open = open_trainings(run),
                 .finished = run.finished,
                 .stopping = course.stopping(),
                 .over = course.over(),
                 .failure = failure};
  if (!run.best.empty())
    p.best = run.best.front();
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
