#include "engine/telemetry/wire.hpp"

#include "engine/telemetry/wire_parts.hpp"

namespace clade {

namespace {

std::int64_t count(std::chrono::milliseconds time) {
  return time.count();
}

void encode(encoder& out, const slot_view& s) {
  out.array(11).text(s.name).text(s.label).boolean(s.ready).boolean(s.away);
  out.natural(s.training).natural(s.epoch).natural(s.epochs);
  out.integer(count(s.joined)).integer(count(s.heard)).integer(count(s.at_work));
  out.integer(count(s.quarantined));
}

slot_view decode_slot(decoder& d) {
  d.array(11);
  slot_view s;
  s.name = d.text();
  s.label = d.text();
  s.ready = d.boolean();
  s.away = d.boolean();
  s.training = d.natural();
  s.epoch = decode_small(d, "epoch");
  s.epochs = decode_small(d, "epochs");
  for (auto* time : {&s.joined, &s.heard, &s.at_work, &s.quarantined})
    *time = std::chrono::milliseconds(d.integer());
  return s;
}

std::vector<bytes> parts(const happened& h) {
  encoder place;
  place.array(2).natural(h.sequence).integer(h.unix_ms);
  return {"record", place.take(), encode(h.record)};
}

std::vector<bytes> parts(const epoch_news& e) {
  encoder out;
  out.array(5).text(e.slot).natural(e.id).natural(e.number).natural(e.of);
  encode(out, e.metrics);
  return {"epoch", out.take()};
}

std::vector<bytes> parts(const slots_view& v) {
  encoder out;
  out.array(2).natural(v.waiting).array(v.slots.size());
  for (const auto& s : v.slots)
    encode(out, s);
  return {"slots", out.take()};
}

std::vector<bytes> parts(const alive& a) {
  encoder out;
  out.array(1).natural(a.sequence);
  return {"alive", out.take()};
}

expected<published> decode_happened(std::span<const bytes> parts) {
  decoder d(parts[1]);
  happened h;
  d.array(2);
  h.sequence = d.natural();
  h.unix_ms = d.integer();
  if (auto done = d.finish(); !done)
    return tl::unexpected(done.error());
  return decode_record(parts[2]).map([&](record r) -> published {
    h.record = std::move(r);
    return std::move(h);
  });
}

published decode_two_parts(const bytes& topic, decoder& d) {
  if (topic == "epoch") {
    epoch_news e;
    d.array(5);
    e.slot = d.text();
    e.id = d.natural();
    e.number = decode_small(d, "epoch");
    e.of = decode_small(d, "epochs");
    e.metrics = decode_metrics(d);
    return e;
  }
  if (topic == "slots") {
    slots_view v;
    d.array(2);
    v.waiting = d.natural();
    v.slots = decode_list(d, decode_slot);
    return v;
  }
  if (topic != "alive")
    d.fail("unknown topic");
  d.array(1);
  return alive{d.natural()};
}

// What a run answers to requests.

void encode(encoder& out, const candidate_overview& c) {
  out.array(12).natural(c.id).natural(c.generation).natural(c.index).text(c.origin);
  encode(out, c.parents);
  out.natural(c.equal_to).natural(c.nodes);
  if (c.result)
    out.natural(static_cast<std::uint64_t>(*c.result));
  else
    out.nil();
  encode(out, c.fitness);
  out.natural(c.parameters).real(c.seconds).text(c.reason);
}

candidate_overview decode_overview(decoder& d) {
  d.array(12);
  candidate_overview c;
  c.id = d.natural();
  c.generation = d.natural();
  c.index = d.natural();
  c.origin = d.text();
  c.parents = decode_ids(d);
  c.equal_to = d.natural();
  c.nodes = d.natural();
  if (!d.is_nil())
    c.result = decode_outcome(d);
  c.fitness = decode_optional_real(d);
  c.parameters = d.natural();
  c.seconds = d.real();
  c.reason = d.text();
  return c;
}

void encode(encoder& out, const candidate_row& r) {
  out.array(10);
  encode(out, r.line);
  out.natural(r.index);
  encode(out, r.parents);
  out.natural(r.equal_to).natural(r.nodes).encode(r.operators);
  out.encode(r.hyperparameters);
  encode(out, r.metrics);
  out.natural(r.born_sequence).natural(r.evaluated_sequence);
}

candidate_row decode_row(decoder& d) {
  d.array(10);
  candidate_row r;
  r.line = decode_line(d);
  r.index = d.natural();
  r.parents = decode_ids(d);
  r.equal_to = d.natural();
  r.nodes = d.natural();
  r.operators = d.settings();
  r.hyperparameters = d.settings();
  r.metrics = decode_metrics(d);
  r.born_sequence = d.natural();
  r.evaluated_sequence = d.natural();
  return r;
}

/// Opens an answer of that kind: its size, with the kind.
void open_answer(decoder& d, std::string_view kind, std::size_t size) {
  const auto found_size = d.array();
  const auto found = d.text();
  if (found == "error" && found_size == 2)
    d.fail(d.text());
  else if (found != kind || found_size != size)
    d.fail("an answer of another kind: " + found);
}

template<class T>
expected<T> closed(const decoder& d, T value) {
  return d.finish().map([&] { return std::move(value); });
}

} // namespace

std::vector<bytes> encode(const published& p) {
  return std::visit([](const auto& one) { return parts(one); }, p);
}

expected<published> decode_published(std::span<const bytes> parts) {
  if (parts.size() == 3 && parts[0] == "record")
    return decode_happened(parts);
  if (parts.size() != 2)
    return fail(error_kind::corrupt, "a message of " + std::to_string(parts.size())
                                         + " parts, which none has");
  decoder d(parts[1]);
  auto found = decode_two_parts(parts[0], d);
  return closed(d, std::move(found));
}

bytes encode(const request& r) {
  encoder out;
  if (std::holds_alternative<snapshot_request>(r))
    out.array(1).text("snapshot");
  else if (const auto* c = std::get_if<candidate_request>(&r))
    out.array(2).text("candidate").natural(c->id);
  else if (const auto* rows = std::get_if<rows_request>(&r))
    out.array(3).text("candidates").natural(rows->after).natural(rows->count);
  return out.take();
}

expected<request> decode_request(std::span<const char> data) {
  decoder d(data);
  const auto size = d.array();
  const auto what = d.text();
  request r;
  if (what == "snapshot" && size == 1) {
    r = snapshot_request{};
  } else if (what == "candidate" && size == 2) {
    r = candidate_request{d.natural()};
  } else if (what == "candidates" && size == 3) {
    const auto after = d.natural();
    r = rows_request{after, d.natural()};
  } else {
    d.fail("no request: \"snapshot\", \"candidate\" or \"candidates\" is meant");
  }
  return closed(d, r);
}

bytes encode_told(const instruction& order, const std::string& who) {
  encoder out;
  out.array(3).text("tell");
  encode(out, order);
  out.text(who);
  return out.take();
}

expected<person_ordered> decode_told(std::span<const char> data) {
  decoder d(data);
  d.array(3);
  if (d.text() != "tell")
    d.fail("nothing is told: [\"tell\", instruction, who] is meant");
  person_ordered told{.order = decode_instruction(d), .who = {}};
  told.who = d.text();
  if (told.who.empty() || told.who.size() > longest_name)
    d.fail("who tells it has a name of 1 to " + std::to_string(longest_name) + " bytes");
  return closed(d, std::move(told));
}

bytes encode_done() {
  encoder out;
  out.array(1).text("done");
  return out.take();
}

expected<void> decode_done(std::span<const char> data) {
  decoder d(data);
  open_answer(d, "done", 1);
  return d.finish();
}

bytes encode_snapshot(const std::string& name, const run_picture& p) {
  encoder out;
  out.array(3).text("snapshot").text(name);
  encode(out, p);
  return out.take();
}

bytes encode_answer(const genome_view& g) {
  encoder out;
  out.array(2).text("candidate").array(6);
  encode(out, g.born);
  if (g.evaluated)
    encode(out, *g.evaluated);
  else
    out.nil();
  out.array(g.lineage.size());
  for (const auto& one : g.lineage)
    encode(out, one);
  out.text(g.goal.metric).boolean(g.goal.maximize).boolean(g.has_weights);
  return out.take();
}

bytes encode_answer(const std::vector<candidate_row>& rows) {
  encoder out;
  out.array(2).text("candidates").array(rows.size());
  for (const auto& row : rows)
    encode(out, row);
  return out.take();
}

bytes encode_failure(const std::string& sentence) {
  encoder out;
  out.array(2).text("error").text(sentence);
  return out.take();
}

expected<snapshot> decode_snapshot(std::span<const char> data) {
  decoder d(data);
  snapshot s;
  open_answer(d, "snapshot", 3);
  s.name = d.text();
  s.picture = decode_picture(d);
  return closed(d, std::move(s));
}

expected<genome_view> decode_candidate_answer(std::span<const char> data) {
  decoder d(data);
  genome_view g;
  open_answer(d, "candidate", 2);
  d.array(6);
  g.born = decode_candidate(d);
  if (!d.is_nil())
    g.evaluated = decode_evaluation(d);
  g.lineage = decode_list(d, decode_overview);
  g.goal.metric = d.text();
  g.goal.maximize = d.boolean();
  g.has_weights = d.boolean();
  return closed(d, std::move(g));
}

expected<std::vector<candidate_row>> decode_rows_answer(std::span<const char> data) {
  decoder d(data);
  open_answer(d, "candidates", 2);
  auto rows = decode_list(d, decode_row);
  return closed(d, std::move(rows));
}

} // namespace clade
