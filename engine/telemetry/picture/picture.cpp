#include "engine/telemetry/picture/picture.hpp"

#include "engine/config/experiment/experiment.hpp"
#include "engine/evaluation/evaluator_spec.hpp"
#include "engine/run/state/kept_best.hpp"
#include "genome/base/text.hpp"
#include "genome/genes/hash.hpp"

#include <algorithm>
#include <array>

namespace clade {

namespace {

// In the order of `picture_state`.
constexpr std::array states{"created", "running", "held", "paused", "finished"};

bool fitter_line(const candidate_line& a, const candidate_line& b) {
  return fitter({.id = a.id, .fitness = a.rank}, {.id = b.id, .fitness = b.rank});
}

/// Whether `a` is better than `b` on the axis of fitness alone. The values that break
/// ties among equal fitness are no axis of the front.
bool ahead(const candidate_line& a, const candidate_line& b) {
  return a.rank.violation != b.rank.violation ? a.rank.violation < b.rank.violation
                                              : a.rank.primary > b.rank.primary;
}

bool same_genome(const candidate_line& a, const candidate_line& b) {
  return a.genes == b.genes;
}

genome_hash hash_of(const genome& g) {
  encoder out;
  out.encode(g);
  return hash128(out.take());
}

/// Along the front of one objective both parameters and fitness rise. Among candidates
/// equal in both, the fitter one stays.
void keep_front(run_picture& p, const candidate_line& line) {
  auto& front = p.front;
  if (!p.rules.objective.others.empty())
    return join_front(front, line, &candidate_line::rank);
  auto place =
      std::ranges::upper_bound(front, line.parameters, {}, &candidate_line::parameters);
  if (place != front.begin()) {
    const auto before = std::prev(place);
    const bool as_small = before->parameters == line.parameters;
    const bool twin = as_small && !ahead(line, *before) && !ahead(*before, line);
    if (twin ? fitter_line(*before, line) : !ahead(line, *before))
      return;
    if (as_small)
      place = before;
  }
  const auto rest = std::find_if(place, front.end(), [&](const candidate_line& other) {
    return ahead(other, line);
  });
  front.insert(front.erase(place, rest), line);
}

/// Ends the slot's stay, if it is there.
void end_stay(run_picture& p, const std::string& slot, const std::string& reason) {
  const auto stay = std::find_if(p.slots.rbegin(), p.slots.rend(), [&](const auto& s) {
    return s.slot == slot && !s.left_ms;
  });
  if (stay == p.slots.rend())
    return;
  stay->left_ms = p.unix_ms;
  stay->reason = reason;
}

/// Keeps only the last few of those that left.
void forget_old_stays(run_picture& p) {
  const auto gone =
      std::ranges::count_if(p.slots, [](const auto& s) { return s.left_ms.has_value(); });
  if (static_cast<std::size_t>(gone) <= run_picture::kept_gone)
    return;
  p.slots.erase(
      std::ranges::find_if(p.slots, [](const auto& s) { return s.left_ms.has_value(); }));
}

expected<void> fold(run_picture& p, const run_started& r) {
  const auto e = parse_resolved(r.experiment, "the run's experiment");
  if (!e)
    return tl::unexpected(e.error());
  take_experiment(p, *e);
  p.version = r.version;
  p.experiment = r.experiment;
  p.started_ms = p.unix_ms;
  p.state = picture_state::running;
  return {};
}

expected<void> fold(run_picture& p, const candidate_born& r) {
  const auto& c = r.born;
  ++p.born;
  p.generation = std::max(p.generation, c.generation);
  p.generation_born_ms.try_emplace(c.generation, p.unix_ms);
  p.open[c.id] = {.id = c.id,
                  .generation = c.generation,
                  .origin = to_text(c.changes),
                  .born_ms = p.unix_ms};
  if (c.fold.of != 0)
    p.final_generation = c.generation;
  if (c.fold.of < 2 || !p.folds_apart)
    p.open[c.id].genes = hash_of(*c.genome);
  return {};
}

expected<void> fold(run_picture& p, const candidate_evaluated& r) {
  const auto& e = r.evaluated;
  const auto found = p.open.extract(e.id);
  if (found.empty())
    return fail(error_kind::corrupt, numbered(e.id) + " is evaluated and not open");
  auto line = found.mapped();
  settle(line, e, p.rules.objective, p.unix_ms);
  ++p.evaluated;
  if (p.final_generation != 0 && line.generation == p.final_generation)
    ++p.final_evaluated;
  ++p.outcomes[e.outcome];
  p.training_seconds += e.seconds;
  p.current.push_back({.id = e.id, .genome = nullptr, .fitness = line.rank});
  if (!line.rank.ok) {
    ++p.failed;
  } else if (e.equal_to == 0 && line.genes) {
    keep_best(p.best, line, fitter_line, same_genome);
    keep_front(p, line);
  }
  p.latest.push_back(std::move(line));
  if (p.latest.size() > run_picture::kept_latest)
    p.latest.pop_front();
  return {};
}

expected<void> fold(run_picture& p, const generation_closed& r) {
  const auto taken = take_generation(p.current, p.rules.evolution.population,
                                     p.rules.evolution.tell_order == "asked");
  const auto born = p.generation_born_ms.extract(r.generation);
  auto summary = summarise(r.generation, taken, p.rules.objective);
  if (!p.rules.objective.others.empty())
    summary.front = measure_front(fitnesses_of(p.front, &candidate_line::rank),
                                  fitnesses_of(taken, &individual::fitness), p.box);
  p.generations.push_back({.summary = summary,
                           .born_ms = born.empty() ? p.unix_ms : born.mapped(),
                           .closed_ms = p.unix_ms,
                           .closed_sequence = p.sequence + 1});
  return {};
}

expected<void> fold(run_picture& p, const final_planned& r) {
  p.folds_apart = r.folds_apart.value_or(false);
  p.final_trainings = r.trainings.size();
  return {};
}

expected<void> fold(run_picture& p, const run_finished& r) {
  p.finished = r;
  p.state = picture_state::finished;
  p.reason.clear();
  return {};
}

expected<void> fold(run_picture& p, const run_paused& r) {
  p.state = picture_state::paused;
  p.reason = r.reason;
  return {};
}

expected<void> fold(run_picture& p, const run_resumed& r) {
  p.state = picture_state::running;
  p.reason.clear();
  p.version = r.version;
  // Whoever was there went with the head before.
  for (auto& stay : p.slots)
    if (!stay.left_ms)
      end_stay(p, stay.slot, "the run was resumed");
  return {};
}

expected<void> fold(run_picture& p, const attempt_failed& r) {
  p.attempts.push_back(r);
  if (p.attempts.size() > run_picture::kept_latest)
    p.attempts.pop_front();
  return {};
}

expected<void> fold(run_picture&, const straggler_seen&) {
  return {};
}

expected<void> fold(run_picture& p, const model_composed& r) {
  p.composed = r;
  p.composed_interim = false;
  return {};
}

expected<void> fold(run_picture& p, const interim_composed& r) {
  p.composed = r.model;
  p.composed_interim = true;
  return {};
}

expected<void> fold(run_picture& p, const slot_changed& r) {
  if (r.joined) {
    end_stay(p, r.slot, "replaced");
    p.slots.push_back({.slot = r.slot, .joined_ms = p.unix_ms});
  } else {
    end_stay(p, r.slot, r.reason);
  }
  forget_old_stays(p);
  return {};
}

expected<void> fold(run_picture& p, const run_forked& r) {
  const auto e = parse_resolved(r.experiment, "the fork's experiment");
  if (!e)
    return tl::unexpected(e.error());
  take_experiment(p, *e);
  p.experiment = r.experiment;
  return {};
}

expected<void> fold(run_picture& p, const operator_command& r) {
  if (r.order.kind == instruction_kind::hold) {
    p.state = picture_state::held;
    p.reason = r.who + " ordered it";
  } else if (r.order.kind == instruction_kind::go_on) {
    p.state = picture_state::running;
    p.reason.clear();
  } else if (r.order.kind == instruction_kind::extend) {
    p.extended += r.order.number;
  }
  return {};
}

/// Other kinds change nothing of what views show.
template<class Other>
expected<void> fold(run_picture&, const Other&) {
  return {};
}

} // namespace

const char* to_text(picture_state s) {
  return states.at(static_cast<std::size_t>(s));
}

std::optional<picture_state> parse_picture_state(std::string_view text) {
  return parse_one_of<picture_state>(states, text);
}

void take_experiment(run_picture& p, const experiment& e) {
  p.rules = rules_of(e);
  p.named_by = e.evaluator->traits().named_by;
}

expected<void> apply(run_picture& picture, std::int64_t unix_ms, const record& r) {
  const auto* told = std::get_if<operator_command>(&r);
  if (told != nullptr)
    annotate(picture.annotated, *told, unix_ms);
  if (told == nullptr || !annotates(told->order))
    picture.unix_ms = unix_ms;
  auto folded = std::visit([&](const auto& one) { return fold(picture, one); }, r);
  if (!folded)
    return folded;
  ++picture.sequence;
  picture.digest.add(r);
  return folded;
}

} // namespace clade
