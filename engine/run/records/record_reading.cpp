// Reads what record.cpp writes, where the grammar is.
#include "engine/run/records/record_fields.hpp"
#include "engine/run/records/record_kind.hpp"
#include "genome/variation/old_change_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace clade {

bool is_known(outcome o) {
  return o <= outcome::dropped;
}

bool is_known(instruction_kind k) {
  return static_cast<std::uint64_t>(k) < instruction_kinds;
}

bool is_known(change_kind k) {
  return static_cast<std::size_t>(k) < mutation_kind_count
         || (k >= change_kind::sampled && k <= change_kind::seeded);
}

void check_read(decoder& in, const zero_cost_scores& s) {
  for (const auto& score : {s.synflow, s.jacob_cov, s.grad_norm})
    if (score && !std::isfinite(*score))
      in.fail("a zero-cost score is no finite number");
}

void check_read(decoder& in, const branch_importance& b) {
  if (!(b.importance >= 0) || !std::isfinite(b.importance))
    in.fail("the importance of a branch is no finite number of 0 or more");
}

void check_read(decoder& in, const instruction& i) {
  const bool adds =
      i.kind == instruction_kind::add || i.kind == instruction_kind::begin_with;
  if ((i.genome != nullptr) != adds)
    in.fail(i.genome ? "an instruction with a genome that it has no use for"
                     : "a genome is to be added, and there is none");
}

void check_read(decoder& in, const data_fold& f) {
  if (f.of > 1000 || (f.of == 0 ? f.index != 0 : f.index >= f.of))
    in.fail(fmt::format("there is no fold {} of {}", f.index, f.of));
}

void check_read(decoder& in, const model_composed& r) {
  for (const auto& m : r.members)
    if (!(m.share > 0 && m.share <= 1))
      in.fail("a share of an ensemble is not in (0, 1]");
    else if (m.trees && (m.id != 0 || !are_possible(*m.trees)))
      in.fail("trees of an ensemble are of impossible size");
    else if (m.convolutions && (m.id != 0 || m.trees || !are_possible(*m.convolutions)))
      in.fail("random convolutions of an ensemble are of impossible size");
    else if (m.smoothing && (m.id != 0 || m.trees || m.convolutions))
      in.fail("a member of an ensemble is smoothing and another model");
    else if (m.mirrored && m.id == 0)
      in.fail("a member of an ensemble is mirrored that is no candidate");
    else if (!(m.temperature > 0) || !std::isfinite(m.temperature))
      in.fail("the temperature of a member is not above 0");
  if (!(r.temperature > 0) || !std::isfinite(r.temperature))
    in.fail("the temperature of an ensemble is not above 0");
  if (r.least && !(*r.least > 0 && *r.least <= 0.5))
    in.fail("the least probability of an ensemble is not in (0, 0.5]");
  if (r.models)
    for (const auto& m : *r.models)
      if (!(m.share >= 0 && m.share <= 1))
        in.fail("a model's share of an ensemble is not in [0, 1]");
}

std::uint32_t decode_small(decoder& d, const char* what) {
  return read_as<std::uint32_t>(d, what);
}

std::vector<candidate_id> decode_ids(decoder& d) {
  return read_as<std::vector<candidate_id>>(d);
}

std::vector<metric> decode_metrics(decoder& d) {
  return read_as<std::vector<metric>>(d);
}

outcome decode_outcome(decoder& d) {
  return read_as<outcome>(d, "outcome");
}

candidate decode_candidate(decoder& d) {
  const auto fields = d.array();
  if (fields != 10 && (fields < 12 || fields > 16))
    d.fail(fmt::format("a candidate has {} fields", fields));
  candidate c;
  c.id = d.natural();
  c.generation = d.natural();
  c.index = d.natural();
  c.attempt = d.natural();
  c.genome = std::make_shared<const genome>(d.genome());
  read_field(d, "network", c.network);
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
  if (fields == 13 || (fields > 13 && !d.is_nil())) {
    d.array(2);
    read_field(d, "zero_cost", c.zero_cost);
    read_field(d, "looked_at", c.looked_at);
    if (c.looked_at.empty())
      d.fail("a candidate has zero-cost scores, and nothing was looked at");
  }
  if (fields > 13)
    read_field(d, "changes", c.changes);
  if (fields >= 15) {
    read_field(d, "fold", c.fold);
    if (c.fold.of == 0)
      d.fail("a candidate has no fold and says so");
  }
  if (fields == 16) {
    c.threads = decode_small(d, "threads");
    if (c.threads < 2 || c.threads > most_threads)
      d.fail(fmt::format("a training with {} threads", c.threads));
  }
  if (!d.failed() && to_text(c.changes) != origin)
    c.changes = parse_old_change_text(origin);
  return c;
}

evaluation decode_evaluation(decoder& d) {
  return read_as<evaluation>(d);
}

epoch decode_epoch(decoder& d) {
  return read_as<epoch>(d);
}

examination decode_examination(decoder& d) {
  return read_as<examination>(d);
}

instruction decode_instruction(decoder& d) {
  return read_as<instruction>(d);
}

namespace {

/// Reads what is behind the kind of a record of that many fields, the kind among them.
template<class Record>
record read_record(decoder& d, std::uint64_t kind, std::size_t size) {
  Record r;
  const auto counted = count_fields(r);
  const auto wanted = 1 + counted.count;
  if (size < wanted || size > wanted + counted.lasts)
    d.fail(fmt::format("a record of kind {} with {} fields instead of {}", kind, size,
                       wanted));
  else
    read_fields(d, size - 1, r);
  return r;
}

template<std::size_t... Kinds>
constexpr auto readers_of(std::index_sequence<Kinds...>) {
  return std::array{read_record<std::variant_alternative_t<Kinds, record>>...};
}

/// By kind, less one.
constexpr auto readers =
    readers_of(std::make_index_sequence<std::variant_size_v<record>>());

} // namespace

expected<record> decode_record(std::span<const char> data) {
  decoder d(data);
  const auto size = d.array();
  const auto kind = d.natural();
  if (!d.failed() && (kind == 0 || kind > readers.size()))
    d.fail(fmt::format("unknown record kind {}", kind));
  if (d.failed())
    return tl::unexpected(d.finish().error());
  auto decoded = readers[kind - 1](d, kind, size);
  if (auto ok = d.finish(); !ok)
    return tl::unexpected(ok.error());
  return decoded;
}

} // namespace clade
