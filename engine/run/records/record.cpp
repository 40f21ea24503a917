// The codec of records, from the lists in record_fields.hpp. In msgpack, each an array of
// fixed size:
//
//   record      = [1, version, experiment, seed, hash]           run_started
//               | [2, candidate]                                 candidate_born
//               | [3, evaluation]                                candidate_evaluated
//               | [4, generation, [id...]]                       generation_closed
//               | [5, champion, [examination...]]                run_finished
//               | [6, reason]                                    run_paused
//               | [7, version]                                   run_resumed
//               | [8, id, attempt, slot, reason]                 attempt_failed
//               | [9, slot, joined, reason, (rounding)]          slot_changed
//               | [10, origin, identity, sequence, generation, [change...],
//                  experiment, seed, hash]                       run_forked
//               | [11, instruction, who]                         operator_command
//               | [12, reason, time_ms, [training...], (folds_apart)]  final_planned
//               | [13, [member...], temperature, metrics, [text...], (least, [ranked...])]
//                                                                model_composed
//               | [14, id, slot, waited_ms, of_ms, left_out, of_gradients]
//                                                                straggler_seen
//               | [15, [as 13, without its kind]]                interim_composed
//   member      = [id, share, temperature, (trees, mirrored, convolutions, smoothing)]
//   trees       = [trees, depth] | nil
//   convolutions = [dilations, groups, thresholds] | nil
//   ranked      = [subject, id, metrics, parameters, share]
//   training    = [source, epochs, fold, (threads)]
//   fold        = [index, of]
//   instruction = [kind, number, text, genome | nil]
//   candidate   = [id, generation, index, attempt, genome, hash, [parent...], origin,
//                  work, equal_to, epochs, start, [scores, [scores...]] | nil, [change...],
//                  (fold: of a training at the end), (threads: where it has several)]
//   change      = [kind, gene, name, before, after]
//   scores      = [synflow, jacob_cov, grad_norm], each a finite number | nil
//   evaluation  = [id, outcome, metrics, parameters, weights_hash, equal_to,
//                  reason, [epoch...], seconds, slot, tries, (updates),
//                  ([[gene, parameter, importance]...]: where the strategy asks)]
//   epoch       = [number, metrics, seconds]
//   examination = [subject, id, metrics, parameters, (details: where there are any)]
//   details     = [[train, validation, test], metrics, standard_error, [class...],
//                  [count...], [[actual, predicted]...], errors,
//                  (evidence: of networks, since there is such), (reliability: of
//                  classifications), (columns: of the final model of a table),
//                  ([forecast...]: of forecasts)]
//   evidence    = [[metric, low, high, resamples] | nil, by_line,
//                  [[place, actual, predicted, probability{2}, (file, [number...])]...],
//                  [[place, actual, predicted]...]]
//   reliability = [[[examples, said, right]...], error]
//   columns     = [metric, examples, times, [[column, worse, low, high]...]]
//   errors      = [examples, [value...], ([[last, examples, [value...]]...]: of forecasts),
//                  ([[examples, [value...]]...]: of several targets)]
//   forecast    = [[key...], from, origin, to, [value | nil...],
//                  [[ahead, actual, predicted]...], scale]
//   metrics     = [[name, value]...]
//   hash        = [high, low]
//
// `origin` is the text of the changes. A candidate of an earlier version ends with
// `equal_to`, `start` or the scores, if it has them; its changes are read from `origin`.
//
// The kinds are numbered for ever. `decisive_bytes` has the same grammar with fewer
// fields: of run_started the seed and the hash; of run_forked the generation and these
// two; of a candidate all but work, equal_to and the changes, and epochs, start, scores,
// fold and threads only where it has them; of an evaluation the first six; of an examination the first
// four; of final_planned the trainings, and of model_composed the first three, of members
// the first two.
#include "engine/run/records/record.hpp"

#include "engine/run/records/record_fields.hpp"
#include "engine/run/records/record_kind.hpp"
#include "genome/genes/hash.hpp"

namespace clade {

namespace {

void write_common_fields(encoder& out, const candidate& c) {
  out.natural(c.id).natural(c.generation).natural(c.index).natural(c.attempt);
  out.encode(*c.genome);
  write_field(out, c.network);
  write_field(out, c.parents);
  out.text(to_text(c.changes));
}

void write_scores(encoder& out, const candidate& c) {
  out.array(2);
  write_field(out, c.zero_cost);
  write_field(out, c.looked_at);
}

bool with_threads(const candidate& c) {
  return c.fold.of != 0 && c.threads != 1;
}

template<class Record>
void write_record(encoder& out, std::uint64_t kind, const Record& r, bool decisive) {
  const auto count = count_fields(r, decisive).count;
  if (count == 0) // An observation has nothing that decides.
    return;
  out.array(1 + count).natural(kind);
  field_writer writer{out, decisive};
  fields(writer, r);
}

template<class Record>
void write_decisive(encoder& out, std::uint64_t kind, const Record& r) {
  write_record(out, kind, r, true);
}

void write_decisive(encoder& out, std::uint64_t kind, const candidate_born& r) {
  const auto& c = r.born;
  const bool scored = !c.looked_at.empty();
  const bool with_start = scored || c.epochs != 0 || c.start != 0;
  const bool at_end = c.fold.of != 0;
  out.array(std::size_t{9} + (with_start ? 2 : 0) + (scored ? 1 : 0) + (at_end ? 1 : 0)
            + (with_threads(c) ? 1 : 0))
      .natural(kind);
  write_common_fields(out, c);
  if (with_start)
    out.natural(c.epochs).natural(c.start);
  if (scored)
    write_scores(out, c);
  if (at_end)
    write_field(out, c.fold);
  if (with_threads(c))
    out.natural(c.threads);
}

void write_decisive(encoder& out, std::uint64_t kind, const candidate_evaluated& r) {
  write_record(out, kind, r.evaluated, true);
}

void write_decisive(encoder& out, std::uint64_t kind, const operator_command& r) {
  // Orders with a genome give it to the search.
  if (r.order.kind == instruction_kind::extend || r.order.genome != nullptr)
    write_record(out, kind, r, true);
}

} // namespace

void encode(encoder& out, const std::vector<metric>& metrics) {
  write_field(out, metrics);
}

void encode(encoder& out, const std::vector<candidate_id>& ids) {
  write_field(out, ids);
}

void encode(encoder& out, const candidate& c) {
  const bool at_end = c.fold.of != 0;
  out.array(std::size_t{14} + (at_end ? 1 : 0) + (with_threads(c) ? 1 : 0));
  write_common_fields(out, c);
  out.real(c.work).natural(c.equal_to).natural(c.epochs).natural(c.start);
  if (c.looked_at.empty())
    out.nil();
  else
    write_scores(out, c);
  write_field(out, c.changes);
  if (at_end)
    write_field(out, c.fold);
  if (with_threads(c))
    out.natural(c.threads);
}

void encode(encoder& out, const evaluation& e) {
  write_field(out, e);
}

void encode(encoder& out, const epoch& e) {
  write_field(out, e);
}

void encode(encoder& out, const examination& e) {
  write_field(out, e);
}

void encode(encoder& out, const instruction& i) {
  write_field(out, i);
}

bytes encode(const record& r) {
  encoder out;
  std::visit([&](const auto& one) { write_record(out, kind_of(r), one, false); }, r);
  return out.take();
}

bytes decisive_bytes(const record& r) {
  encoder out;
  std::visit([&](const auto& one) { write_decisive(out, kind_of(r), one); }, r);
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
