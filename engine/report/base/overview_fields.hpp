#pragma once

#include "engine/store/run/overview.hpp"
#include "genome/codec/field_list.hpp"

// The fields of what lists show: for viewers of a live run (engine/telemetry/picture/wire.hpp)
// and for programs.

namespace clade {

void fields(auto& v, like<generation_overview> auto& g) {
  v("generation", g.generation);
  v("born", g.born);
  v("evaluated", g.evaluated);
  v("failed", g.failed);
  v("best", g.best, if_known(g.best));
  v("best_fitness", g.best_fitness, if_known(g.best));
  v("lower_quartile", g.lower_quartile, if_known(g.best));
  v("median", g.median, if_known(g.best));
  v("upper_quartile", g.upper_quartile, if_known(g.best));
  v("training_seconds", g.training_seconds);
  v("born_ms", g.born_ms);
  v("closed_ms", g.closed_ms);
  v("survivors", g.survivors);
}

void fields(auto& v, like<candidate_overview> auto& c) {
  v("id", c.id);
  v("generation", c.generation);
  v("index", c.index);
  v("origin", c.origin);
  v("parents", c.parents);
  v("equal_to", c.equal_to, if_known(c.equal_to));
  v("nodes", c.nodes);
  v("outcome", c.result);
  v("fitness", c.fitness);
  v("parameters", c.parameters, null_unless(c.result.has_value()));
  v("seconds", c.seconds, null_unless(c.result.has_value()));
  v("reason", c.reason, if_known(c.reason));
  v.shown("epochs", c.epochs, if_known(c.epochs));
  v.shown("start", c.start, if_known(c.start));
}

void fields(auto& v, like<node_overview> auto& n) {
  v("slot", n.slot);
  v("joined_ms", n.joined_ms);
  v("left_ms", n.left_ms);
  v("reason", n.reason, if_known(n.reason));
  v("device", n.device, if_known(n.device));
}

} // namespace clade
