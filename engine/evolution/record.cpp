// The codec of records. In msgpack, each an array of fixed size:
//
//   record      = [1, version, experiment, seed, hash]           run_started
//               | [2, candidate]                                 candidate_born
//               | [3, evaluation]                                candidate_evaluated
//               | [4, generation, [id...]]                       generation_closed
//               | [5, champion, [examination...]]                run_finished
//               | [6, reason]                                    run_paused
//               | [7, version]                                   run_resumed
//               | [8, id, attempt, slot, reason]                 attempt_failed
//               | [9, slot, joined, reason]                      slot_changed
//               | [10, origin, identity, sequence, generation, [change...],
//                  experiment, seed, hash]                       run_forked
//               | [11, instruction, who]                         person_ordered
//   instruction = [kind, number, text, genome | nil]
//   candidate   = [id, generation, index, attempt, genome, hash, [parent...], origin,
//   work,
//                  equal_to]
//   evaluation  = [id, outcome, metrics, parameters, weights_hash, equal_to,
//                  reason, [epoch...], seconds, slot, tries]
//   epoch       = [number, metrics, seconds]
//   examination = [subject, id, metrics, parameters]
//   metrics     = [[name, value]...]
//   hash        = [high, low]
//
// The kinds are numbered for ever. `decisive_bytes` has the same grammar with fewer
// fields: of run_started the seed and the hash; of run_forked the generation and
// these two; of a candidate all but work and equal_to;
// of an evaluation the first six.
#include "engine/evolution/record.hpp"

#include "genome/hash.hpp"

#include <limits>

namespace clade {

namespace {

template<class... Fs>
struct overloaded : Fs... {
  using Fs::operator()...;
};
template<class... Fs>
overloaded(Fs...) -> overloaded<Fs...>;

enum kind : std::uint64_t {
  started = 1,
  born,
  evaluated,
  closed,
  finished,
  paused,
  resumed,
  failed_attempt,
  changed_slot,
  forked,
  ordered_by_person,
};

void encode(encoder& out, const genome_hash& h) {
  out.array(2).natural(h.high).natural(h.low);
}

void encode_decisive(encoder& out, const candidate& c) {
  out.natural(c.id).natural(c.generation).natural(c.index).natural(c.attempt);
  out.encode(*c.genome);
  encode(out, c.network);
  encode(out, c.parents);
  out.text(c.origin);
}

void encode_decisive(encoder& out, const evaluation& e) {
  out.natural(e.id).natural(static_cast<std::uint64_t>(e.outcome));
  encode(out, e.metrics);
  out.natural(e.parameters).natural(e.weights_hash).natural(e.equal_to);
}

void encode_body(encoder& out, const generation_closed& r) {
  out.array(3).natural(kind::closed).natural(r.generation);
  encode(out, r.survivors);
}

void encode_body(encoder& out, const run_forked& r) {
  out.array(9).natural(kind::forked).text(r.origin).natural(r.identity);
  out.natural(r.sequence).natural(r.generation).array(r.changes.size());
  for (const auto& change : r.changes)
    out.text(change);
  out.text(r.experiment).natural(r.seed);
  encode(out, r.search);
}

void encode_body(encoder& out, const run_finished& r) {
  out.array(3).natural(kind::finished).natural(r.champion).array(r.examinations.size());
  for (const auto& e : r.examinations)
    clade::encode(out, e);
}

genome_hash decode_hash(decoder& d) {
  d.array(2);
  genome_hash h;
  h.high = d.natural();
  h.low = d.natural();
  return h;
}

/// Size of the array of each kind.
std::size_t fields(std::uint64_t kind) {
  switch (kind) {
  case kind::started:
    return 5;
  case kind::born:
  case kind::evaluated:
  case kind::paused:
  case kind::resumed:
    return 2;
  case kind::closed:
  case kind::finished:
  case kind::ordered_by_person:
    return 3;
  case kind::failed_attempt:
    return 5;
  case kind::changed_slot:
    return 4;
  case kind::forked:
    return 9;
  default:
    return 0;
  }
}

run_started decode_started(decoder& d) {
  run_started r;
  r.version = d.text();
  r.experiment = d.text();
  r.seed = d.natural();
  r.search = decode_hash(d);
  return r;
}

generation_closed decode_closed(decoder& d) {
  generation_closed r;
  r.generation = d.natural();
  r.survivors = decode_ids(d);
  return r;
}

run_finished decode_finished(decoder& d) {
  run_finished r;
  r.champion = d.natural();
  r.examinations = decode_list(d, decode_examination);
  return r;
}

attempt_failed decode_failed_attempt(decoder& d) {
  attempt_failed r;
  r.id = d.natural();
  r.attempt = decode_small(d, "attempt");
  r.slot = d.text();
  r.reason = d.text();
  return r;
}

slot_changed decode_changed_slot(decoder& d) {
  slot_changed r;
  r.slot = d.text();
  r.joined = d.boolean();
  r.reason = d.text();
  return r;
}

run_forked decode_forked(decoder& d) {
  run_forked r;
  r.origin = d.text();
  r.identity = d.natural();
  r.sequence = d.natural();
  r.generation = d.natural();
  r.changes = decode_list(d, [](decoder& e) { return e.text(); });
  r.experiment = d.text();
  r.seed = d.natural();
  r.search = decode_hash(d);
  return r;
}

record decode_body(decoder& d, std::uint64_t kind) {
  switch (kind) {
  case kind::started:
    return decode_started(d);
  case kind::born:
    return candidate_born{decode_candidate(d)};
  case kind::evaluated:
    return candidate_evaluated{decode_evaluation(d)};
  case kind::closed:
    return decode_closed(d);
  case kind::finished:
    return decode_finished(d);
  case kind::paused:
    return run_paused{d.text()};
  case kind::resumed:
    return run_resumed{d.text()};
  case kind::failed_attempt:
    return decode_failed_attempt(d);
  case kind::forked:
    return decode_forked(d);
  case kind::changed_slot:
    return decode_changed_slot(d);
  default: {
    person_ordered r;
    r.order = decode_instruction(d);
    r.who = d.text();
    return r;
  }
  }
}

} // namespace

void encode(encoder& out, const std::vector<metric>& metrics) {
  out.array(metrics.size());
  for (const auto& m : metrics)
    out.array(2).text(m.name).real(m.value);
}

void encode(encoder& out, const std::vector<candidate_id>& ids) {
  out.array(ids.size());
  for (const auto id : ids)
    out.natural(id);
}

void encode(encoder& out, const candidate& c) {
  out.array(10);
  encode_decisive(out, c);
  out.real(c.work).natural(c.equal_to);
}

void encode(encoder& out, const evaluation& e) {
  out.array(11);
  encode_decisive(out, e);
  out.text(e.reason).array(e.curve.size());
  for (const auto& one : e.curve)
    encode(out, one);
  out.real(e.seconds).text(e.slot).natural(e.tries);
}

void encode(encoder& out, const epoch& e) {
  out.array(3).natural(e.number);
  encode(out, e.metrics);
  out.real(e.seconds);
}

void encode(encoder& out, const examination& e) {
  out.array(4).text(e.subject).natural(e.id);
  encode(out, e.metrics);
  out.natural(e.parameters);
}

std::uint32_t decode_small(decoder& d, const char* what) {
  const auto n = d.natural();
  if (n > std::numeric_limits<std::uint32_t>::max())
    d.fail(std::string(what) + " " + std::to_string(n) + " is out of range");
  return static_cast<std::uint32_t>(n);
}

std::vector<candidate_id> decode_ids(decoder& d) {
  return decode_list(d, [](decoder& e) { return e.natural(); });
}

std::vector<metric> decode_metrics(decoder& d) {
  return decode_list(d, [](decoder& e) {
    e.array(2);
    metric m;
    m.name = e.text();
    m.value = e.real();
    return m;
  });
}

outcome decode_outcome(decoder& d) {
  const auto n = d.natural();
  if (n > static_cast<std::uint64_t>(outcome::dropped))
    d.fail("unknown outcome " + std::to_string(n));
  return static_cast<outcome>(n);
}

candidate decode_candidate(decoder& d) {
  d.array(10);
  candidate c;
  c.id = d.natural();
  c.generation = d.natural();
  c.index = d.natural();
  c.attempt = d.natural();
  c.genome = std::make_shared<const genome>(d.genome());
  c.network = decode_hash(d);
  c.parents = decode_ids(d);
  c.origin = d.text();
  c.work = d.real();
  c.equal_to = d.natural();
  return c;
}

evaluation decode_evaluation(decoder& d) {
  d.array(11);
  evaluation e;
  e.id = d.natural();
  e.outcome = decode_outcome(d);
  e.metrics = decode_metrics(d);
  e.parameters = d.natural();
  e.weights_hash = d.natural();
  e.equal_to = d.natural();
  e.reason = d.text();
  e.curve = decode_list(d, decode_epoch);
  e.seconds = d.real();
  e.slot = d.text();
  e.tries = decode_small(d, "tries");
  return e;
}

epoch decode_epoch(decoder& d) {
  d.array(3);
  epoch e;
  e.number = decode_small(d, "epoch");
  e.metrics = decode_metrics(d);
  e.seconds = d.real();
  return e;
}

examination decode_examination(decoder& d) {
  d.array(4);
  examination e;
  e.subject = d.text();
  e.id = d.natural();
  e.metrics = decode_metrics(d);
  e.parameters = d.natural();
  return e;
}

void encode(encoder& out, const instruction& i) {
  out.array(4).natural(static_cast<std::uint64_t>(i.kind)).natural(i.number).text(i.text);
  if (i.genome)
    out.encode(*i.genome);
  else
    out.nil();
}

instruction decode_instruction(decoder& d) {
  d.array(4);
  const auto kind = d.natural();
  if (kind >= instruction_kinds)
    d.fail("unknown instruction " + std::to_string(kind));
  instruction i{.kind = static_cast<instruction_kind>(kind)};
  i.number = d.natural();
  i.text = d.text();
  if (!d.is_nil())
    i.genome = std::make_shared<const genome>(d.genome());
  if (!d.failed() && (i.genome != nullptr) != (i.kind == instruction_kind::add))
    d.fail(i.genome ? "an instruction with a genome that it has no use for"
                    : "a genome is to be added, and there is none");
  return i;
}

bytes encode(const record& r) {
  encoder out;
  std::visit(
      overloaded{
          [&](const run_started& s) {
            out.array(5).natural(kind::started).text(s.version).text(s.experiment);
            out.natural(s.seed);
            encode(out, s.search);
          },
          [&](const candidate_born& b) {
            out.array(2).natural(kind::born);
            encode(out, b.born);
          },
          [&](const candidate_evaluated& e) {
            out.array(2).natural(kind::evaluated);
            encode(out, e.evaluated);
          },
          [&](const generation_closed& c) { encode_body(out, c); },
          [&](const run_finished& f) { encode_body(out, f); },
          [&](const run_paused& p) { out.array(2).natural(kind::paused).text(p.reason); },
          [&](const run_resumed& p) {
            out.array(2).natural(kind::resumed).text(p.version);
          },
          [&](const attempt_failed& a) {
            out.array(5).natural(kind::failed_attempt).natural(a.id);
            out.natural(a.attempt).text(a.slot).text(a.reason);
          },
          [&](const slot_changed& s) {
            out.array(4).natural(kind::changed_slot).text(s.slot);
            out.boolean(s.joined).text(s.reason);
          },
          [&](const run_forked& f) { encode_body(out, f); },
          [&](const person_ordered& p) {
            out.array(3).natural(kind::ordered_by_person);
            encode(out, p.order);
            out.text(p.who);
          },
      },
      r);
  return out.take();
}

expected<record> decode_record(std::span<const char> data) {
  decoder d(data);
  const auto size = d.array();
  const auto kind = d.natural();
  if (!d.failed() && fields(kind) == 0)
    d.fail("unknown record kind " + std::to_string(kind));
  else if (!d.failed() && fields(kind) != size)
    d.fail("a record of kind " + std::to_string(kind) + " with " + std::to_string(size)
           + " fields instead of " + std::to_string(fields(kind)));
  if (d.failed())
    return tl::unexpected(d.finish().error());
  auto decoded = decode_body(d, kind);
  if (auto ok = d.finish(); !ok)
    return tl::unexpected(ok.error());
  return decoded;
}

bytes decisive_bytes(const record& r) {
  encoder out;
  std::visit(overloaded{
                 [&](const run_started& s) {
                   out.array(3).natural(kind::started).natural(s.seed);
                   encode(out, s.search);
                 },
                 [&](const candidate_born& b) {
                   out.array(9).natural(kind::born);
                   encode_decisive(out, b.born);
                 },
                 [&](const candidate_evaluated& e) {
                   out.array(7).natural(kind::evaluated);
                   encode_decisive(out, e.evaluated);
                 },
                 [&](const generation_closed& c) { encode_body(out, c); },
                 [&](const run_finished& f) { encode_body(out, f); },
                 [&](const run_forked& f) {
                   out.array(4).natural(kind::forked).natural(f.generation);
                   out.natural(f.seed);
                   encode(out, f.search);
                 },
                 [&](const person_ordered& p) {
                   if (p.order.kind != instruction_kind::extend
                       && p.order.kind != instruction_kind::add)
                     return;
                   out.array(2).natural(kind::ordered_by_person);
                   encode(out, p.order);
                 },
                 [](const auto&) {},
             },
             r);
  return out.take();
}

void digest::add(const record& r) {
  const auto decisive = decisive_bytes(r);
  if (decisive.empty())
    return;
  const auto hash = hash128(decisive);
  low += hash.low;
  high += hash.high + (low < hash.low ? 1 : 0);
  ++records;
}

} // namespace clade
