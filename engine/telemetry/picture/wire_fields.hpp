#pragma once

#include "engine/report/base/overview_fields.hpp"
#include "engine/run/records/record_fields.hpp"
#include "engine/telemetry/picture/wire.hpp"

// The fields of what wire.hpp and the top of picture_codec.cpp describe, in their order, and
// of what feeds/json.hpp describes.

namespace clade {

void fields(auto& v, like<fitness> auto& f) {
  v("ok", f.ok);
  v("primary", f.primary);
  v("secondary", f.secondary);
  v("violation", f.violation);
  v("objectives", f.objectives);
}

void fields(auto& v, like<individual> auto& i) {
  v("id", i.id);
  v("fitness", i.fitness);
}

void fields(auto& v, like<candidate_line> auto& l) {
  v("id", l.id);
  v("generation", l.generation);
  v("origin", l.origin);
  v("born", l.born_ms);
  v("evaluated", l.evaluated_ms, if_known(l.evaluated_ms));
  v("outcome", l.outcome, if_known(l.evaluated_ms));
  v("fitness", l.fitness);
  v("rank", l.rank, not_in_json());
  v("parameters", l.parameters, if_known(l.evaluated_ms));
  v("seconds", l.seconds, if_known(l.evaluated_ms));
  v("slot", l.slot, if_known(l.slot));
  v("reason", l.reason, if_known(l.reason));
  v("genes", l.genes, not_in_json());
}

void fields(auto& v, like<generation_line> auto& g) {
  v("generation", g.summary.generation);
  v("best", g.summary.best, if_known(g.summary.best));
  v("best_fitness", g.summary.best_fitness, if_known(g.summary.best));
  v("median", g.summary.median_fitness, if_known(g.summary.best));
  v("lower_quartile", g.summary.lower_quartile, if_known(g.summary.best));
  v("upper_quartile", g.summary.upper_quartile, if_known(g.summary.best));
  v("succeeded", g.summary.succeeded);
  v("failed", g.summary.failed);
  v("born", g.born_ms);
  v("closed", g.closed_ms);
  v("closed_sequence", g.closed_sequence);
  v("front", g.summary.front.members, if_known(g.summary.front.members));
  v("hypervolume", g.summary.front.hypervolume, if_known(g.summary.front.members));
}

void fields(auto& v, like<slot_stay> auto& s) {
  v("slot", s.slot);
  v("joined", s.joined_ms);
  v("left", s.left_ms);
  v("reason", s.reason, if_known(s.reason));
}

void fields(auto& v, like<team_share> auto& t) {
  v("member", t.member);
  v("members", t.members);
  v("steps_per_second", t.steps);
  v("bytes_per_second", t.bytes);
  v("waits", t.waits);
  v("awaited", t.awaited);
}

void fields(auto& v, like<slot_view> auto& s) {
  v("slot", s.name);
  v("label", s.label);
  v("ready", s.ready);
  v("away", s.away);
  v("training", s.training, if_known(s.training));
  v("epoch", s.epoch);
  v("epochs", s.epochs);
  v("joined", s.joined, not_in_json());
  v("heard", s.heard, not_in_json());
  v("at_work", s.at_work, not_in_json());
  v("quarantined", s.quarantined, not_in_json());
  v("clock_ahead", s.clock_ahead, not_in_json());
  v("team", s.team, if_known(s.team.member));
  v.shown("seconds", static_cast<double>(s.at_work.count()) / 1000);
}

void fields(auto& v, like<slots_view> auto& s) {
  v("waiting", s.waiting);
  v("slots", s.slots);
}

void fields(auto& v, like<epoch_event> auto& e) {
  v("slot", e.slot);
  v("id", e.id);
  v("epoch", e.number);
  v("epochs", e.of);
  v("metrics", e.metrics);
}

} // namespace clade
