#include "engine/telemetry/picture/wire.hpp"

#include "engine/telemetry/picture/wire_fields.hpp"

#include <fmt/format.h>

namespace clade {

void fields(auto& v, like<alive> auto& a) {
  v("sequence", a.sequence);
}

void fields(auto& v, like<candidate_row> auto& r) {
  v("line", r.line);
  v("index", r.index);
  v("parents", r.parents);
  v("equal_to", r.equal_to);
  v("nodes", r.nodes);
  v("operators", r.operators);
  v("hyperparameters", r.hyperparameters);
  v("metrics", r.metrics);
  v("born_sequence", r.born_sequence);
  v("evaluated_sequence", r.evaluated_sequence);
}

void fields(auto& v, like<genome_view> auto& g) {
  v("born", g.born);
  v("evaluated", g.evaluated);
  v("lineage", g.lineage);
  v("metric", g.goal.metric);
  v("maximize", g.goal.maximize);
  v("has_weights", g.has_weights);
}

namespace {

std::vector<bytes> parts(const record_event& h) {
  encoder place;
  place.array(2).natural(h.sequence).integer(h.unix_ms);
  return {"record", place.take(), encode(h.record)};
}

std::vector<bytes> parts(const epoch_event& e) {
  return {"epoch", encoded(e)};
}

std::vector<bytes> parts(const slots_view& v) {
  return {"slots", encoded(v)};
}

std::vector<bytes> parts(const alive& a) {
  return {"alive", encoded(a)};
}

expected<published> decode_happened(std::span<const bytes> parts) {
  decoder d(parts[1]);
  record_event h;
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
  if (topic == "epoch")
    return read_as<epoch_event>(d);
  if (topic == "slots")
    return read_as<slots_view>(d);
  if (topic != "alive")
    d.fail("unknown topic");
  return read_as<alive>(d);
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

template<class T>
bytes answer(const char* kind, const T& v) {
  encoder out;
  out.array(2).text(kind);
  write_field(out, v);
  return out.take();
}

template<class T>
expected<T> read_answer(const char* kind, std::span<const char> data) {
  decoder d(data);
  open_answer(d, kind, 2);
  auto v = read_as<T>(d);
  return closed(d, std::move(v));
}

} // namespace

std::vector<bytes> encode(const published& p) {
  return std::visit([](const auto& one) { return parts(one); }, p);
}

expected<published> decode_published(std::span<const bytes> parts) {
  if (parts.size() == 3 && parts[0] == "record")
    return decode_happened(parts);
  if (parts.size() != 2)
    return fail(error_kind::corrupt,
                fmt::format("a message of {} parts, which none has", parts.size()));
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

expected<operator_command> decode_told(std::span<const char> data) {
  decoder d(data);
  d.array(3);
  if (d.text() != "tell")
    d.fail("nothing is told: [\"tell\", instruction, who] is meant");
  operator_command told{.order = decode_instruction(d), .who = {}};
  told.who = d.text();
  if (told.who.empty() || told.who.size() > longest_name)
    d.fail(fmt::format("who tells it has a name of 1 to {} bytes", longest_name));
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
  return answer("candidate", g);
}

bytes encode_answer(const std::vector<candidate_row>& rows) {
  return answer("candidates", rows);
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
  return read_answer<genome_view>("candidate", data);
}

expected<std::vector<candidate_row>> decode_rows_answer(std::span<const char> data) {
  return read_answer<std::vector<candidate_row>>("candidates", data);
}

} // namespace clade
