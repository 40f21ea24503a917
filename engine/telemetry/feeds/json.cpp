#include "engine/telemetry/feeds/json.hpp"

#include "engine/config/experiment/experiment.hpp"
#include "engine/report/base/json_fields.hpp"
#include "engine/telemetry/picture/wire_fields.hpp"

namespace clade {

namespace {

using json = ordered_json;

json some_time(std::int64_t ms) {
  return ms == 0 ? json() : json(ms);
}

/// Adds the values of several objectives, as they were measured.
json member_json(const candidate_line& l, const std::vector<aim>& aims) {
  auto out = json_of(l);
  out["objectives"] = json::object();
  for (std::size_t i = 0; i < l.rank.objectives.size() && i < aims.size(); ++i)
    out["objectives"][aims[i].metric] =
        as_measured(l.rank.objectives[i], aims[i].maximize);
  return out;
}

json objective_json(const objective& o) {
  const auto bound = [](const constraint& c) -> json {
    return {{"metric", c.metric}, {c.at_most ? "at_most" : "at_least", c.limit}};
  };
  const auto direction = [](const aim& a) -> json {
    return {{"metric", a.metric}, {"maximize", a.maximize}};
  };
  return {{"aims", json_of(aims_of(o), direction)},
          {"constraints", json_of(o.constraints, bound)}};
}

// Writes an event for each kind of record.

json event_json(const run_started& r, const run_picture&) {
  const auto e = parse_resolved(r.experiment, "the run's experiment");
  return {{"event", "started"},
          {"name", e ? json(e->name) : json()},
          {"version", r.version},
          {"seed", std::to_string(r.seed)},
          {"experiment", r.experiment}};
}

json event_json(const candidate_born& r, const run_picture&) {
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

json event_json(const candidate_evaluated& r, const run_picture& p) {
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

json event_json(const generation_closed& r, const run_picture& p) {
  json out{{"event", "generation"}, {"generation", r.generation}};
  const auto line = std::ranges::find(p.generations, r.generation,
                                      [](const auto& g) { return g.summary.generation; });
  if (line != p.generations.end())
    put_fields(out, *line);
  out["survivors"] = r.survivors;
  return out;
}

json event_json(const run_forked& r, const run_picture&) {
  return {{"event", "forked"},
          {"origin", r.origin},
          {"generation", r.generation},
          {"changes", r.changes},
          {"seed", std::to_string(r.seed)},
          {"experiment", r.experiment}};
}

json event_json(const operator_command& r, const run_picture& p) {
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

json composed_json(const model_composed& model, bool interim) {
  auto out = final_model_json(model);
  out["interim"] = interim;
  return out;
}

json event_json(const model_composed& r, const run_picture&) {
  json out{{"event", "model_composed"}};
  out.update(composed_json(r, false));
  return out;
}

json event_json(const interim_composed& r, const run_picture&) {
  json out{{"event", "interim_composed"}};
  out.update(composed_json(r.model, true));
  return out;
}

template<class T>
json listed_json(const char* event, const T& v) {
  json out{{"event", event}};
  return put_fields(out, v);
}

struct event_writer {
  const run_picture& p;

  // All that the list of the fields shows.
  json operator()(const attempt_failed& r) const { return listed_json("attempt", r); }
  json operator()(const final_planned& r) const {
    return listed_json("final_planned", r);
  }
  json operator()(const run_finished& r) const { return listed_json("finished", r); }
  json operator()(const run_paused& r) const { return listed_json("paused", r); }
  json operator()(const run_resumed& r) const { return listed_json("resumed", r); }
  json operator()(const slot_changed& r) const { return listed_json("slot", r); }
  json operator()(const straggler_seen& r) const { return listed_json("straggler", r); }
  /// Views know no more than the sentence of a kind that is not named here.
  json operator()(const auto& r) const {
    if constexpr (requires { event_json(r, p); })
      return event_json(r, p);
    else
      return {{"event", "other"}, {"text", to_text(record(r))}};
  }
};

struct news_writer {
  const run_picture& p;

  json operator()(const record_event& h) const {
    auto out = std::visit(event_writer{p}, h.record);
    out["sequence"] = h.sequence;
    out["time"] = h.unix_ms;
    return out;
  }
  json operator()(const epoch_event& e) const { return listed_json("epoch", e); }
  json operator()(const slots_view& s) const { return listed_json("slots", s); }
  json operator()(const restarted&) const { return {{"event", "restarted"}}; }
};

/// The columns of a table of candidates.
void list_columns(auto& v, const candidate_row& r) {
  const auto& l = r.line;
  const auto evaluated = if_known(l.evaluated_ms);
  v("id", l.id);
  v("generation", l.generation);
  v("index", r.index);
  v("parents", r.parents);
  v("origin", l.origin);
  v("equal_to", r.equal_to, if_known(r.equal_to));
  v("nodes", r.nodes);
  v("operators", r.operators);
  v("outcome", l.outcome, evaluated);
  v("fitness", l.fitness);
  v("parameters", l.parameters, evaluated);
  v("seconds", l.seconds, evaluated);
  v("slot", l.slot, if_known(l.slot));
  v("reason", l.reason, if_known(l.reason));
  v("born", l.born_ms);
  v("evaluated", l.evaluated_ms, evaluated);
  v("born_sequence", r.born_sequence);
  v("evaluated_sequence", r.evaluated_sequence, if_known(r.evaluated_sequence));
  v("hyperparameters", r.hyperparameters);
  v("metrics", r.metrics);
}

struct name_lister {
  json names = json::array();

  void operator()(const char* name, const auto&...) { names.push_back(name); }
};

struct value_lister {
  json values = json::array();

  void operator()(const char*, const auto& v, null_unless is = null_unless(true)) {
    values.push_back(is.known ? json_of(v) : json());
  }
};

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
           {"final_trainings", p.final_trainings},
           {"final_evaluated", p.final_evaluated},
           {"final_generation", p.final_generation},
           {"born", p.born},
           {"evaluated", p.evaluated},
           {"failed", p.failed},
           {"training_seconds", p.training_seconds},
           {"digest", to_text(p.digest)},
           {"experiment", p.experiment}};
  out["outcomes"] = json::object();
  for (const auto& [kind, count] : p.outcomes)
    out["outcomes"][to_text(kind)] = count;
  out["generations"] = json_of(p.generations);
  out["best"] = json_of(p.best);
  out["front"] = json_of(p.front, [aims = aims_of(p.rules.objective)](const auto& l) {
    return member_json(l, aims);
  });
  out["latest"] = json_of(p.latest);
  out["open"] = json_of(p.open, [](const auto& one) { return json_of(one.second); });
  out["attempts"] = json_of(p.attempts);
  out["slots"] = json_of(p.slots);
  out["finished"] = json_of(p.finished);
  out["composed"] = p.composed ? composed_json(*p.composed, p.composed_interim) : json();
  out["annotations"] = annotations_json(p.annotated);
  return text_of(out);
}

std::string to_json(const news& n, const run_picture& p) {
  return text_of(std::visit(news_writer{p}, n));
}

std::string to_json(const std::vector<candidate_row>& rows) {
  name_lister columns;
  list_columns(columns, candidate_row{});
  const auto values = [](const candidate_row& r) {
    value_lister row;
    list_columns(row, r);
    return row.values;
  };
  return text_of({{"columns", columns.names}, {"rows", json_of(rows, values)}});
}

} // namespace clade
