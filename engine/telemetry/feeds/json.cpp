#include "engine/telemetry/feeds/json.hpp"

#include "engine/config/experiment/experiment.hpp"
#include "engine/report/base/json_parts.hpp"

namespace clade {

namespace {

using json = ordered_json;

json some_time(std::int64_t ms) {
  return ms == 0 ? json() : json(ms);
}

json line_json(const candidate_line& l) {
  const bool evaluated = l.evaluated_ms != 0;
  const auto once = [&](auto v) { return evaluated ? json(v) : json(); };
  return {{"id", l.id},
          {"generation", l.generation},
          {"origin", l.origin},
          {"born", l.born_ms},
          {"evaluated", some_time(l.evaluated_ms)},
          {"outcome", once(to_text(l.outcome))},
          {"fitness", some(l.fitness)},
          {"parameters", once(l.parameters)},
          {"seconds", once(l.seconds)},
          {"slot", some(l.slot)},
          {"reason", some(l.reason)}};
}

/// Adds the values of several objectives, as they were measured.
json member_json(const candidate_line& l, const std::vector<aim>& aims) {
  auto out = line_json(l);
  out["objectives"] = json::object();
  for (std::size_t i = 0; i < l.rank.objectives.size() && i < aims.size(); ++i)
    out["objectives"][aims[i].metric] =
        as_measured(l.rank.objectives[i], aims[i].maximize);
  return out;
}

json objective_json(const objective& o) {
  json out{{"aims", json::array()}, {"constraints", json::array()}};
  for (const auto& a : aims_of(o))
    out["aims"].push_back({{"metric", a.metric}, {"maximize", a.maximize}});
  for (const auto& c : o.constraints)
    out["constraints"].push_back(
        {{"metric", c.metric}, {c.at_most ? "at_most" : "at_least", c.limit}});
  return out;
}

template<class Lines>
json lines_json(const Lines& lines) {
  json out = json::array();
  for (const auto& l : lines)
    out.push_back(line_json(l));
  return out;
}

json generation_json(const generation_line& g) {
  const auto& s = g.summary;
  const auto any = [&](double v) { return s.best == 0 ? json() : json(v); };
  return {{"generation", s.generation},
          {"best", some(s.best)},
          {"best_fitness", any(s.best_fitness)},
          {"median", any(s.median_fitness)},
          {"lower_quartile", any(s.lower_quartile)},
          {"upper_quartile", any(s.upper_quartile)},
          {"succeeded", s.succeeded},
          {"failed", s.failed},
          {"born", g.born_ms},
          {"closed", g.closed_ms},
          {"closed_sequence", g.closed_sequence},
          {"front", some(s.front.members)},
          {"hypervolume", s.front.members == 0 ? json() : json(s.front.hypervolume)}};
}

json finished_json(const run_finished& f) {
  json examinations = json::array();
  for (const auto& x : f.examinations)
    examinations.push_back({{"subject", x.subject},
                            {"id", some(x.id)},
                            {"metrics", metrics_json(x.metrics)},
                            {"parameters", x.parameters},
                            {"details", details_json(x.details)}});
  return {{"champion", some(f.champion)}, {"examinations", std::move(examinations)}};
}

json attempt_json(const attempt_failed& a) {
  return {{"id", a.id}, {"attempt", a.attempt}, {"slot", a.slot}, {"reason", a.reason}};
}

json team_json(const team_share& t) {
  if (t.member == 0)
    return nullptr;
  return {{"member", t.member},
          {"members", t.members},
          {"steps_per_second", t.steps},
          {"bytes_per_second", t.bytes},
          {"waits", t.waits},
          {"awaited", t.awaited}};
}

json slots_json(const slots_view& view) {
  json slots = json::array();
  for (const auto& s : view.slots)
    slots.push_back({{"slot", s.name},
                     {"label", s.label},
                     {"ready", s.ready},
                     {"away", s.away},
                     {"training", some(s.training)},
                     {"epoch", s.epoch},
                     {"epochs", s.epochs},
                     {"team", team_json(s.team)},
                     {"seconds", static_cast<double>(s.at_work.count()) / 1000}});
  return {{"event", "slots"}, {"waiting", view.waiting}, {"slots", std::move(slots)}};
}

// Writes the fields of each kind of record.

json fields(const run_started& r, const run_picture&) {
  const auto e = parse_resolved(r.experiment, "the run's experiment");
  return {{"event", "started"},
          {"name", e ? json(e->name) : json()},
          {"version", r.version},
          {"seed", std::to_string(r.seed)},
          {"experiment", r.experiment}};
}

json fields(const candidate_born& r, const run_picture&) {
  const auto& c = r.born;
  return {{"event", "born"},
          {"id", c.id},
          {"generation", c.generation},
          {"index", c.index},
          {"parents", c.parents},
          {"origin", to_text(c.changes)},
          {"changes", changes_json(c.changes)},
          {"equal_to", some(c.equal_to)},
          {"nodes", c.genome->nodes.size()},
          {"operators", settings_json(count_operators(*c.genome))},
          {"hyperparameters", settings_json(c.genome->hyperparameters)}};
}

json fields(const candidate_evaluated& r, const run_picture& p) {
  const auto& e = r.evaluated;
  const auto f = fitness_of(e, p.rules.objective);
  return {{"event", "evaluated"},
          {"id", e.id},
          {"outcome", to_text(e.outcome)},
          {"fitness",
           f.ok ? json(p.rules.objective.maximize ? f.primary : -f.primary) : json()},
          {"violation", f.ok ? json(f.violation) : json()},
          {"metrics", metrics_json(e.metrics)},
          {"parameters", e.parameters},
          {"seconds", e.seconds},
          {"slot", some(e.slot)},
          {"tries", e.tries},
          {"equal_to", some(e.equal_to)},
          {"reason", some(e.reason)}};
}

json fields(const generation_closed& r, const run_picture& p) {
  json out{{"event", "generation"}, {"generation", r.generation}};
  const auto line = std::ranges::find(p.generations, r.generation,
                                      [](const auto& g) { return g.summary.generation; });
  if (line != p.generations.end())
    out.update(generation_json(*line));
  out["survivors"] = r.survivors;
  return out;
}

json fields(const run_finished& r, const run_picture&) {
  json out{{"event", "finished"}};
  out.update(finished_json(r));
  return out;
}

json fields(const run_paused& r, const run_picture&) {
  return {{"event", "paused"}, {"reason", r.reason}};
}

json fields(const run_resumed& r, const run_picture&) {
  return {{"event", "resumed"}, {"version", r.version}};
}

json fields(const attempt_failed& r, const run_picture&) {
  json out{{"event", "attempt"}};
  out.update(attempt_json(r));
  return out;
}

json fields(const straggler_seen& r, const run_picture&) {
  return {{"event", "straggler"},          {"id", r.id},       {"slot", r.slot},
          {"waited_ms", r.waited_ms},      {"of_ms", r.of_ms}, {"left_out", r.left_out},
          {"of_gradients", r.of_gradients}};
}

json fields(const slot_changed& r, const run_picture&) {
  return {{"event", "slot"},
          {"slot", r.slot},
          {"joined", r.joined},
          {"reason", some(r.reason)},
          {"rounding", r.rounding ? json(std::to_string(*r.rounding)) : json()}};
}

json fields(const run_forked& r, const run_picture&) {
  return {{"event", "forked"},
          {"origin", r.origin},
          {"generation", r.generation},
          {"changes", r.changes},
          {"seed", std::to_string(r.seed)},
          {"experiment", r.experiment}};
}

json fields(const operator_command& r, const run_picture& p) {
  if (annotates(r.order)) {
    const auto found = p.annotated.find(r.order.number);
    json out{{"event", "annotated"}, {"id", r.order.number}};
    out.update(
        annotation_json(found == p.annotated.end() ? annotation{} : found->second));
    return out;
  }
  return {{"event", "ordered"},
          {"order", to_text(r.order)},
          {"number", r.order.number},
          {"who", r.who}};
}

json fields(const final_planned& r, const run_picture&) {
  json out{{"event", "final_planned"}, {"reason", some(r.reason)}};
  out["trainings"] = json::array();
  for (const auto& t : r.trainings)
    out["trainings"].push_back({{"source", t.source},
                                {"epochs", t.epochs},
                                {"fold", t.fold.index},
                                {"folds", t.fold.of}});
  return out;
}

const char* model_of(const ensemble_member& m) {
  return m.trees ? "boosted trees" : m.id == 0 ? "linear model" : "candidate";
}

json fields(const model_composed& r, const run_picture&) {
  json out{{"event", "model_composed"},
           {"temperature", r.temperature},
           {"least_probability", r.least ? json(*r.least) : json()},
           {"metrics", metrics_json(r.metrics)},
           {"left_out", r.left_out}};
  out["members"] = json::array();
  for (const auto& m : r.members)
    out["members"].push_back({{"id", m.id}, {"share", m.share}, {"model", model_of(m)}});
  return out;
}

/// A kind of which views know no more than its sentence.
template<class Other>
json fields(const Other& r, const run_picture&) {
  return {{"event", "other"}, {"text", to_text(record(r))}};
}

json news_json(const record_event& h, const run_picture& p) {
  auto out = std::visit([&](const auto& r) { return fields(r, p); }, h.record);
  out["sequence"] = h.sequence;
  out["time"] = h.unix_ms;
  return out;
}

json news_json(const epoch_event& e, const run_picture&) {
  return {{"event", "epoch"},  {"slot", e.slot}, {"id", e.id},
          {"epoch", e.number}, {"epochs", e.of}, {"metrics", metrics_json(e.metrics)}};
}

json news_json(const slots_view& s, const run_picture&) {
  return slots_json(s);
}

json news_json(const restarted&, const run_picture&) {
  return {{"event", "restarted"}};
}

} // namespace

std::string to_json(const run_picture& p, const std::string& name, feed_state showing) {
  json out{{"event", "picture"},
           {"showing", to_text(showing)},
           {"name", name},
           {"sequence", p.sequence},
           {"time", some_time(p.unix_ms)},
           {"state", to_text(p.state)},
           {"reason", some(p.reason)},
           {"version", p.version},
           {"seed", std::to_string(p.rules.seed)},
           {"metric", p.rules.objective.metric},
           {"maximize", p.rules.objective.maximize},
           {"objective", objective_json(p.rules.objective)},
           {"named_by", some(p.named_by)},
           {"population", p.rules.evolution.population},
           {"planned_generations", p.rules.evolution.generations + p.extended},
           {"started", some_time(p.started_ms)},
           {"generation", p.generation},
           {"born", p.born},
           {"evaluated", p.evaluated},
           {"failed", p.failed},
           {"training_seconds", p.training_seconds},
           {"digest", to_text(p.digest)},
           {"experiment", p.experiment}};
  out["outcomes"] = json::object();
  for (const auto& [kind, count] : p.outcomes)
    out["outcomes"][to_text(kind)] = count;
  out["generations"] = json::array();
  for (const auto& g : p.generations)
    out["generations"].push_back(generation_json(g));
  out["best"] = lines_json(p.best);
  out["front"] = json::array();
  for (const auto& l : p.front)
    out["front"].push_back(member_json(l, aims_of(p.rules.objective)));
  out["latest"] = lines_json(p.latest);
  out["open"] = json::array();
  for (const auto& [id, line] : p.open)
    out["open"].push_back(line_json(line));
  out["attempts"] = json::array();
  for (const auto& a : p.attempts)
    out["attempts"].push_back(attempt_json(a));
  out["slots"] = json::array();
  for (const auto& s : p.slots)
    out["slots"].push_back({{"slot", s.slot},
                            {"joined", s.joined_ms},
                            {"left", some(s.left_ms)},
                            {"reason", some(s.reason)}});
  out["finished"] = p.finished ? finished_json(*p.finished) : json();
  out["annotations"] = annotations_json(p.annotated);
  return text_of(out);
}

std::string to_json(const news& n, const run_picture& p) {
  return std::visit([&](const auto& one) { return text_of(news_json(one, p)); }, n);
}

std::string to_json(const std::vector<candidate_row>& rows) {
  json out{{"columns",
            {"id",
             "generation",
             "index",
             "parents",
             "origin",
             "equal_to",
             "nodes",
             "operators",
             "outcome",
             "fitness",
             "parameters",
             "seconds",
             "slot",
             "reason",
             "born",
             "evaluated",
             "born_sequence",
             "evaluated_sequence",
             "hyperparameters",
             "metrics"}},
           {"rows", json::array()}};
  for (const auto& r : rows) {
    const auto& l = r.line;
    const bool evaluated = l.evaluated_ms != 0;
    const auto once = [&](auto v) { return evaluated ? json(v) : json(); };
    out["rows"].push_back({l.id,
                           l.generation,
                           r.index,
                           r.parents,
                           l.origin,
                           some(r.equal_to),
                           r.nodes,
                           settings_json(r.operators),
                           once(to_text(l.outcome)),
                           some(l.fitness),
                           once(l.parameters),
                           once(l.seconds),
                           some(l.slot),
                           some(l.reason),
                           l.born_ms,
                           some_time(l.evaluated_ms),
                           r.born_sequence,
                           some(r.evaluated_sequence),
                           settings_json(r.hyperparameters),
                           metrics_json(r.metrics)});
  }
  return text_of(out);
}

} // namespace clade
