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
//            "current": [[id, RANK]...],
//            "generation_born_ms": [[generation, unix_ms]...],
//            "annotated": [[candidate | 0, note, who, unix_ms, [tag...]]...]}
// LINE    = [id, generation, origin, born_ms, evaluated_ms | 0, outcome, fitness | nil,
//            RANK, parameters, seconds, slot, reason]
// RANK    = [ok, primary, secondary, violation, [objective...]]
//
// in this order. An outcome is a number (engine/search/core/candidate.hpp).
#include "engine/config/experiment.hpp"
#include "engine/telemetry/wire.hpp"
#include "engine/telemetry/wire_parts.hpp"

#include <algorithm>

namespace clade {

namespace {

void encode(encoder& out, const objective_point& p) {
  out.array(p.size());
  for (const double v : p)
    out.real(v);
}

void encode(encoder& out, const fitness& f) {
  out.array(5).boolean(f.ok).real(f.primary).real(f.secondary).real(f.violation);
  encode(out, f.objectives);
}

objective_point decode_point(decoder& d) {
  return decode_list(d, [](decoder& one) { return one.real(); });
}

fitness decode_fitness(decoder& d) {
  d.array(5);
  fitness f;
  f.ok = d.boolean();
  f.primary = d.real();
  f.secondary = d.real();
  f.violation = d.real();
  f.objectives = decode_point(d);
  return f;
}

void encode(encoder& out, const generation_line& g) {
  const auto& s = g.summary;
  out.array(13).natural(s.generation).natural(s.best).real(s.best_fitness);
  out.real(s.median_fitness).real(s.lower_quartile).real(s.upper_quartile);
  out.natural(s.succeeded).natural(s.failed).integer(g.born_ms).integer(g.closed_ms);
  out.natural(g.closed_sequence).natural(s.front.members).real(s.front.hypervolume);
}

generation_line decode_generation(decoder& d) {
  d.array(13);
  generation_line g;
  auto& s = g.summary;
  s.generation = d.natural();
  s.best = d.natural();
  s.best_fitness = d.real();
  s.median_fitness = d.real();
  s.lower_quartile = d.real();
  s.upper_quartile = d.real();
  s.succeeded = d.natural();
  s.failed = d.natural();
  g.born_ms = d.integer();
  g.closed_ms = d.integer();
  g.closed_sequence = d.natural();
  s.front.members = d.natural();
  s.front.hypervolume = d.real();
  return g;
}

void encode(encoder& out, const slot_stay& s) {
  out.array(4).text(s.slot).integer(s.joined_ms);
  if (s.left_ms)
    out.integer(*s.left_ms);
  else
    out.nil();
  out.text(s.reason);
}

slot_stay decode_stay(decoder& d) {
  d.array(4);
  slot_stay s;
  s.slot = d.text();
  s.joined_ms = d.integer();
  if (!d.is_nil())
    s.left_ms = d.integer();
  s.reason = d.text();
  return s;
}

void encode(encoder& out, const attempt_failed& a) {
  out.array(4).natural(a.id).natural(a.attempt).text(a.slot).text(a.reason);
}

attempt_failed decode_attempt(decoder& d) {
  d.array(4);
  attempt_failed a;
  a.id = d.natural();
  a.attempt = decode_small(d, "attempt");
  a.slot = d.text();
  a.reason = d.text();
  return a;
}

void encode(encoder& out, const individual& i) {
  out.array(2).natural(i.id);
  encode(out, i.fitness);
}

individual decode_individual(decoder& d) {
  d.array(2);
  individual i;
  i.id = d.natural();
  i.fitness = decode_fitness(d);
  return i;
}

template<class List>
void encode_list(encoder& out, const char* name, const List& list) {
  out.text(name).array(list.size());
  for (const auto& one : list)
    encode(out, one);
}

void expect(decoder& d, std::string_view name) {
  if (const auto found = d.text(); found != name)
    d.fail("\"" + found + "\" where \"" + std::string(name) + "\" is meant");
}

template<class Read>
auto decode_named_list(decoder& d, const char* name, Read read) {
  expect(d, name);
  return decode_list(d, read);
}

void encode_counts(encoder& out, const run_picture& p) {
  out.text("sequence").natural(p.sequence).text("unix_ms").integer(p.unix_ms);
  out.text("version").text(p.version).text("experiment").text(p.experiment);
  out.text("extended").natural(p.extended);
  out.text("started_ms").integer(p.started_ms);
  out.text("state").text(p.state).text("reason").text(p.reason);
  out.text("generation").natural(p.generation).text("born").natural(p.born);
  out.text("evaluated").natural(p.evaluated).text("failed").natural(p.failed);
  out.text("training_seconds").real(p.training_seconds);
  out.text("outcomes").array(p.outcomes.size());
  for (const auto& [kind, count] : p.outcomes)
    out.array(2).natural(static_cast<std::uint64_t>(kind)).natural(count);
  out.text("digest").array(3).natural(p.digest.high).natural(p.digest.low);
  out.natural(p.digest.records);
}

void decode_counts(decoder& d, run_picture& p) {
  const auto natural = [&](const char* name) {
    expect(d, name);
    return d.natural();
  };
  const auto integer = [&](const char* name) {
    expect(d, name);
    return d.integer();
  };
  const auto text = [&](const char* name) {
    expect(d, name);
    return d.text();
  };
  p.sequence = natural("sequence");
  p.unix_ms = integer("unix_ms");
  p.version = text("version");
  p.experiment = text("experiment");
  p.extended = natural("extended");
  p.started_ms = integer("started_ms");
  p.state = text("state");
  p.reason = text("reason");
  p.generation = natural("generation");
  p.born = natural("born");
  p.evaluated = natural("evaluated");
  p.failed = natural("failed");
  expect(d, "training_seconds");
  p.training_seconds = d.real();
  expect(d, "outcomes");
  const auto kinds = d.array();
  for (std::size_t i = 0; i < kinds && !d.failed(); ++i) {
    d.array(2);
    const auto kind = decode_outcome(d);
    p.outcomes[kind] = d.natural();
  }
  expect(d, "digest");
  d.array(3);
  p.digest.high = d.natural();
  p.digest.low = d.natural();
  p.digest.records = d.natural();
}

void encode_box(encoder& out, const std::optional<hypervolume_box>& box) {
  out.text("box");
  if (!box) {
    out.nil();
    return;
  }
  out.array(2);
  encode(out, box->worst);
  encode(out, box->extent);
}

std::optional<hypervolume_box> decode_box(decoder& d) {
  expect(d, "box");
  if (d.is_nil())
    return std::nullopt;
  d.array(2);
  hypervolume_box box;
  box.worst = decode_point(d);
  box.extent = decode_point(d);
  if (!std::ranges::all_of(box.extent, [](double e) { return e > 0; }) && !d.failed())
    d.fail("a box has no extent");
  return box;
}

void encode_annotations(encoder& out, const annotations& annotated) {
  out.text("annotated").array(annotated.size());
  for (const auto& [id, one] : annotated) {
    out.array(5).natural(id).text(one.note).text(one.who).integer(one.unix_ms);
    out.array(one.tags.size());
    for (const auto& tag : one.tags)
      out.text(tag);
  }
}

void decode_annotations(decoder& d, annotations& annotated) {
  expect(d, "annotated");
  const auto count = d.array();
  for (std::size_t i = 0; i < count && !d.failed(); ++i) {
    d.array(5);
    auto& one = annotated[d.natural()];
    one.note = d.text();
    one.who = d.text();
    one.unix_ms = d.integer();
    const auto tags = decode_list(d, [](decoder& e) { return e.text(); });
    one.tags.insert(tags.begin(), tags.end());
  }
}

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
    p.rules = rules_of(*e);
  else
    d.fail(e.error().message);
}

} // namespace

void encode(encoder& out, const candidate_line& l) {
  out.array(12).natural(l.id).natural(l.generation).text(l.origin).integer(l.born_ms);
  out.integer(l.evaluated_ms).natural(static_cast<std::uint64_t>(l.outcome));
  encode(out, l.fitness);
  encode(out, l.rank);
  out.natural(l.parameters).real(l.seconds).text(l.slot).text(l.reason);
}

candidate_line decode_line(decoder& d) {
  d.array(12);
  candidate_line l;
  l.id = d.natural();
  l.generation = d.natural();
  l.origin = d.text();
  l.born_ms = d.integer();
  l.evaluated_ms = d.integer();
  l.outcome = decode_outcome(d);
  l.fitness = decode_optional_real(d);
  l.rank = decode_fitness(d);
  l.parameters = d.natural();
  l.seconds = d.real();
  l.slot = d.text();
  l.reason = d.text();
  return l;
}

void encode(encoder& out, const run_picture& p) {
  out.map(27);
  encode_counts(out, p);
  encode_list(out, "generations", p.generations);
  encode_box(out, p.box);
  encode_list(out, "best", p.best);
  encode_list(out, "front", p.front);
  encode_list(out, "latest", p.latest);
  out.text("open").array(p.open.size());
  for (const auto& [id, line] : p.open)
    encode(out, line);
  encode_list(out, "slots", p.slots);
  encode_list(out, "attempts", p.attempts);
  out.text("finished");
  if (p.finished) {
    out.array(2).natural(p.finished->champion).array(p.finished->examinations.size());
    for (const auto& one : p.finished->examinations)
      encode(out, one);
  } else {
    out.nil();
  }
  encode_list(out, "current", p.current);
  out.text("generation_born_ms").array(p.generation_born_ms.size());
  for (const auto& [generation, ms] : p.generation_born_ms)
    out.array(2).natural(generation).integer(ms);
  encode_annotations(out, p.annotated);
}

run_picture decode_picture(decoder& d) {
  run_picture p;
  if (d.map() != 27)
    d.fail("a picture has 27 entries");
  decode_counts(d, p);
  p.generations = decode_named_list(d, "generations", decode_generation);
  p.box = decode_box(d);
  p.best = decode_named_list(d, "best", decode_line);
  p.front = decode_named_list(d, "front", decode_line);
  const auto latest = decode_named_list(d, "latest", decode_line);
  p.latest.assign(latest.begin(), latest.end());
  for (auto& line : decode_named_list(d, "open", decode_line))
    p.open[line.id] = line;
  p.slots = decode_named_list(d, "slots", decode_stay);
  const auto attempts = decode_named_list(d, "attempts", decode_attempt);
  p.attempts.assign(attempts.begin(), attempts.end());
  expect(d, "finished");
  if (!d.is_nil()) {
    d.array(2);
    run_finished f;
    f.champion = d.natural();
    f.examinations = decode_list(d, decode_examination);
    p.finished = std::move(f);
  }
  p.current = decode_named_list(d, "current", decode_individual);
  expect(d, "generation_born_ms");
  const auto born = d.array();
  for (std::size_t i = 0; i < born && !d.failed(); ++i) {
    d.array(2);
    const auto generation = d.natural();
    p.generation_born_ms[generation] = d.integer();
  }
  decode_annotations(d, p.annotated);
  read_rules(d, p);
  check_objectives(d, p);
  return p;
}

} // namespace clade
