#include "engine/report/text/json.hpp"

#include "engine/report/base/json_fields.hpp"
#include "engine/report/base/overview_fields.hpp"
#include "engine/run/records/record_fields.hpp"

namespace clade {

static void fields(auto& v, like<compared> auto& c) {
  v("subject", c.subject);
  v("id", c.id, if_known(c.id));
  v("validation", c.validation);
  v("test", c.test);
  v("parameters", c.parameters);
  v("test_metrics", c.test_metrics);
}

namespace {

using json = ordered_json;

/// Readers of JSON know whole numbers up to 2^53 only.
json exact(std::uint64_t n) {
  return std::to_string(n);
}

json exact(innovation id) {
  return exact(static_cast<std::uint64_t>(id));
}

json genome_json(const genome& g) {
  json out{{"nodes", json::array()}, {"edges", json::array()}};
  for (const auto& n : g.nodes)
    out["nodes"].push_back(
        {{"id", exact(n.id)}, {"op", n.op}, {"settings", settings_json(n.settings)}});
  for (const auto& e : g.edges) {
    json edge{{"id", exact(e.id)},    {"from", exact(e.from)},      {"to", exact(e.to)},
              {"enabled", e.enabled}, {"recurrent", e.recurrent()}, {"weight", e.weight}};
    if (e.recurrent())
      edge["delay"] = e.delay;
    out["edges"].push_back(std::move(edge));
  }
  out["hyperparameters"] = settings_json(g.hyperparameters);
  return out;
}

json run_json(const run_view& r) {
  const auto& o = r.overview;
  return {{"name", r.name},
          {"file", std::filesystem::absolute(r.file).string()},
          {"bytes", r.bytes},
          {"state", to_text(r.state())},
          {"process", r.writer && *r.writer > 0 ? json(*r.writer) : json()},
          {"reason", some(o.reason)},
          {"version", some(o.version)},
          {"seed", o.seed},
          {"forked_from", some(r.forked_from())},
          {"chosen", some(r.chosen())},
          {"metric", o.goal.metric},
          {"maximize", o.goal.maximize},
          {"started_ms", o.started_ms == 0 ? json() : json(o.started_ms)},
          {"updated_ms", o.updated_ms == 0 ? json() : json(o.updated_ms)},
          {"records", o.records},
          {"generation", o.generation},
          {"born", o.born},
          {"evaluated", o.evaluated},
          {"failed", o.failed},
          {"final_trainings", o.final_trainings},
          {"training_seconds", o.training_seconds},
          {"best", some(o.best)},
          {"best_fitness", o.best == 0 ? json() : json(o.best_fitness)},
          {"champion", some(o.champion)},
          {"digest", r.digest ? json(to_text(*r.digest)) : json()}};
}

json front_json(const front_view& v) {
  const auto aims = aims_of(v.goal);
  json out{{"objective", to_text(v.goal)},
           {"members", json::array()},
           {"generations", json::array()}};
  for (const auto& member : v.members) {
    json values = json::object();
    for (std::size_t i = 0; i < aims.size(); ++i)
      values[aims[i].metric] =
          as_measured(member.fitness.objectives[i], aims[i].maximize);
    out["members"].push_back({{"id", member.id},
                              {"generation", member.generation},
                              {"parameters", member.parameters},
                              {"objectives", std::move(values)}});
  }
  for (const auto& step : v.steps)
    out["generations"].push_back({{"generation", step.generation},
                                  {"members", step.front.members},
                                  {"hypervolume", step.front.hypervolume}});
  return out;
}

json genome_view_json(const genome_view& g) {
  const auto& c = g.born;
  json out{{"id", c.id},
           {"generation", c.generation},
           {"index", c.index},
           {"attempt", c.attempt},
           {"origin", to_text(c.changes)},
           {"changes", changes_json(c.changes)},
           {"parents", c.parents},
           {"equal_to", some(c.equal_to)},
           {"epochs", some(c.epochs)},
           {"start", some(c.start)},
           {"network", to_text(c.network)},
           {"work", c.work},
           {"has_weights", g.has_weights},
           {"genome", genome_json(*c.genome)},
           {"description", to_text(*c.genome)}};
  out["evaluation"] = json_of(g.evaluated);
  out["lineage"] = json_of(g.lineage);
  return out;
}

/// Returns what the end of a run says beside the champion's genome.
json end_json(const champion_view& c) {
  json out{{"validation_metric", c.validation_metric},
           {"test_metric", some(c.test_metric)},
           {"comparison", json_of(c.comparison)},
           {"details", details_json(c.details)},
           {"final_model", c.final_model ? final_model_json(*c.final_model) : json()},
           {"verdict", c.verdict},
           {"seeds", seeds_json(c.seeds)}};
  return out;
}

} // namespace

std::string to_json(const run_view& r) {
  return text_of(run_json(r));
}

std::string to_json(const run_view& r, std::span<const generation_overview> generations,
                    std::span<const node_overview> nodes,
                    const std::optional<front_view>& front,
                    const std::optional<champion_view>& end,
                    const annotations& annotated) {
  auto out = run_json(r);
  out["generations"] = json_of(generations);
  out["nodes"] = json_of(nodes);
  out["front"] = front ? front_json(*front) : json();
  out["model_so_far"] = r.interim ? final_model_json(*r.interim) : json();
  out["end"] = end ? end_json(*end) : json();
  out["annotations"] = annotations_json(annotated);
  return text_of(out);
}

std::string to_json(std::span<const candidate_overview> members,
                    std::uint64_t generation) {
  return text_of({{"generation", generation}, {"candidates", json_of(members)}});
}

std::string to_json(const genome_view& g, const annotation* annotated) {
  auto out = genome_view_json(g);
  if (annotated != nullptr)
    out["annotation"] = annotation_json(*annotated);
  return text_of(out);
}

std::string to_json(const champion_view& c) {
  json out{{"champion", c.champion ? genome_view_json(*c.champion) : json()}};
  out.update(end_json(c));
  return text_of(out);
}

std::string verdict_json(const champion_view& c) {
  return text_of(json(c.verdict));
}

std::string curves_json(std::span<const genome_view> candidates) {
  json out{{"curves", json::array()}};
  for (const auto& c : candidates)
    if (c.evaluated)
      out["curves"].push_back({{"id", c.born.id},
                               {"metrics", metrics_json(c.evaluated->metrics)},
                               {"curve", json_of(c.evaluated->curve)}});
  return text_of(out);
}

std::string to_json(const node_costs& costs) {
  json out{{"nodes", json::object()}};
  for (const auto& [id, cost] : costs)
    out["nodes"][std::to_string(static_cast<std::uint64_t>(id))] =
        json{{"shape", cost.out.sizes},
             {"parameters", cost.parameters},
             {"multiply_adds", cost.multiply_adds}};
  return text_of(out);
}

} // namespace clade
