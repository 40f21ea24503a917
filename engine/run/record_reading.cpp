// Reads what record.cpp writes, where the grammar is.
#include "engine/run/record.hpp"
#include "engine/run/record_kind.hpp"
#include "engine/run/test_details.hpp"
#include "genome/old_change_text.hpp"

#include <cmath>
#include <limits>

namespace clade {

namespace {

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
  case record_kind::started:
    return 5;
  case record_kind::born:
  case record_kind::evaluated:
  case record_kind::paused:
  case record_kind::resumed:
    return 2;
  case record_kind::closed:
  case record_kind::finished:
  case record_kind::ordered_by_person:
    return 3;
  case record_kind::failed_attempt:
    return 5;
  case record_kind::changed_slot:
    return 4;
  case record_kind::forked:
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
  case record_kind::started:
    return decode_started(d);
  case record_kind::born:
    return candidate_born{decode_candidate(d)};
  case record_kind::evaluated:
    return candidate_evaluated{decode_evaluation(d)};
  case record_kind::closed:
    return decode_closed(d);
  case record_kind::finished:
    return decode_finished(d);
  case record_kind::paused:
    return run_paused{d.text()};
  case record_kind::resumed:
    return run_resumed{d.text()};
  case record_kind::failed_attempt:
    return decode_failed_attempt(d);
  case record_kind::forked:
    return decode_forked(d);
  case record_kind::changed_slot:
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

namespace {

std::optional<double> decode_score(decoder& d) {
  if (d.is_nil())
    return std::nullopt;
  const auto score = d.real();
  if (!std::isfinite(score))
    d.fail("a zero-cost score is no finite number");
  return score;
}

change decode_change(decoder& d) {
  d.array(5);
  const auto kind = d.natural();
  const auto other = static_cast<std::uint64_t>(change_kind::sampled);
  if (kind >= mutation_kind_count
      && (kind < other || kind > static_cast<std::uint64_t>(change_kind::given)))
    d.fail("unknown kind of change " + std::to_string(kind));
  change c{.kind = static_cast<change_kind>(kind)};
  c.gene = d.text();
  c.name = d.text();
  c.before = d.text();
  c.after = d.text();
  return c;
}

zero_cost_scores decode_scores(decoder& d) {
  d.array(3);
  zero_cost_scores s;
  s.synflow = decode_score(d);
  s.jacob_cov = decode_score(d);
  s.grad_norm = decode_score(d);
  return s;
}

} // namespace

candidate decode_candidate(decoder& d) {
  const auto fields = d.array();
  if (fields != 10 && fields != 12 && fields != 13 && fields != 14)
    d.fail("a candidate has " + std::to_string(fields) + " fields");
  candidate c;
  c.id = d.natural();
  c.generation = d.natural();
  c.index = d.natural();
  c.attempt = d.natural();
  c.genome = std::make_shared<const genome>(d.genome());
  c.network = decode_hash(d);
  c.parents = decode_ids(d);
  const auto origin = d.text();
  c.work = d.real();
  c.equal_to = d.natural();
  if (fields > 10) {
    c.epochs = decode_small(d, "epochs");
    c.start = d.natural();
    if (fields == 12 && c.epochs == 0 && c.start == 0)
      d.fail("a candidate starts as usual and says so");
  }
  if (fields == 13 || (fields == 14 && !d.is_nil())) {
    d.array(2);
    c.zero_cost = decode_scores(d);
    c.looked_at = decode_list(d, decode_scores);
    if (c.looked_at.empty())
      d.fail("a candidate has zero-cost scores, and nothing was looked at");
  }
  if (fields == 14)
    c.changes = decode_list(d, decode_change);
  if (!d.failed() && to_text(c.changes) != origin)
    c.changes = parse_old_change_text(origin);
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
  const auto fields = d.array();
  if (fields != 4 && fields != 5)
    d.fail("an examination has " + std::to_string(fields) + " fields");
  examination e;
  e.subject = d.text();
  e.id = d.natural();
  e.metrics = decode_metrics(d);
  e.parameters = d.natural();
  if (fields == 5)
    e.details = std::make_shared<const test_details>(decode_test_details(d));
  return e;
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

} // namespace clade
