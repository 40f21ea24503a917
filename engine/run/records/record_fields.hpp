#pragma once

#include "engine/run/records/record.hpp"
#include "engine/run/records/test_details.hpp"
#include "genome/codec/fields.hpp"

// The fields of records in the order in which they are stored; the grammar is at the top of
// record.cpp. The fields of a candidate depend on the version that wrote it: functions of
// their own write and read them.

namespace clade {

inline void write_field(encoder& out, const candidate& c, bool = false) {
  encode(out, c);
}
inline void read_field(decoder& in, const char*, candidate& c) {
  c = decode_candidate(in);
}

// These check more of a value than that it fits its field (record_reading.cpp).
[[nodiscard]] bool is_known(outcome o);
[[nodiscard]] bool is_known(instruction_kind k);
[[nodiscard]] bool is_known(change_kind k);
void check_read(decoder& in, const zero_cost_scores& s);
void check_read(decoder& in, const branch_importance& b);
void check_read(decoder& in, const instruction& i);
void check_read(decoder& in, const quantiles_ahead& q);
void check_read(decoder& in, const quantiles_of_target& q);
void check_read(decoder& in, const error_quantiles& q);
void check_read(decoder& in, const forecast_point& p);
void check_read(decoder& in, const forecast_curve& c);
void check_read(decoder& in, const metric_interval& i);
void check_read(decoder& in, const misclassified& m);
void check_read(decoder& in, const missed_value& m);
void check_read(decoder& in, const reliability_bin& b);
void check_read(decoder& in, const reliability& r);
void check_read(decoder& in, const column_importance& c);
void check_read(decoder& in, const test_details& t);
void check_read(decoder& in, const data_fold& f);
void check_read(decoder& in, const model_composed& r);

void fields(auto& v, like<genome_hash> auto& h) {
  v("high", h.high);
  v("low", h.low);
}

void fields(auto& v, like<metric> auto& m) {
  v("name", m.name);
  v("value", m.value);
}

void fields(auto& v, like<epoch> auto& e) {
  v("number", e.number);
  v("metrics", e.metrics);
  v("seconds", e.seconds);
}

void fields(auto& v, like<change> auto& c) {
  v("kind of change", c.kind, as_key("kind"));
  v("gene", c.gene, if_known(c.gene));
  v("name", c.name, if_known(c.name));
  v("before", c.before, if_known(c.before));
  v("after", c.after, if_known(c.after));
}

void fields(auto& v, like<zero_cost_scores> auto& s) {
  v("synflow", s.synflow);
  v("jacob_cov", s.jacob_cov);
  v("grad_norm", s.grad_norm);
}

void fields(auto& v, like<branch_importance> auto& b) {
  v("gene", b.gene);
  v("parameter", b.parameter);
  v("importance", b.importance);
}

void fields(auto& v, like<evaluation> auto& e) {
  v("id", e.id, not_in_json());
  v("outcome", e.outcome);
  v("metrics", e.metrics);
  v("parameters", e.parameters);
  v("weights_hash", e.weights_hash, as_text());
  v("equal_to", e.equal_to, if_known(e.equal_to));
  v.aside("reason", e.reason, if_known(e.reason));
  v.aside("curve", e.curve);
  v.aside("seconds", e.seconds);
  v.aside("slot", e.slot, if_known(e.slot));
  v.aside("tries", e.tries);
  v.last("updates", e.updates, not_in_json());
  v.last("branches", e.branches);
}

void fields(auto& v, like<value_pair> auto& p) {
  v("actual", p.actual);
  v("predicted", p.predicted);
}

void fields(auto& v, like<quantiles_ahead> auto& q) {
  v("last", q.last);
  v("examples", q.examples);
  v("values", q.values);
}

void fields(auto& v, like<quantiles_of_target> auto& q) {
  v("examples", q.examples);
  v("values", q.values);
}

void fields(auto& v, like<error_quantiles> auto& q) {
  v("examples", q.examples);
  v("values", q.values);
  v.last("ahead", q.ahead);
  v.last("targets", q.targets);
}

void fields(auto& v, like<metric_interval> auto& i) {
  v("metric", i.metric);
  v("low", i.low);
  v("high", i.high);
  v("resamples", i.resamples);
}

void fields(auto& v, like<misclassified> auto& m) {
  v("place", m.place, not_in_json());
  v("actual", m.actual);
  v("predicted", m.predicted);
  v("actual_probability", m.actual_probability);
  v("predicted_probability", m.predicted_probability);
  v.last("file", m.file, not_in_json());
  v.last("occlusion", m.occlusion);
}

void fields(auto& v, like<missed_value> auto& m) {
  v("place", m.place, not_in_json());
  v("actual", m.actual);
  v("predicted", m.predicted);
}

void fields(auto& v, like<test_evidence> auto& e) {
  v("interval", e.interval);
  v("by_line", e.by_line);
  v("classes", e.classes);
  v("values", e.values);
}

void fields(auto& v, like<reliability_bin> auto& b) {
  v("examples", b.examples);
  v("said", b.said);
  v("right", b.right);
}

void fields(auto& v, like<reliability> auto& r) {
  v("bins", r.bins);
  v("error", r.error);
}

void fields(auto& v, like<column_importance> auto& c) {
  v("column", c.column);
  v("worse", c.worse);
  v("low", c.low);
  v("high", c.high);
}

void fields(auto& v, like<column_importances> auto& c) {
  v("metric", c.metric);
  v("examples", c.examples);
  v("times", c.times);
  v("columns", c.columns);
}

void fields(auto& v, like<forecast_point> auto& p) {
  v("ahead", p.ahead);
  v("actual", p.actual);
  v("predicted", p.predicted);
}

void fields(auto& v, like<forecast_curve> auto& c) {
  v("series", c.series);
  v("from", c.from);
  v("origin", c.origin);
  v("to", c.to);
  v("past", c.past);
  v("steps", c.steps);
  v("scale", c.scale);
}

void fields(auto& v, like<test_details> auto& t) {
  v.group(t.train, t.validation, t.test);
  v("metrics", t.metrics);
  v("standard_error", t.standard_error);
  v("classes", t.classes);
  v("confusion", t.confusion);
  v("pairs", t.pairs);
  v("validation_errors", t.validation_errors);
  v.last("evidence", t.evidence);
  v.last("reliability", t.reliability);
  v.last("columns", t.columns);
  v.last("forecasts", t.forecasts);
}

void fields(auto& v, like<examination> auto& e) {
  v("subject", e.subject);
  v("id", e.id, if_known(e.id));
  v("metrics", e.metrics);
  v("parameters", e.parameters);
  v.last("details", e.details);
}

void fields(auto& v, like<instruction> auto& i) {
  v("instruction", i.kind);
  v("number", i.number);
  v("text", i.text);
  v("genome", i.genome);
}

void fields(auto& v, like<run_started> auto& r) {
  v.aside("version", r.version);
  v.aside("experiment", r.experiment);
  v("seed", r.seed);
  v("search", r.search);
}

void fields(auto& v, like<candidate_born> auto& r) {
  v("born", r.born);
}

void fields(auto& v, like<candidate_evaluated> auto& r) {
  v("evaluated", r.evaluated);
}

void fields(auto& v, like<generation_closed> auto& r) {
  v("generation", r.generation);
  v("survivors", r.survivors);
}

void fields(auto& v, like<run_finished> auto& r) {
  v("champion", r.champion, if_known(r.champion));
  v("examinations", r.examinations);
}

void fields(auto& v, like<run_paused> auto& r) {
  v.aside("reason", r.reason);
}

void fields(auto& v, like<run_resumed> auto& r) {
  v.aside("version", r.version);
}

void fields(auto& v, like<attempt_failed> auto& r) {
  v.aside("id", r.id);
  v.aside("attempt", r.attempt);
  v.aside("slot", r.slot);
  v.aside("reason", r.reason);
}

void fields(auto& v, like<slot_changed> auto& r) {
  v.aside("slot", r.slot);
  v.aside("joined", r.joined);
  v.aside("reason", r.reason, if_known(r.reason));
  v.last("rounding", r.rounding, as_text());
}

void fields(auto& v, like<straggler_seen> auto& r) {
  v.aside("id", r.id);
  v.aside("slot", r.slot);
  v.aside("waited_ms", r.waited_ms);
  v.aside("of_ms", r.of_ms);
  v.aside("left_out", r.left_out);
  v.aside("of_gradients", r.of_gradients);
}

void fields(auto& v, like<run_forked> auto& r) {
  v.aside("origin", r.origin);
  v.aside("identity", r.identity);
  v.aside("sequence", r.sequence);
  v("generation", r.generation);
  v.aside("changes", r.changes);
  v.aside("experiment", r.experiment);
  v("seed", r.seed);
  v("search", r.search);
}

void fields(auto& v, like<operator_command> auto& r) {
  v("order", r.order);
  v.aside("who", r.who);
}

void fields(auto& v, like<data_fold> auto& f) {
  v("fold", f.index);
  v("folds", f.of);
}

void fields(auto& v, like<final_training> auto& t) {
  v("source", t.source);
  v("epochs", t.epochs);
  v("fold", t.fold, spread());
  v.last("threads", t.threads, not_in_json());
}

void fields(auto& v, like<final_planned> auto& r) {
  v.aside("reason", r.reason, if_known(r.reason));
  v.aside("time_ms", r.time_ms, not_in_json());
  v("trainings", r.trainings);
  v.last("folds_apart", r.folds_apart, not_in_json());
}

void fields(auto& v, like<tree_sizes> auto& t) {
  v("trees", t.trees);
  v("depth", t.depth);
}

void fields(auto& v, like<convolution_sizes> auto& c) {
  v("dilations", c.dilations);
  v("groups", c.groups);
  v("thresholds", c.thresholds);
}

void fields(auto& v, like<ensemble_member> auto& m) {
  v("id", m.id);
  v("share", m.share);
  v("temperature", m.temperature);
  v.last("trees", m.trees);
  v.last("mirrored", m.mirrored);
  v.last("convolutions", m.convolutions);
  v.last("smoothing", m.smoothing);
}

void fields(auto& v, like<ranked_model> auto& m) {
  v("subject", m.subject);
  v("id", m.id, if_known(m.id));
  v("metrics", m.metrics);
  v("parameters", m.parameters);
  v("share", m.share);
}

void fields(auto& v, like<model_composed> auto& r) {
  v("members", r.members);
  v("temperature", r.temperature);
  v("metrics", r.metrics);
  v.aside("left_out", r.left_out);
  v.last("least", r.least);
  v.last("models", r.models);
}

void fields(auto& v, like<interim_composed> auto& r) {
  v.aside("model", r.model);
}

} // namespace clade
