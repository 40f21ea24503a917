#pragma once

#include "engine/run/records/record_fields.hpp"
#include "engine/telemetry/picture/wire.hpp"

// The fields of what wire.hpp and the top of picture_codec.cpp describe, in their order.

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
  v("born_ms", l.born_ms);
  v("evaluated_ms", l.evaluated_ms);
  v("outcome", l.outcome);
  v("fitness", l.fitness);
  v("rank", l.rank);
  v("parameters", l.parameters);
  v("seconds", l.seconds);
  v("slot", l.slot);
  v("reason", l.reason);
  v("genes", l.genes);
}

} // namespace clade
