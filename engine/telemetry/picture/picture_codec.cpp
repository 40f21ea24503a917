// PICTURE = {"sequence", "unix_ms", "version", "experiment", "extended", "started_ms",
//            "state", "reason", "generation", "born", "evaluated", "failed",
//            "training_seconds",
//            "outcomes": [[outcome, count]...], "digest": [high, low, records],
//            "generations": [[generation, best, best_fitness, median, lower_quartile,
//                             upper_quartile, succeeded, failed, born_ms, closed_ms,
//                             closed_sequence, front, hypervolume]...],
//            "box": nil | [[worst...], [extent...]],
//            "best": [LINE...], "front": [LINE...], "latest": [LINE...],
//            "open": [LINE...],
//            "slots": [[slot, joined_ms, left_ms | nil, reason]...],
//            "attempts": [[id, attempt, slot, reason]...],
//            "finished": nil | [champion, [examination...]],
//            "composed": nil | [member...] as in a record, "composed_interim": boolean,
//            "current": [[id, RANK]...],
//            "generation_born_ms": [[generation, unix_ms]...],
//            "folds_apart": boolean, "final_trainings", "final_evaluated",
//            "final_generation",
//            "annotated": [[candidate | 0, note, who, unix_ms, [tag...]]...]}
// LINE    = [id, generation, origin, born_ms, evaluated_ms | 0, outcome, fitness | nil,
//            RANK, parameters, seconds, slot, reason, nil | [high, low]: genes]
// RANK    = [ok, primary, secondary, violation, [objective...]]
//
// in this order. An outcome is a number (engine/search/core/candidate.hpp).
#include "engine/config/experiment/experiment.hpp"
#include "engine/telemetry/picture/wire_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clade {

void check_read(decoder& in, const hypervolume_box& box) {
  if (!std::ranges::all_of(box.extent, [](double e) { return e > 0; }))
    in.fail("a box has no extent");
}

void write_field(encoder& out, const annotations& annotated, bool = false) {
  out.array(annotated.size());
  for (const auto& [id, one] : annotated) {
    out.array(5).natural(id).text(one.note).text(one.who).integer(one.unix_ms);
    write_field(out, one.tags);
  }
}

void read_field(decoder& in, const char*, annotations& annotated) {
  const auto count = in.array();
  for (std::size_t i = 0; i < count && !in.failed(); ++i) {
    in.array(5);
    auto& one = annotated[in.natural()];
    one.note = in.text();
    one.who = in.text();
    one.unix_ms = in.integer();
    read_field(in, "tags", one.tags);
  }
}

void write_field(encoder& out, picture_state s, bool = false) {
  out.text(to_text(s));
}

void read_field(decoder& in, const char*, picture_state& s) {
  const auto text = in.text();
  if (const auto known = parse_picture_state(text))
    s = *known;
  else
    in.fail(fmt::format("no state is \"{}\"", text));
}

using open_candidates = std::map<candidate_id, candidate_line>;

void write_field(encoder& out, const open_candidates& open, bool = false) {
  out.array(open.size());
  for (const auto& [id, line] : open)
    write_field(out, line);
}

void read_field(decoder& in, const char* name, open_candidates& open) {
  for (auto& line : read_as<std::vector<candidate_line>>(in, name))
    open[line.id] = line;
}

void fields(auto& v, like<digest> auto& d) {
  v("high", d.high);
  v("low", d.low);
  v("records", d.records);
}

void fields(auto& v, like<hypervolume_box> auto& box) {
  v("worst", box.worst);
  v("extent", box.extent);
}

void fields(auto& v, like<run_picture> auto& p) {
  v("sequence", p.sequence);
  v("unix_ms", p.unix_ms);
  v("version", p.version);
  v("experiment", p.experiment);
  v("extended", p.extended);
  v("started_ms", p.started_ms);
  v("state", p.state);
  v("reason", p.reason);
  v("generation", p.generation);
  v("born", p.born);
  v("evaluated", p.evaluated);
  v("failed", p.failed);
  v("training_seconds", p.training_seconds);
  v("outcomes", p.outcomes);
  v("digest", p.digest);
  v("generations", p.generations);
  v("box", p.box);
  v("best", p.best);
  v("front", p.front);
  v("latest", p.latest);
  v("open", p.open);
  v("slots", p.slots);
  v("attempts", p.attempts);
  v("finished", p.finished);
  v("composed", p.composed);
  v("composed_interim", p.composed_interim);
  v("current", p.current);
  v("generation_born_ms", p.generation_born_ms);
  v("folds_apart", p.folds_apart);
  v("final_trainings", p.final_trainings);
  v("final_evaluated", p.final_evaluated);
  v("final_generation", p.final_generation);
  v("annotated", p.annotated);
}

namespace {

/// A number of values for each objective of its rules, wherever there are any: what
/// compares them relies on it.
void check_objectives(decoder& d, const run_picture& p) {
  const auto& others = p.rules.objective.others;
  const std::size_t count = others.empty() ? 0 : 1 + others.size();
  const auto fits = [&](const fitness& f) {
    return f.objectives.size() == (f.ok ? count : 0);
  };
  const auto lines = [&](const auto& all) {
    return std::ranges::all_of(all, [&](const auto& l) { return fits(l.rank); });
  };
  const bool right =
      lines(p.front)
      && std::ranges::all_of(p.current, [&](const auto& i) { return fits(i.fitness); })
      && (!p.box || (p.box->worst.size() == count && p.box->extent.size() == count));
  if (!d.failed() && !right)
    d.fail("a candidate has other objectives than its run");
}

/// The rules are those of the experiment, once there is one.
void read_rules(decoder& d, run_picture& p) {
  if (d.failed() || p.experiment.empty())
    return;
  if (const auto e = parse_resolved(p.experiment, "a picture's experiment"))
    take_experiment(p, *e);
  else
    d.fail(e.error().message);
}

} // namespace

void encode(encoder& out, const run_picture& p) {
  write_map(out, p);
}

run_picture decode_picture(decoder& d) {
  auto p = read_map<run_picture>(d);
  read_rules(d, p);
  check_objectives(d, p);
  return p;
}

} // namespace clade
