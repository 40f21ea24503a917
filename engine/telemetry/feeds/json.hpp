#pragma once

#include "engine/telemetry/picture/feed.hpp"

namespace clade {

/// Returns what `clade attach --json` prints and the page gets: one JSON object on one
/// line, without the line's end. Times are milliseconds since 1970; what is not known is
/// null.
///
///   {"event":"picture","showing":"live","name":..,"sequence":..,"time":..,"state":..,
///    "reason":..,"version":..,"seed":"..","metric":..,"maximize":..,"objective":{..},
///    "population":..,"planned_generations":..,"started":..,
///    "generation":..,"born":..,"evaluated":..,"failed":..,"training_seconds":..,
///    "outcomes":{"succeeded":..},"digest":"..","experiment":"..","generations":[{..}],
///    "best":[LINE],"front":[LINE],"latest":[LINE],"open":[LINE],"attempts":[..],
///    "slots":[{"slot","joined","left","reason"}],"finished":null|{..},
///    "annotations":[{"id","note","who","written","tags"}]}
///   LINE: {"id","generation","origin","born","evaluated","outcome","fitness",
///          "parameters","seconds","slot","reason"}, of the front "objectives" too
///
/// and for each record {"event":KIND,"sequence":..,"time":..} with
///
///   started     name, version, seed, experiment
///   born        id, generation, index, parents, origin, changes: [{kind, gene, name,
///               before, after}], equal_to, nodes, operators, hyperparameters
///   evaluated   id, outcome, fitness, violation, metrics, parameters, seconds, slot,
///               tries, equal_to, reason
///   generation  generation, survivors, and of the picture's line best, best_fitness,
///               median, lower_quartile, upper_quartile, succeeded, failed, born, closed,
///               closed_sequence
///   finished    champion, examinations: [{subject, id, metrics, parameters, details}],
///               details as in engine/report/base/json_parts.hpp
///   paused      reason
///   resumed     version
///   attempt     id, attempt, slot, reason
///   slot        slot, joined, reason
///   forked      origin, generation, changes, seed, experiment
///   ordered     order, number, who
///   annotated   id (0: the run), note, who, written, tags: as they are from then on
///   other       text: a kind of record of which there is nothing more to say
///
/// News that are no records have no sequence: {"event":"epoch","slot","id","epoch",
/// "epochs","metrics"}, {"event":"slots","waiting","slots":[{"slot","label","ready",
/// "away","training","epoch","epochs","seconds"}]}, {"event":"restarted"}, after which a
/// picture follows. One follows too when "showing" becomes another: the last line is one.
[[nodiscard]] std::string to_json(const run_picture& p, const std::string& name,
                                  feed_state showing);
/// `p` as it is after it.
[[nodiscard]] std::string to_json(const news& n, const run_picture& p);
/// {"columns":["id","generation","index","parents","origin","equal_to","nodes",
/// "operators","outcome","fitness","parameters","seconds","slot","reason","born",
/// "evaluated","born_sequence","evaluated_sequence","hyperparameters","metrics"],
/// "rows":[[..]]}
[[nodiscard]] std::string to_json(const std::vector<candidate_row>& rows);

} // namespace clade
