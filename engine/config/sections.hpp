#pragma once

#include "engine/config/experiment.hpp"
#include "engine/config/table_reader.hpp"

#include <functional>

namespace clade {

/// Every metric that an evaluation of this experiment has, and whether it is to be
/// raised.
[[nodiscard]] std::vector<aim> known_aims(const experiment& e);

/// Gives the search space that `[search_space]` describes: a file's, or the table's own.
using space_loader = std::function<search_space(table_reader& table)>;

/// Reads every section of an experiment. Errors are noted in the document.
[[nodiscard]] expected<experiment> read_experiment(document& d,
                                                   const std::filesystem::path& folder,
                                                   const space_loader& load_space);

/// The search space that a resolved experiment holds under `[search_space]`, beside the
/// name of the file that it came from.
[[nodiscard]] search_space read_own_space(table_reader& t, document& d);

/// `[objective]`: the metrics must be those that the experiment's task reports, or what a
/// network costs.
void read_objective(table_reader& table, fitness_kind fitness, task_kind task,
                    objective& out);

/// The same of a table: a metric that its description has. Not checked without one.
void read_objective(table_reader& table, const table_description* described,
                    objective& out);

/// What training does not read, or would refuse, among the search space's
/// hyperparameters.
void check_hyperparameters(document& d, const experiment& e);

} // namespace clade
