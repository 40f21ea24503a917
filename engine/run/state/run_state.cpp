// The fold. For each kind of record: check it against the state, change nothing and say
// so if it does not fit, else change the state. The records that are possible follow from
// the state alone:
//
//   run_started         first, once; with the seed of the rules
//   candidate_born      the first that the strategy asks for, with its number and parents
//   candidate_evaluated of an open candidate; a copy only of an evaluated one
//   generation_closed   the one that the strategy would close, with its survivors
//   final_planned       once, of the best; nothing is bred from there on
//   model_composed      once, when all that was planned is evaluated
//   run_finished        once the search is over; the champion is the best
//   run_forked          at the start of its generation; the rules are others from there
//   observations        at any time after the first record
//
// A closed generation's individuals leave `current`; genomes of the dead are held by
// nobody.
#include "engine/run/state/run_state.hpp"

#include "engine/run/state/kept_best.hpp"
#include "engine/run/state/learning_speed.hpp"
#include "engine/search/strategies/registry/registry.hpp"
#include "engine/search/strategies/registry/validation.hpp"
#include "genome/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

namespace {

tl::unexpected<error> misfit(const record& r, const std::string& why) {
  return fail(error_kind::corrupt,
              fmt::format("the record \"{}\" does not fit: {}", to_text(r), why));
}

std::string ids_text(const std::vector<candidate_id>& ids) {
  const std::string text = joined(ids, " ", numbered);
  return text.empty() ? "none" : text;
}

bool same_genome(const individual& a, const individual& b) {
  return *a.genome == *b.genome;
}

expected<void> fold(run_state& state, const record& r, const run_started& started) {
  if (state.started)
    return misfit(r, "the run is started already");
  if (started.seed != state.rules.seed)
    return misfit(r, fmt::format("the experiment has the seed {}", state.rules.seed));
  state.started = true;
  return {};
}

bool is_seed(const candidate& c) {
  return !c.changes.empty() && c.changes.front().kind == change_kind::seeded;
}

expected<void> fold_final(run_state& state, const record& r, const candidate& c) {
  const auto due = state.next_final();
  if (!due)
    return misfit(r, "the search is over");
  if (decisive_bytes(candidate_born{*due}) != decisive_bytes(candidate_born{c}))
    return misfit(r, "the plan has " + to_text(*due));
  ++state.born;
  ++state.planned_born;
  state.open.emplace(due->id, *due);
  return {};
}

expected<void> fold(run_state& state, const record& r, const candidate_born& b) {
  const auto& c = b.born;
  if (!c.genome)
    return misfit(r, "it has no genome");
  if (state.plan)
    return fold_final(state, r, c);
  const auto asked = state.search->ask(state.born, 1);
  if (asked.empty())
    return misfit(r, "no candidate is asked for");
  const auto& order = asked.front();
  if (c.id != order.id)
    return misfit(r, "next is " + numbered(order.id));
  if (c.generation != order.generation || c.index != order.index)
    return misfit(r, fmt::format("its place is generation {}, index {}", order.generation,
                                 order.index));
  std::vector<candidate_id> parents;
  for (const auto& p : order.parents)
    parents.push_back(p.id);
  if (!may_be_parents(order, c.parents))
    return misfit(r, "its parents are " + ids_text(parents));
  if (c.epochs != order.epochs || c.start != order.start)
    return misfit(r, fmt::format("it is to start from {} and be trained to epoch {}",
                                 numbered(order.start), order.epochs));
  const auto training = training_of(c);
  const auto equal = state.known.find(training);
  if (c.equal_to != equal)
    return misfit(r, equal == 0 ? "no network before equals it"
                                : "its network equals that of " + numbered(equal));
  ++state.born;
  state.known.insert(training, c.id);
  if (c.generation == 0 && c.parents.empty() && !is_seed(c))
    state.random_networks.insert(c.network);
  auto& open = state.open.emplace(c.id, c).first->second;
  open.start_epoch = start_epoch_of(order);
  open.looked_at = {}; // Only what is bred again needs them.
  if (c.equal_to != 0)
    state.copies.insert(c.id);
  state.search->born(c);
  return {};
}

/// The curve says how long all of an epoch would take that was done in part.
double seconds_per_epoch(const evaluation& e) {
  if (e.curve.empty())
    return 0;
  double epochs = 0;
  for (const auto& passed : e.curve)
    epochs += passed.seconds;
  return std::max(e.seconds, epochs) / static_cast<double>(e.curve.size());
}

expected<void> fold(run_state& state, const record& r,
                    const candidate_evaluated& evaluated) {
  const auto& e = evaluated.evaluated;
  const auto found = state.open.find(e.id);
  if (found == state.open.end())
    return misfit(r, "that candidate is not open");
  const auto& c = found->second;
  if (e.equal_to != 0 && (e.equal_to != c.equal_to || state.open.contains(e.equal_to)))
    return misfit(r, "it cannot be a copy of " + numbered(e.equal_to));
  const individual i{.id = e.id,
                     .genome = c.genome,
                     .fitness = fitness_of(e, state.rules.objective),
                     .parameters = e.parameters,
                     .epochs = c.epochs,
                     .trained = e.equal_to,
                     .cases = cases_of(e, state.rules.cases),
                     .zero_cost = c.zero_cost,
                     .branches = e.branches.value_or(std::vector<branch_importance>{}),
                     .seconds_per_epoch = seconds_per_epoch(e),
                     .learning = speed_of(e, state.rules.objective, is_seed(c))};
  const bool apart =
      c.fold.of > 1 && state.plan && state.plan->folds_apart.value_or(false);
  ++state.evaluated;
  state.failures.add(e);
  state.training_seconds += e.seconds;
  if (i.fitness.ok && c.fold.of != 0)
    state.finals.push_back({i, c.fold, c.id - c.fold.index});
  if (!i.fitness.ok)
    ++state.failed;
  else if (e.equal_to == 0 && !apart) {
    const bool random = state.random_networks.contains(c.network);
    if (random && (!state.best_random || fitter(i, *state.best_random)))
      state.best_random = i;
    if (i.learning.proven)
      state.seeds.push_back(i);
    keep_best(state.best, i, fitter, same_genome);
    if (!state.rules.objective.others.empty())
      join_front(state.front, {.id = i.id, .genome = nullptr, .fitness = i.fitness},
                 &individual::fitness);
  }
  const bool at_end = c.fold.of != 0;
  state.copies.erase(e.id);
  state.open.erase(found);
  if (!at_end) {
    state.current.push_back(i);
    state.search->tell(i);
  }
  return {};
}

expected<void> fold(run_state& state, const record& r, const generation_closed& closed) {
  const auto found = state.search->closing();
  if (!found)
    return misfit(
        r, fmt::format("generation {} is not complete", state.search->generation()));
  if (closed.generation != found->generation)
    return misfit(r, fmt::format("generation {} is next", found->generation));
  if (closed.survivors != found->survivors)
    return misfit(r, "the survivors are " + ids_text(found->survivors));
  const auto taken = take_generation(state.current, state.rules.evolution.population,
                                     state.rules.evolution.tell_order == "asked");
  auto& summary = state.generations.emplace_back(
      summarise(closed.generation, taken, state.rules.objective));
  if (!state.rules.objective.others.empty())
    summary.front = measure_front(fitnesses_of(state.front, &individual::fitness),
                                  fitnesses_of(taken, &individual::fitness), state.box);
  state.search->close();
  return {};
}

expected<void> fold(run_state& state, const record& r, const run_finished& finished) {
  if (!state.search_over() || (state.plan && !state.open.empty()))
    return misfit(r, "the search is not over");
  const candidate_id champion = state.best.empty() ? 0 : state.best.front().id;
  if (finished.champion != champion)
    return misfit(r, champion == 0 ? "no candidate succeeded"
                                   : "the champion is " + numbered(champion));
  state.finished = finished;
  return {};
}

expected<void> fold(run_state& state, const record& r, const final_planned& planned) {
  if (state.plan)
    return misfit(r, "the end is planned already");
  const auto candidates = state.for_the_end();
  std::vector<individual> sources;
  for (const auto& t : planned.trainings) {
    const auto found = std::ranges::find(candidates, t.source, &individual::id);
    if (found == candidates.end() || t.epochs == 0 || t.fold.of == 0)
      return misfit(r, numbered(t.source) + " is none of the best");
    sources.push_back(*found);
  }
  state.plan = planned;
  state.sources = std::move(sources);
  return {};
}

expected<void> fold(run_state& state, const record& r, const model_composed& composed) {
  if (!state.plan || state.next_final() || !state.open.empty() || state.composed)
    return misfit(r, "its models are not all there, or it is made already");
  state.composed = composed;
  return {};
}

expected<void> fold(run_state& state, const record&, const interim_composed& r) {
  state.interim = r.model;
  return {};
}

expected<void> fold(run_state& state, const record& r, const run_forked& forked) {
  if (forked.generation != state.generations.size())
    return misfit(r,
                  fmt::format("the run is in generation {}", state.generations.size()));
  if (!state.rules.read_fork)
    return misfit(r, "nobody reads its experiment");
  auto rules = state.rules.read_fork(forked);
  if (!rules)
    return tl::unexpected(std::move(rules).error());
  if (rules->seed != forked.seed)
    return misfit(r, fmt::format("its experiment has the seed {}", rules->seed));
  if (auto fits = check_fork(state.rules, *rules, forked.generation); !fits)
    return misfit(r, fits.error().message);
  if (!state.search->change(rules->evolution, rules->seed))
    return misfit(r, "its generation has begun");
  if (!rules->read_fork)
    rules->read_fork = state.rules.read_fork;
  state.rules = std::move(*rules);
  return {};
}

// An order that comes too late, because the search came to its end while it was recorded,
// changes nothing.
expected<void> fold(run_state& state, const record&, const operator_command& ordered) {
  const auto& order = ordered.order;
  if (order.kind == instruction_kind::extend && !state.search->finished()) {
    state.rules.evolution.generations += order.number;
    state.search->extend(order.number);
  } else if (order.kind == instruction_kind::add) {
    std::ignore = state.search->give(order.genome, order.text);
  } else if (order.kind == instruction_kind::begin_with) {
    if (!state.search->begin_with(order.genome, order.text))
      return fail(error_kind::corrupt, "the search cannot begin with " + order.text);
  } else {
    annotate(state.annotated, ordered, 0);
  }
  return {};
}

// The cause that made all fail may be mended by now.
expected<void> fold(run_state& state, const record&, const run_resumed&) {
  state.failures.clear();
  return {};
}

template<class Observation>
expected<void> fold(run_state&, const record&, const Observation&) {
  return {};
}

} // namespace

expected<void> check_fork(const run_rules& before, const run_rules& after,
                          std::uint64_t generation) {
  const auto refuse = [](const std::string& what) {
    return fail(error_kind::invalid_input, what);
  };
  if (auto valid = validate(after.evolution); !valid)
    return valid;
  if (before.evolution.strategy != after.evolution.strategy)
    return refuse(fmt::format("evolution.strategy cannot be changed in a fork: what has "
                              "happened belongs to \"{}\"",
                              before.evolution.strategy));
  if (before.evolution.tell_order != after.evolution.tell_order)
    return refuse("evolution.tell_order cannot be changed in a fork");
  if (before.evolution.rungs != after.evolution.rungs)
    return refuse(
        "evolution.rungs cannot be changed in a fork: what has been trained was "
        "trained to them");
  if (before.objective != after.objective)
    return refuse("the objective cannot be changed in a fork: those that may breed were "
                  "chosen by "
                  + to_text(before.objective));
  if (after.evolution.generations <= generation)
    return refuse(fmt::format("evolution.generations is {}: a fork at generation {} "
                              "needs more, or it has nothing to do",
                              after.evolution.generations, generation));
  return {};
}

bool run_state::hopeless() const {
  return best.empty() && !search_over() && failures.hopeless();
}

std::vector<individual> run_state::for_the_end() const {
  auto all = best;
  for (const auto& seed : seeds)
    if (std::ranges::find(all, seed.id, &individual::id) == all.end())
      all.push_back(seed);
  return all;
}

std::optional<candidate> run_state::next_final(std::size_t after) const {
  const auto i = planned_born + after;
  if (!plan || i >= plan->trainings.size())
    return std::nullopt;
  return candidate_of(*plan, i, sources[i], born + after + 1, search->generation() + 1);
}

expected<run_state> make_run_state(const run_rules& rules) {
  auto search = make_strategy(rules.evolution, rules.seed, rules.space);
  if (!search)
    return tl::unexpected(search.error());
  run_state state;
  state.rules = rules;
  state.search = std::move(*search);
  return state;
}

expected<void> apply(run_state& state, const record& r) {
  if (!state.started && !std::holds_alternative<run_started>(r))
    return misfit(r, "a run begins with its start");
  if (state.finished && !decisive_bytes(r).empty())
    return misfit(r, "the run is finished");
  auto folded = std::visit([&](const auto& one) { return fold(state, r, one); }, r);
  if (folded)
    state.digest.add(r);
  return folded;
}

std::string to_text(const run_state& state) {
  const auto count = [](std::uint64_t n) { return std::to_string(n); };
  std::string text = fmt::format("{} born, {} evaluated, {} failed, generation {}\n",
                                 count(state.born), count(state.evaluated),
                                 count(state.failed), count(state.search->generation()));
  text += fmt::format("best: {}\n", to_text(state.best));
  text += fmt::format("parents: {}\n", to_text(state.search->population()));
  text += "open:";
  for (const auto& [id, c] : state.open)
    text += " " + numbered(id);
  return text + "\n";
}

} // namespace clade
