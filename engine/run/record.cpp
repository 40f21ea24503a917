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
//                  work, equal_to, epochs, start, [scores, [scores...]] | nil, [change...]]
//   change      = [kind, gene, name, before, after]
//   scores      = [synflow, jacob_cov, grad_norm], each a finite number | nil
//   evaluation  = [id, outcome, metrics, parameters, weights_hash, equal_to,
//                  reason, [epoch...], seconds, slot, tries]
//   epoch       = [number, metrics, seconds]
//   examination = [subject, id, metrics, parameters, (details: where there are any)]
//   details     = [[train, validation, test], metrics, standard_error, [class...],
//                  [count...], [[actual, predicted]...], errors]
//   errors      = [examples, [value...]]
//   metrics     = [[name, value]...]
//   hash        = [high, low]
//
// `origin` is the text of the changes. A candidate of an earlier version ends with
// `equal_to`, `start` or the scores, if it has them; its changes are read from `origin`.
//
// The kinds are numbered for ever. `decisive_bytes` has the same grammar with fewer
// fields: of run_started the seed and the hash; of run_forked the generation and these
// two; of a candidate all but work, equal_to and the changes, and epochs, start and scores
// only where it has them; of an evaluation the first six; of an examination the first
// four.
#include "engine/run/record.hpp"

#include "engine/run/record_kind.hpp"
#include "engine/run/test_details.hpp"
#include "genome/hash.hpp"

namespace clade {

namespace {

template<class... Fs>
struct overloaded : Fs... {
  using Fs::operator()...;
};
template<class... Fs>
overloaded(Fs...) -> overloaded<Fs...>;

void encode(encoder& out, const genome_hash& h) {
  out.array(2).natural(h.high).natural(h.low);
}

void encode_decisive(encoder& out, const candidate& c) {
  out.natural(c.id).natural(c.generation).natural(c.index).natural(c.attempt);
  out.encode(*c.genome);
  encode(out, c.network);
  encode(out, c.parents);
  out.text(to_text(c.changes));
}

bool starts_as_usual(const candidate& c) {
  return c.epochs == 0 && c.start == 0;
}

void encode(encoder& out, const zero_cost_scores& s) {
  out.array(3);
  for (const auto& one : {s.synflow, s.jacob_cov, s.grad_norm})
    one ? out.real(*one) : out.nil();
}

/// How many of the fields that came later are decisive.
std::size_t later_fields(const candidate& c) {
  return !c.looked_at.empty() ? 3 : starts_as_usual(c) ? 0 : 2;
}

void encode_all_scores(encoder& out, const candidate& c) {
  out.array(2);
  encode(out, c.zero_cost);
  out.array(c.looked_at.size());
  for (const auto& one : c.looked_at)
    encode(out, one);
}

void encode(encoder& out, const change& c) {
  out.array(5).natural(static_cast<std::uint64_t>(c.kind));
  out.text(c.gene).text(c.name).text(c.before).text(c.after);
}

void encode_decisive(encoder& out, const evaluation& e) {
  out.natural(e.id).natural(static_cast<std::uint64_t>(e.outcome));
  encode(out, e.metrics);
  out.natural(e.parameters).natural(e.weights_hash).natural(e.equal_to);
}

void encode_body(encoder& out, const generation_closed& r) {
  out.array(3).natural(record_kind::closed).natural(r.generation);
  encode(out, r.survivors);
}

void encode_body(encoder& out, const run_forked& r) {
  out.array(9).natural(record_kind::forked).text(r.origin).natural(r.identity);
  out.natural(r.sequence).natural(r.generation).array(r.changes.size());
  for (const auto& change : r.changes)
    out.text(change);
  out.text(r.experiment).natural(r.seed);
  encode(out, r.search);
}

void encode_decisive(encoder& out, const examination& e) {
  out.text(e.subject).natural(e.id);
  encode(out, e.metrics);
  out.natural(e.parameters);
}

void encode_head(encoder& out, const run_finished& r) {
  out.array(3)
      .natural(record_kind::finished)
      .natural(r.champion)
      .array(r.examinations.size());
}

void encode_body(encoder& out, const run_finished& r) {
  encode_head(out, r);
  for (const auto& e : r.examinations)
    clade::encode(out, e);
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
  out.array(14);
  encode_decisive(out, c);
  out.real(c.work).natural(c.equal_to).natural(c.epochs).natural(c.start);
  if (c.looked_at.empty())
    out.nil();
  else
    encode_all_scores(out, c);
  out.array(c.changes.size());
  for (const auto& one : c.changes)
    encode(out, one);
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
  out.array(e.details ? 5 : 4);
  encode_decisive(out, e);
  if (e.details)
    encode(out, *e.details);
}

void encode(encoder& out, const instruction& i) {
  out.array(4).natural(static_cast<std::uint64_t>(i.kind)).natural(i.number).text(i.text);
  if (i.genome)
    out.encode(*i.genome);
  else
    out.nil();
}

bytes encode(const record& r) {
  encoder out;
  std::visit(
      overloaded{
          [&](const run_started& s) {
            out.array(5).natural(record_kind::started).text(s.version).text(s.experiment);
            out.natural(s.seed);
            encode(out, s.search);
          },
          [&](const candidate_born& b) {
            out.array(2).natural(record_kind::born);
            encode(out, b.born);
          },
          [&](const candidate_evaluated& e) {
            out.array(2).natural(record_kind::evaluated);
            encode(out, e.evaluated);
          },
          [&](const generation_closed& c) { encode_body(out, c); },
          [&](const run_finished& f) { encode_body(out, f); },
          [&](const run_paused& p) {
            out.array(2).natural(record_kind::paused).text(p.reason);
          },
          [&](const run_resumed& p) {
            out.array(2).natural(record_kind::resumed).text(p.version);
          },
          [&](const attempt_failed& a) {
            out.array(5).natural(record_kind::failed_attempt).natural(a.id);
            out.natural(a.attempt).text(a.slot).text(a.reason);
          },
          [&](const slot_changed& s) {
            out.array(4).natural(record_kind::changed_slot).text(s.slot);
            out.boolean(s.joined).text(s.reason);
          },
          [&](const run_forked& f) { encode_body(out, f); },
          [&](const person_ordered& p) {
            out.array(3).natural(record_kind::ordered_by_person);
            encode(out, p.order);
            out.text(p.who);
          },
      },
      r);
  return out.take();
}

bytes decisive_bytes(const record& r) {
  encoder out;
  std::visit(overloaded{
                 [&](const run_started& s) {
                   out.array(3).natural(record_kind::started).natural(s.seed);
                   encode(out, s.search);
                 },
                 [&](const candidate_born& b) {
                   out.array(9 + later_fields(b.born)).natural(record_kind::born);
                   encode_decisive(out, b.born);
                   if (later_fields(b.born) > 0)
                     out.natural(b.born.epochs).natural(b.born.start);
                   if (!b.born.looked_at.empty())
                     encode_all_scores(out, b.born);
                 },
                 [&](const candidate_evaluated& e) {
                   out.array(7).natural(record_kind::evaluated);
                   encode_decisive(out, e.evaluated);
                 },
                 [&](const generation_closed& c) { encode_body(out, c); },
                 [&](const run_finished& f) {
                   encode_head(out, f);
                   for (const auto& e : f.examinations) {
                     out.array(4);
                     encode_decisive(out, e);
                   }
                 },
                 [&](const run_forked& f) {
                   out.array(4).natural(record_kind::forked).natural(f.generation);
                   out.natural(f.seed);
                   encode(out, f.search);
                 },
                 [&](const person_ordered& p) {
                   if (p.order.kind != instruction_kind::extend
                       && p.order.kind != instruction_kind::add)
                     return;
                   out.array(2).natural(record_kind::ordered_by_person);
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
